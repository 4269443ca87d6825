"""Which interpreter loads Hugging Face folders: the user's own, or that of the environment made for it."""

import os
from pathlib import Path

from converters.huggingface.environment import environment_folder, python_of
from trireme.errors import InterpreterError

VARIABLE = "TRIREME_HF_PYTHON"


def find_interpreter(wanted: Path | None = None) -> Path:
    """The interpreter: `--python`, else `TRIREME_HF_PYTHON`, else that of the environment made for it.

    Raises:
        InterpreterError: there is none, or it is no program.
    """
    named = wanted or (Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None)
    found = named or python_of(environment_folder())
    if found.is_file() and os.access(found, os.X_OK):
        # Not resolved: a virtual environment's interpreter is a link, and is told by where the link stands.
        return found.absolute()
    if named is None:
        raise InterpreterError(
            "a Hugging Face folder is loaded by its own library, and there is no interpreter with it"
        )
    raise InterpreterError(f"{named} is no interpreter")
