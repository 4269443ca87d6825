"""Looks at this machine and says what it has for converting and serving, and what to do about the rest."""

import os
import platform
import shutil
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil

from serving.ports import bind
from serving.wheel import locate_wheel
from text_runtime.cpu import usable_cores
from trireme.errors import PortError, TriremeError

OK, WARN, FAIL = "ok", "warn", "fail"
_LIBRARIES = {
    "tritonclient": ("serve", FAIL),
    "nvidia-pytriton": ("serve", FAIL),
    "tokenizers": ("runtime", FAIL),
    "onnxruntime": ("runtime", FAIL),
    "openvino": ("runtime", WARN),
    "paddlepaddle": ("convert", WARN),
    "paddlenlp": ("convert", WARN),
}
_CPU_FLAGS = {
    "avx2": "the engines fall back to slow code without it",
    "avx512f": "fp32 and int8 run at half the speed without it",
    "avx512_vnni": "int8 gains little without it (or avx_vnni)",
    "avx512_bf16": "bf16 is refused without it or AMX",
    "amx_bf16": "bf16 runs several times faster with it",
    "amx_int8": "int8 runs several times faster with it",
}
_SHARED_MEMORY_MIN_MIB = 256


@dataclass(frozen=True)
class Finding:
    """One thing looked at."""

    name: str
    status: str
    found: str
    remedy: str = ""


def diagnose() -> list[Finding]:
    """Look at everything; nothing is changed."""
    checks = (_python, _libraries, _triton, _libpython, _shared_memory, _ports, _cpu, _memory, _containers)
    return [finding for check in checks for finding in check()]


def _verdict(name: str, is_fit: object, found: str, remedy: str, otherwise: str = WARN) -> Finding:
    return Finding(name, OK, found) if is_fit else Finding(name, otherwise, found, remedy)


def _python() -> Iterator[Finding]:
    is_fit = (3, 10) <= sys.version_info[:2] <= (3, 12)
    yield _verdict("Python", is_fit, platform.python_version(), "use 3.10 to 3.12", FAIL)


def _libraries() -> Iterator[Finding]:
    for name, (extra, severity) in _LIBRARIES.items():
        try:
            yield Finding(name, OK, version(name))
        except PackageNotFoundError:
            yield Finding(name, severity, "not installed", f"pip install 'trireme[{extra}]'")


def _triton() -> Iterator[Finding]:
    try:
        yield Finding("Triton", OK, str(locate_wheel().binary))
    except TriremeError as error:
        yield Finding("Triton", FAIL, str(error), "or serve from a container: docker compose --profile cpu up")


def _libpython() -> Iterator[Finding]:
    name = f"libpython{sys.version_info.major}.{sys.version_info.minor}.so"
    folders = [Path(str(sysconfig.get_config_var("LIBDIR"))), Path("/usr/lib/x86_64-linux-gnu")]
    found = [path for folder in folders for path in folder.glob(f"{name}*")]
    remedy = f"install it (Debian: libpython{sys.version_info.major}.{sys.version_info.minor}), or use a Python from uv"
    yield _verdict("libpython", found, str(found[0]) if found else f"no {name}", remedy, FAIL)


def _shared_memory() -> Iterator[Finding]:
    free_mib = shutil.disk_usage("/dev/shm").free >> 20
    remedy = f"make it {_SHARED_MEMORY_MIN_MIB} MiB or more (docker run --shm-size=1g)"
    yield _verdict("/dev/shm", free_mib >= _SHARED_MEMORY_MIN_MIB, f"{free_mib} MiB free", remedy, FAIL)


def _ports() -> Iterator[Finding]:
    for port, option in ((8000, "--http-port"), (8001, "--grpc-port"), (8002, "--metrics-port")):
        try:
            bind("127.0.0.1", port, option).close()
            yield Finding(f"port {port}", OK, "free")
        except PortError:
            yield Finding(f"port {port}", WARN, "in use", f"stop what listens there, or serve with {option}")


def _cpu() -> Iterator[Finding]:
    flags = set(_cpu_line("flags").split())
    yield Finding("CPU", OK, f"{_cpu_line('model name')}, {usable_cores()} usable of {os.cpu_count()} cores")
    for flag, loss in _CPU_FLAGS.items():
        yield _verdict(flag, flag in flags, "yes" if flag in flags else "no", loss)


def _cpu_line(key: str) -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(key)), "")


def _memory() -> Iterator[Finding]:
    free_gib = psutil.virtual_memory().available / 2**30
    yield _verdict("memory", free_gib >= 2, f"{free_gib:.1f} GiB free", "converting needs 2 GiB")


def _containers() -> Iterator[Finding]:
    docker, gpu = shutil.which("docker"), shutil.which("nvidia-smi")
    yield _verdict("docker", docker, docker or "not found", "only needed for containers")
    yield _verdict("NVIDIA GPU", gpu, gpu or "not found", "only needed for TensorRT")
