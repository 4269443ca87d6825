"""Ends serving gently: pipelines are shut for new requests first, and those in flight are answered."""

import logging
import time
from collections.abc import Sequence

from trireme.admin import Administrator
from trireme.errors import ServerError

_POLL_S = 0.05
_log = logging.getLogger(__name__)


def shut(admin: Administrator, pipelines: Sequence[str], deadline: float) -> None:
    """Unload pipelines, but not their steps, and wait until their requests in flight are answered,
    or until `deadline` by the monotonic clock.

    Triton's own ending does not do it: it refuses a request that stands between two steps of an ensemble.
    """
    try:
        for name in pipelines:
            admin.unload(name)
        while _are_busy(admin, pipelines) and time.monotonic() < deadline:
            time.sleep(_POLL_S)
    except ServerError as error:
        _log.warning("requests in flight may be lost: %s", error)


def _are_busy(admin: Administrator, pipelines: Sequence[str]) -> bool:
    return any(row.name in pipelines and row.is_unloading for row in admin.index())
