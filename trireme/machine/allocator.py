"""The memory allocator of processes that serve: mimalloc, preloaded in place of glibc's.

A tokenizer allocates several times for each character of a text, Triton again and again for each request, and glibc's
allocator makes both slower. Triton's own documentation advises to replace it.
"""

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from trireme.errors import AllocatorError

CHOICE = "TRIREME_ALLOCATOR"
"""The environment variable with another library to preload; empty for none."""
_PACKAGE = "cmeel-mimalloc"
_LIBRARY = "libmimalloc.so"
_VARIABLE = "LD_PRELOAD"
# oneTBB, which OpenVINO brings, else loads a library that frees with glibc what this one has allocated, and the process
# ends (oneTBB 1636 and 1645).
_NO_DEEP_BINDING = {"TBB_ENABLE_SANITIZERS": "1"}
_SEPARATORS = ": "


def with_allocator(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment in which a process, and all that it starts, allocates with mimalloc, or what `CHOICE` names.

    What is already preloaded goes first. Without the package, or where its path has a blank or a colon, which the
    loader takes for a separator, the environment stays as it is.

    Raises:
        AllocatorError: the chosen library is not there.
    """
    chosen = environment.get(CHOICE)
    if chosen and not Path(chosen).is_file():
        raise AllocatorError(CHOICE, chosen)
    library = _library() if chosen is None else chosen
    if not library or any(separator in library for separator in _SEPARATORS):
        return dict(environment)
    preloaded = environment.get(_VARIABLE, "")
    return {**environment, **_NO_DEEP_BINDING, _VARIABLE: f"{preloaded}:{library}" if preloaded else library}


def _library() -> str:
    try:
        found = [path for path in files(_PACKAGE) or () if path.name == _LIBRARY]
    except PackageNotFoundError:
        return ""
    return str(found[0].locate()) if found else ""
