"""Repositories that leave something to Triton: no errors, and the real one loads what has its backend here."""

import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import tritonclient.grpc as triton_grpc
from tritonclient.utils import InferenceServerException

from tests.serving.broken_repositories import write
from tests.serving.throwaway import write_pipeline
from trireme.machine.free_ports import free_ports
from trireme.machine.local_servers import control_headers
from trireme.serving import ServerSpec
from trireme.serving.check import check_repository
from trireme.serving.finding import FAIL
from trireme.serving.layout import lay_out_backends
from trireme.serving.ports import Ports
from trireme.serving.process import clear
from trireme.serving.wheel import locate_wheel
from trireme.serving.wheel_launch import WheelLaunch

LOAD_TIMEOUT_S = 60
ECHO = """
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        given = [pb_utils.get_input_tensor_by_name(request, "x").as_numpy() for request in requests]
        return [pb_utils.InferenceResponse([pb_utils.Tensor("y", rows)]) for rows in given]
"""
COMPLETING = f"""{ECHO}
    @staticmethod
    def auto_complete_config(config):
        config.set_max_batch_size(8)
        config.add_input({{"name": "x", "data_type": "TYPE_FP32", "dims": [4]}})
        config.add_output({{"name": "y", "data_type": "TYPE_FP32", "dims": [4]}})
        return config
"""
IO = 'input { name: "x" data_type: TYPE_FP32 dims: [4] } output { name: "y" data_type: TYPE_FP32 dims: [4] }'
_STEP = (
    'step { model_name: "echo" model_version: -1 input_map { key: "x" value: "x" } output_map { key: "y" value: "y" } }'
)
CHAIN = f'platform: "ensemble" max_batch_size: 8 {IO} ensemble_scheduling {{ {_STEP} }}'
WHOLE = f'backend: "python" max_batch_size: 8 {IO} dynamic_batching {{ }}'
SEQUENCE = """ sequence_batching {
  control_input { name: "id" control { kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_STRING } }
}"""


