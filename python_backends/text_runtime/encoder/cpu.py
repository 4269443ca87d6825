"""How many cores this process may really use."""

import math
import os
from pathlib import Path

_QUOTA_V2 = Path("/sys/fs/cgroup/cpu.max")
_QUOTA_V1 = Path("/sys/fs/cgroup/cpu/cpu.cfs_quota_us")
_PERIOD_V1 = Path("/sys/fs/cgroup/cpu/cpu.cfs_period_us")


def usable_cores() -> int:
    """The cores in this process's affinity mask, or fewer where the cgroup's CPU quota gives fewer; at least 1."""
    affinity = len(os.sched_getaffinity(0))
    quota = _quota()
    return affinity if quota is None else max(1, min(affinity, math.ceil(quota)))


def _quota() -> float | None:
    try:
        if _QUOTA_V2.exists():
            limit, period = _QUOTA_V2.read_text().split()
            return None if limit == "max" else int(limit) / int(period)
        quota_us = int(_QUOTA_V1.read_text())
        return None if quota_us <= 0 else quota_us / int(_PERIOD_V1.read_text())
    except (OSError, ValueError):
        return None
