"""Starts the worker: `python THIS_FOLDER`, in an interpreter that has torch and transformers, and nothing of ours.

The folder becomes the package `trireme_worker`, whose modules import each other by relative names. It is taken off the
search path again, so that none of its modules can be mistaken for a library's.
"""

import importlib.util
import sys
from pathlib import Path

_NAME = "trireme_worker"


def _load_package() -> None:
    folder = Path(__file__).resolve().parent
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != folder]
    spec = importlib.util.spec_from_file_location(
        _NAME, str(folder / "__init__.py"), submodule_search_locations=[str(folder)]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[_NAME] = package
    spec.loader.exec_module(package)


if __name__ == "__main__":
    _load_package()
    importlib.import_module(f"{_NAME}.loop").main()
