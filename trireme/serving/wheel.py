"""Where the `nvidia-pytriton` wheel keeps Triton, its Python backend, and their libraries."""

import sys
import sysconfig
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from trireme.errors import MissingLibraryError, ServerError


@dataclass(frozen=True)
class Wheel:
    """Paths inside the installed wheel."""

    binary: Path
    python_backend: Path
    stub: Path
    libraries: Path

    @property
    def library_path(self) -> str:
        """`LD_LIBRARY_PATH` for Triton: the wheel's libraries, and the folder of this Python's own."""
        return f"{self.libraries}:{sysconfig.get_config_var('LIBDIR')}"


def locate_wheel() -> Wheel:
    """Find the wheel in this environment, without importing it: its import is slow and starts things.

    Raises:
        MissingLibraryError: it is not installed.
        ServerError: it has no stub for this version of Python.
    """
    spec = find_spec("pytriton")
    if spec is None or spec.origin is None:
        raise MissingLibraryError("nvidia-pytriton", "serve")
    package = Path(spec.origin).parent
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    stub = package / "tritonserver/python_backend_stubs" / version / "triton_python_backend_stub"
    if not stub.is_file():
        raise ServerError("here", f"the wheel has no Triton stub for Python {version}", "use Python 3.10 to 3.12")
    return Wheel(
        package / "tritonserver/bin/tritonserver",
        package / "tritonserver/backends/python",
        stub,
        package.parent / "nvidia_pytriton.libs",
    )
