"""Reads the one line of Triton's log that says what went wrong."""

import re
from pathlib import Path

_TAIL_BYTES = 65536
# Triton's own errors, its complaints about the command line, and those of the dynamic loader.
_ERROR = re.compile(r"^[EF]\d{4} |error|failed|unrecognized option|^Signal \(\d+\)", re.IGNORECASE)
# On a machine without a GPU Triton says these, and means nothing by it.
_HARMLESS = re.compile(r"^[IW]\d{4} |CUDA|NVML|DCGM", re.IGNORECASE)
_STAMP = re.compile(r"^[A-Z]\d{4} [\d:.]+ \d+ ")


def last_error(log: Path | None) -> str:
    """The last line about an error, without its time stamp; else the last line; else that there is none."""
    if log is None:
        return "see its log above"
    try:
        with log.open("rb") as stream:
            stream.seek(max(0, log.stat().st_size - _TAIL_BYTES))
            lines = [line.strip() for line in stream.read().decode(errors="replace").splitlines() if line.strip()]
    except OSError:
        lines = []
    errors = [line for line in lines if _ERROR.search(line) and not _HARMLESS.search(line)]
    return _STAMP.sub("", [*lines, *errors][-1]) if lines else "its log is empty"
