"""The memory allocator of processes that serve: mimalloc, preloaded in place of glibc's.

A tokenizer allocates several times for each character of a text, Triton again and again for each request, and glibc's
allocator makes both slower. Triton's own documentation advises to replace it.
"""

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, files

_PACKAGE = "cmeel-mimalloc"
_LIBRARY = "libmimalloc.so"
_VARIABLE = "LD_PRELOAD"
# oneTBB, which OpenVINO brings, else loads a library that frees with glibc what this one has allocated, and the process
# ends (oneTBB 1636 and 1645).
_NO_DEEP_BINDING = {"TBB_ENABLE_SANITIZERS": "1"}
_SEPARATORS = ": "


def with_allocator(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment in which a process, and all that it starts, allocates with mimalloc.

    What is already preloaded goes first, so that an allocator chosen by the user stays. Without the package, or where
    its path has a blank or a colon, which the loader takes for a separator, the environment stays as it is.
    """
    library = _library()
    if not library or any(separator in library for separator in _SEPARATORS):
        return dict(environment)
    chosen = environment.get(_VARIABLE, "")
    return {**environment, **_NO_DEEP_BINDING, _VARIABLE: f"{chosen}:{library}" if chosen else library}


def _library() -> str:
    try:
        found = [path for path in files(_PACKAGE) or () if path.name == _LIBRARY]
    except PackageNotFoundError:
        return ""
    return str(found[0].locate()) if found else ""
