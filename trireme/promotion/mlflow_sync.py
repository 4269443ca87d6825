"""Has an MLflow model registry follow a pipeline's moves, without letting any move wait for it or fail with it.

MLflow works in a process of its own, after the move and outside of its lock, and is given two minutes: where every core
is busy, its import alone takes half of one. What it could not take is noted in the ledger; as each run brings the whole
registry to what is true now, the next one catches up.
"""

import logging
import os
import subprocess
import sys

from trireme.promotion.ledger import Entry
from trireme.promotion.spec import PromotionSpec

COMMAND = "mirror"
_DEADLINE_S = 120.0
_log = logging.getLogger(__name__)
# MLflow would retry for minutes, and report to its makers.
_ENVIRONMENT = {
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "5",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "GIT_PYTHON_REFRESH": "quiet",
}


def sync_mlflow(spec: PromotionSpec) -> None:
    """Bring the registry to what the repository and the ledger say; a failure is a warning and a line in the ledger."""
    if not spec.mlflow:
        return
    problem = _problem(spec, spec.mlflow)
    if problem:
        _log.warning("MLflow does not follow: %s; the next command catches up", problem)
        spec.ledger.append(Entry(COMMAND, None, None, "failed", {"reason": problem}))
    elif _is_behind(spec):
        spec.ledger.append(Entry(COMMAND, None, None, "done"))


def _problem(spec: PromotionSpec, uri: str) -> str:
    """The URI may hold a password: it goes through the environment, which other users cannot read."""
    arguments = [spec.pipeline, str(spec.repository), str(spec.folder.parent)]
    environment = _ENVIRONMENT | dict(os.environ) | {"TRIREME_MLFLOW": uri}
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "trireme.promotion.registry", *arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_DEADLINE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it took longer than {_DEADLINE_S:.0f} s"
    lines = ended.stderr.strip().splitlines() or [f"it ended with {ended.returncode}"]
    return lines[-1] if ended.returncode else ""


def _is_behind(spec: PromotionSpec) -> bool:
    mirrored = [entry for entry in spec.ledger.entries() if entry.command == COMMAND]
    return bool(mirrored) and mirrored[-1].outcome == "failed"
