"""Whether a release fits into memory beside those that are loaded."""

from pathlib import Path

import psutil

from trireme.errors import MemoryShortError

# An engine holds the weights, and while it loads also what it reads them from; three processes stand around it.
_COPIES = 2
_PROCESSES_BYTES = 400 << 20
_CGROUP = Path("/sys/fs/cgroup")


def require_memory(release_bytes: int, available_bytes: int, replicas: int = 1) -> None:
    """Refuse a release that would not fit.

    Raises:
        MemoryShortError: less is free than it needs.
    """
    needed = replicas * (_COPIES * release_bytes + _PROCESSES_BYTES)
    if needed > available_bytes:
        raise MemoryShortError(needed, available_bytes)


def available_bytes() -> int:
    """What this machine, or the container that this process is in, has left."""
    return min([psutil.virtual_memory().available, *_cgroup_left()])


def _cgroup_left() -> list[int]:
    try:
        limit = (_CGROUP / "memory.max").read_text().strip()
        used = int((_CGROUP / "memory.current").read_text())
    except (OSError, ValueError):
        return []
    return [] if limit == "max" else [max(0, int(limit) - used)]
