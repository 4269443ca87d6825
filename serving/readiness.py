"""Ready means: every pinned step is loaded, and a real text has passed through every pipeline."""

import logging
import subprocess
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import tritonclient.grpc as triton_grpc
from tritonclient.utils import InferenceServerException

from serving.control import Control
from serving.spec import ServerSpec
from trireme.contract import Step
from trireme.errors import ServerError
from trireme.repository import Repository

_PROBE = {"text": "你好", "text_pair": "您好", "schema": "[]"}
_POLL_S = 0.1
_SAY_EVERY_S = 5.0
_log = logging.getLogger(__name__)


def wait_until_ready(spec: ServerSpec, process: subprocess.Popen[bytes], grpc_url: str, timeout_s: float) -> None:
    """Wait until every pipeline answers.

    Raises:
        ServerError: Triton ended, a step refused to load, or the time is over.
    """
    with Control(grpc_url, spec.control_token) as control:
        for _ in _ticks(grpc_url, timeout_s, process):
            if _is_loaded(spec, control, grpc_url):
                break
    for name in spec.names:
        probe(spec, grpc_url, name)


def probe(spec: ServerSpec, grpc_url: str, name: str, timeout_s: float = 60.0) -> None:
    """Send one small text through a pipeline.

    Raises:
        ServerError: it does not answer.
    """
    tensors = [_probe_input(tensor.name) for tensor in Repository(spec.repository).config(name).input]
    with triton_grpc.InferenceServerClient(grpc_url) as client:
        try:
            client.infer(name, tensors, client_timeout=timeout_s)
        except InferenceServerException as error:
            remedy = f"see the release's manifest, or promote another (`trireme releases {name}`)"
            raise ServerError(
                grpc_url, f"pipeline '{name}' fails a real inference ({error.message()})", remedy
            ) from error


def _probe_input(name: str) -> Any:
    tensor = triton_grpc.InferInput(name, [1, 1], "BYTES")
    tensor.set_data_from_numpy(np.array([[_PROBE[name].encode()]], dtype=np.object_))
    return tensor


def _ticks(grpc_url: str, timeout_s: float, process: subprocess.Popen[bytes]) -> Iterator[None]:
    start = said = time.monotonic()
    while (now := time.monotonic()) - start < timeout_s:
        if process.poll() is not None:
            raise ServerError(grpc_url, f"Triton ended with exit code {process.returncode}", "run `trireme doctor`")
        if now - said > _SAY_EVERY_S:
            _log.info("still loading, %.0f s", now - start)
            said = now
        yield
        time.sleep(_POLL_S)
    raise ServerError(grpc_url, f"not ready after {timeout_s:.0f} s", "give it more time, or fewer pipelines")


def _is_loaded(spec: ServerSpec, control: Control, grpc_url: str) -> bool:
    try:
        rows = control.index() if control.is_live() else []
    except InferenceServerException:
        return False  # the listener is not up yet
    wanted = {step.model_name(name) for name in spec.names for step in Step} | set(spec.models)
    for row in rows:
        if row["name"] in wanted and row.get("state") == "UNAVAILABLE" and row.get("reason") not in (None, "unloaded"):
            _refuse(rows, wanted, grpc_url)
    return wanted <= {row["name"] for row in rows if row.get("state") == "READY"}


def _refuse(rows: list[dict[str, Any]], wanted: set[str], grpc_url: str) -> None:
    """Name the step that broke rather than the ensemble, which only misses it."""
    broken = [row for row in rows if row["name"] in wanted and row.get("state") == "UNAVAILABLE" and row.get("reason")]
    row = max(broken, key=lambda found: len(found["name"]))
    lines = [line.strip() for line in row["reason"].replace("\\n", "\n").splitlines() if line.strip()]
    reason = next((line for line in lines if "Error" in line), lines[0])
    problem = f"model '{row['name']}' version {row.get('version', '?')} does not load: {reason}"
    raise ServerError(grpc_url, problem, "export the release again, or pin another")
