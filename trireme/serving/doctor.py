"""Looks at this machine and says what it has for converting and serving, and what to do about the rest."""

import os
import platform
import shutil
import sys
import sysconfig
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil

from trireme.errors import PortError, TriremeError
from trireme.serving.data_regions import data_regions
from trireme.serving.finding import FAIL, OK, WARN, Finding, verdict
from trireme.serving.hardware import cpu, memory
from trireme.serving.ports import bind
from trireme.serving.wheel import locate_wheel

__all__ = ["FAIL", "OK", "WARN", "Finding", "diagnose"]

_LIBRARIES = {
    "tritonclient": ("serve", FAIL),
    "nvidia-pytriton": ("serve", FAIL),
    "tokenizers": ("runtime", FAIL),
    "onnxruntime": ("runtime", FAIL),
    "cmeel-mimalloc": ("runtime", WARN),
    "openvino": ("runtime", WARN),
    "openvino-genai": ("generation", WARN),
    "paddlepaddle": ("convert", WARN),
    "paddlenlp": ("convert", WARN),
}
# The wheel is tagged manylinux_2_35: pip refuses it on anything older.
_GLIBC_MIN = (2, 35)
_SHARED_MEMORY_MIN_MIB = 256
_Check = Callable[[], Iterator[Finding]]


def diagnose() -> list[Finding]:
    """Look at everything; nothing is changed. A check that cannot look says so, and the others go on."""
    checks = (
        _python,
        _glibc,
        _libraries,
        _triton,
        _libpython,
        _shared_memory,
        _ports,
        data_regions,
        cpu,
        memory,
        _containers,
    )
    return [finding for check in checks for finding in _results(check)]


def _results(check: _Check) -> list[Finding]:
    try:
        return list(check())
    except (OSError, ValueError, psutil.Error) as error:
        return [Finding(check.__name__.strip("_"), WARN, f"cannot be read here ({error})", "look at it by hand")]


def _python() -> Iterator[Finding]:
    is_fit = (3, 10) <= sys.version_info[:2] <= (3, 12)
    yield verdict("Python", is_fit, platform.python_version(), "use 3.10 to 3.12", FAIL)


def _glibc() -> Iterator[Finding]:
    name, found = platform.libc_ver()
    numbers = tuple(int(part) for part in found.split(".")[:2] if part.isdecimal())
    remedy = f"the wheel's Triton needs glibc {_GLIBC_MIN[0]}.{_GLIBC_MIN[1]} (Debian 12, Ubuntu 22.04); or a container"
    yield verdict("glibc", name == "glibc" and numbers >= _GLIBC_MIN, f"{name} {found}".strip(), remedy, FAIL)


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
    folders = [Path(str(sysconfig.get_config_var("LIBDIR"))), Path(f"/usr/lib/{platform.machine()}-linux-gnu")]
    found = [path for folder in folders for path in folder.glob(f"{name}*")]
    remedy = f"install it (Debian: libpython{sys.version_info.major}.{sys.version_info.minor}), or use a Python from uv"
    yield verdict("libpython", found, str(found[0]) if found else f"no {name}", remedy, FAIL)


def _shared_memory() -> Iterator[Finding]:
    free_mib = shutil.disk_usage("/dev/shm").free >> 20
    remedy = f"make it {_SHARED_MEMORY_MIN_MIB} MiB or more (docker run --shm-size=1g)"
    yield verdict("/dev/shm", free_mib >= _SHARED_MEMORY_MIN_MIB, f"{free_mib} MiB free", remedy, FAIL)


def _ports() -> Iterator[Finding]:
    for port, option in ((8000, "--http-port"), (8001, "--grpc-port"), (8002, "--metrics-port")):
        try:
            bind("127.0.0.1", port, option).close()
            yield Finding(f"port {port}", OK, "free")
        except PortError:
            yield Finding(f"port {port}", WARN, "in use", f"stop what listens there, or serve with {option}")


def _containers() -> Iterator[Finding]:
    docker, gpu = shutil.which("docker"), shutil.which("nvidia-smi")
    yield verdict("docker", docker, docker or "not found", "only needed for containers")
    has_device = gpu and os.path.exists("/dev/nvidiactl")
    found = str(gpu) if has_device else "nvidia-smi without a device" if gpu else "not found"
    yield verdict("NVIDIA GPU", has_device, found, "only needed for TensorRT")
