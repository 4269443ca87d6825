"""What the doctor looks at in the machine itself: cores, their instructions, and memory, as the cgroup grants them."""

import os
from collections.abc import Iterator
from pathlib import Path

import psutil

from text_runtime.encoder.cpu import usable_cores
from trireme.serving.finding import OK, Finding, verdict

_FLAGS = {
    "AVX2": (("avx2",), "the engines fall back to slow code without it"),
    "AVX-512": (("avx512f",), "fp32 and int8 run at half the speed without it"),
    "VNNI": (("avx512_vnni", "avx_vnni"), "int8 gains little without it"),
    "AVX-512 BF16": (("avx512_bf16", "amx_bf16"), "bf16 is emulated without it or AMX, slower than fp32"),
    "AMX BF16": (("amx_bf16",), "bf16 runs several times faster with it"),
    "AMX INT8": (("amx_int8",), "int8 runs several times faster with it"),
}
_LIMIT_V2 = Path("/sys/fs/cgroup/memory.max")
_LIMIT_V1 = Path("/sys/fs/cgroup/memory/memory.limit_in_bytes")
_USED = {_LIMIT_V2: Path("/sys/fs/cgroup/memory.current"), _LIMIT_V1: _LIMIT_V1.with_name("memory.usage_in_bytes")}
_MEMORY_MIN_GIB = 2.0


def cpu() -> Iterator[Finding]:
    """Cores and instruction sets."""
    flags = set(_cpu_line("flags").split())
    yield Finding("CPU", OK, _cpu_line("model name") or "unnamed")
    usable, online = usable_cores(), os.cpu_count() or 1
    remedy = "a CPU quota or affinity holds some back: raise it (docker run --cpus) if they are meant for Triton"
    yield verdict("cores", usable == online, f"{usable} usable of {online}", remedy)
    for name, (spellings, loss) in _FLAGS.items():
        found = [flag for flag in spellings if flag in flags]
        yield verdict(name, found, ", ".join(found) or "no", f"nothing: {loss}")


def _cpu_line(key: str) -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(key)), "")


def memory() -> Iterator[Finding]:
    """Memory that is free for us: the machine's, or what the cgroup's limit leaves."""
    free_gib = psutil.virtual_memory().available / 2**30
    left_gib = min([free_gib, *_left_by_cgroup()])
    by = "free" if left_gib == free_gib else "left by the cgroup's limit"
    remedy = f"converting needs {_MEMORY_MIN_GIB:.0f} GiB: stop something, or raise the limit (docker run --memory)"
    yield verdict("memory", left_gib >= _MEMORY_MIN_GIB, f"{left_gib:.1f} GiB {by}", remedy)


def _left_by_cgroup() -> list[float]:
    for limit, used in _USED.items():
        if limit.is_file() and (text := limit.read_text().strip()) != "max":
            return [(int(text) - int(used.read_text())) / 2**30]
    return []