def echo(root: Path, config: str | None = None, program: str = ECHO, chain: str | None = None) -> None:
    """The Python model `echo`, and the ensemble `chain` around it."""
    write(root / "echo/1/model.py", program)
    for name, text in (("echo", config), ("chain", chain)):
        if text is not None:
            write(root / name / "config.pbtxt", text)
    if chain:
        write(root / "chain/1/.gitkeep", "")


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, triton_grpc.InferenceServerClient]]:
    """A Triton that completes configs, with an empty repository; only its client's control calls need a token."""
    root, folder = tmp_path_factory.mktemp("plain"), tmp_path_factory.mktemp("launch")
    spec = ServerSpec(write_pipeline(root), control_token="a-token-of-this-test")
    launch = WheelLaunch(spec, Ports(*free_ports("127.0.0.1", 3)), folder, locate_wheel())
    lay_out_backends(launch.backends, launch.wheel)
    words = [word for word in launch.arguments() if word != "--disable-auto-complete-config"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(words, env=launch.environment(), stdout=log, stderr=log)
    try:
        with triton_grpc.InferenceServerClient(launch.grpc_url) as client:
            _wait_until_live(client)
            yield root, client
    finally:
        process.kill()
        process.wait()
        clear(launch.region_prefix)


def _wait_until_live(client: triton_grpc.InferenceServerClient) -> None:
    deadline = time.monotonic() + LOAD_TIMEOUT_S
    while time.monotonic() < deadline:
        try:
            if client.is_server_live():
                return
        except InferenceServerException:
            time.sleep(0.1)
    raise AssertionError("Triton is not live")


LOADED = {
    "no config": (lambda root: echo(root, program=COMPLETING), "echo"),
    "empty config": (lambda root: echo(root, "", COMPLETING), "echo"),
    "half a tensor": (lambda root: echo(root, 'input { name: "x" }', COMPLETING), "echo"),
    "step without config": (lambda root: echo(root, program=COMPLETING, chain=CHAIN), "chain"),
    "whole": (lambda root: echo(root, WHOLE), "echo"),
    "whole below one row": (lambda root: echo(root, WHOLE, chain=CHAIN.replace("max_batch_size: 8", "")), "chain"),
    "name of a backend": (lambda root: echo(root, WHOLE.replace('backend: "python"', "")), "echo"),
    "scalar rows": (
        lambda root: echo(root, WHOLE.replace("dims: [4]", "dims: [1] reshape { shape: [] }")),
        "echo",
    ),
    "small types": (
        lambda root: echo(root, WHOLE.replace("FP32", "BF16", 1).replace("FP32", "UINT8")),
        "echo",
    ),
    "decoupled": (lambda root: echo(root, f"{WHOLE} model_transaction_policy {{ decoupled: true }}"), "echo"),
    "sequence": (lambda root: echo(root, WHOLE.replace("dynamic_batching { }", SEQUENCE)), "echo"),
    "all versions": (
        lambda root: (echo(root, f"{WHOLE} version_policy {{ all {{ }} }}"), write(root / "echo/3/model.py", ECHO)),
        "echo",
    ),
    "latest two": (
        lambda root: (
            echo(root, f"{WHOLE} version_policy {{ latest {{ num_versions: 2 }} }}"),
            write(root / "echo/3/model.py", ECHO),
        ),
        "echo",
    ),
    "another file": (
        lambda root: (
            echo(root, f'{WHOLE} default_model_filename: "echo.py"'),
            (root / "echo/1/model.py").rename(root / "echo/1/echo.py"),
        ),
        "echo",
    ),
}


@pytest.mark.parametrize(("make", "model"), LOADED.values(), ids=LOADED)
@pytest.mark.xdist_group("check on Triton")
def test_what_triton_loads_is_no_error(
    plain: tuple[Path, triton_grpc.InferenceServerClient], tmp_path: Path, make: Callable[[Path], object], model: str
) -> None:
    make(tmp_path)
    assert [finding for finding in check_repository(tmp_path) if finding.status == FAIL] == []
    with _lent(plain, tmp_path) as (client, headers):
        client.load_model(model, headers=headers, client_timeout=LOAD_TIMEOUT_S)
        assert client.is_model_ready(model)


@pytest.mark.xdist_group("check on Triton")
def test_a_completed_step_answers_through_its_ensemble(
    plain: tuple[Path, triton_grpc.InferenceServerClient], tmp_path: Path
) -> None:
    echo(tmp_path, program=COMPLETING, chain=CHAIN)
    with _lent(plain, tmp_path) as (client, headers):
        client.load_model("chain", headers=headers, client_timeout=LOAD_TIMEOUT_S)
        np.testing.assert_array_equal(_asked(client, "chain"), np.ones((1, 4)))


@pytest.mark.xdist_group("check on Triton")
def test_a_python_model_that_completes_nothing_is_an_error_and_answers_nobody(
    plain: tuple[Path, triton_grpc.InferenceServerClient], tmp_path: Path
) -> None:
    echo(tmp_path)
    (finding,) = check_repository(tmp_path)
    assert (finding.status, finding.name) == (FAIL, "echo/config.pbtxt")
    assert "no auto_complete_config in model.py" in finding.found
    with _lent(plain, tmp_path) as (client, headers):
        client.load_model("echo", headers=headers, client_timeout=LOAD_TIMEOUT_S)
        with pytest.raises(InferenceServerException, match="expected 0 inputs but got 1"):
            _asked(client, "echo")


@pytest.mark.xdist_group("check on Triton")
def test_a_folder_that_no_backend_can_be_told_of_is_an_error_and_refused(
    plain: tuple[Path, triton_grpc.InferenceServerClient], tmp_path: Path
) -> None:
    write(tmp_path / "echo/1/weights.bin", "")
    (finding,) = check_repository(tmp_path)
    assert "no file tells which backend" in finding.found
    with _lent(plain, tmp_path) as (client, headers), pytest.raises(InferenceServerException, match="failed to load"):
        client.load_model("echo", headers=headers, client_timeout=LOAD_TIMEOUT_S)


@pytest.mark.parametrize("name", ["no config", "half a tensor", "step without config"])
def test_without_completion_it_is_an_error(tmp_path: Path, name: str) -> None:
    LOADED[name][0](tmp_path)
    assert any(finding.status == FAIL for finding in check_repository(tmp_path, auto_complete=False))


def _asked(client: triton_grpc.InferenceServerClient, model: str) -> object:
    tensor = triton_grpc.InferInput("x", [1, 4], "FP32")
    tensor.set_data_from_numpy(np.ones((1, 4), dtype=np.float32))
    return client.infer(model, [tensor]).as_numpy("y")


class _lent:
    """A repository's models in the server's, and out again."""

    def __init__(self, plain: tuple[Path, triton_grpc.InferenceServerClient], root: Path) -> None:
        self._target, self._client = plain
        self._root = root
        self._headers = control_headers("a-token-of-this-test")

    def __enter__(self) -> tuple[triton_grpc.InferenceServerClient, dict[str, str]]:
        self._names = [folder.name for folder in self._root.iterdir()]
        for name in self._names:
            (self._root / name).rename(self._target / name)
        return self._client, self._headers

    def __exit__(self, *_: object) -> None:
        for name in sorted(self._names):  # the ensemble first
            self._client.unload_model(name, headers=self._headers)
            (self._target / name).rename(self._root / name)
        _wait_until_unloaded(self._client, self._names, self._headers)


def _wait_until_unloaded(client: triton_grpc.InferenceServerClient, names: list[str], headers: dict[str, str]) -> None:
    deadline = time.monotonic() + LOAD_TIMEOUT_S
    while time.monotonic() < deadline:
        rows = client.get_model_repository_index(headers=headers, as_json=True).get("models", [])
        if not any(row["name"] in names and row.get("state") in ("READY", "UNLOADING") for row in rows):
            return
        time.sleep(0.05)
    raise AssertionError(f"{names} stay loaded")
