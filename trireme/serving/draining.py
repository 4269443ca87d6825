"""Ends serving gently: pipelines are shut for new requests first, and those in flight are answered."""

import logging
import time
from collections.abc import Sequence

from tritonclient.utils import InferenceServerException

from trireme.serving.control import Control

_POLL_S = 0.05
_log = logging.getLogger(__name__)


def shut(control: Control, pipelines: Sequence[str], timeout_s: float) -> None:
    """Unload pipelines, but not their steps, and wait until their requests in flight are answered.

    Triton's own ending does not do it: it refuses a request that stands between two steps of an ensemble.
    """
    deadline = time.monotonic() + timeout_s
    try:
        for name in pipelines:
            control.unload(name)
        while _are_busy(control, pipelines) and time.monotonic() < deadline:
            time.sleep(_POLL_S)
    except InferenceServerException as error:
        _log.warning("requests in flight may be lost: %s", error)


def _are_busy(control: Control, pipelines: Sequence[str]) -> bool:
    return any(row["name"] in pipelines and row.get("state") == "UNLOADING" for row in control.index())
