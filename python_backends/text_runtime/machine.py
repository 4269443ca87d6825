"""What a TensorRT plan depends on of this machine, as its own libraries and driver say it."""

import ctypes
import subprocess
from dataclasses import dataclass

_LIBRARIES = ("libnvinfer.so.12", "libnvinfer.so.11", "libnvinfer.so.10", "libnvinfer.so")
_QUERY = ("nvidia-smi", "--query-gpu=compute_cap,driver_version,name", "--format=csv,noheader")
_TIMEOUT_S = 30


class MachineError(Exception):
    """This machine has no GPU, no driver or no TensorRT."""


@dataclass(frozen=True)
class Machine:
    """A machine that builds or serves plans. Where its cards differ, `compute_capability` names all: `8.6 and 9.0`."""

    tensorrt: str
    compute_capability: str
    driver: str
    gpu: str = ""


def read_machine() -> Machine:
    """This machine.

    Raises:
        MachineError: it has no GPU, or no TensorRT.
    """
    rows = [[field.strip() for field in line.split(",", 2)] for line in _nvidia_smi().splitlines() if line.strip()]
    if not rows or any(len(row) != 3 for row in rows):
        raise MachineError("nvidia-smi names no GPU")
    capability, driver, gpu = (" and ".join(sorted(set(column))) for column in zip(*rows, strict=True))
    return Machine(_tensorrt_version(), capability, driver, gpu)


def _nvidia_smi() -> str:
    try:
        found = subprocess.run(_QUERY, capture_output=True, text=True, timeout=_TIMEOUT_S, check=True)
    except FileNotFoundError as error:
        raise MachineError("there is no NVIDIA driver (nvidia-smi is not found)") from error
    except (subprocess.SubprocessError, OSError) as error:
        raise MachineError(f"nvidia-smi does not answer ({error})") from error
    return found.stdout


def _tensorrt_version() -> str:
    """The version that the library itself says, as one number: 101303 for 10.13.3."""
    for name in _LIBRARIES:
        try:
            number = int(ctypes.CDLL(name).getInferLibVersion())
        except OSError:
            continue
        return f"{number // 10000}.{number // 100 % 100}.{number % 100}"
    raise MachineError(f"there is no TensorRT (none of {', '.join(_LIBRARIES)} is found)")
