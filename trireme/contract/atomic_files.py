"""Files that are there whole, whatever interrupts their writing."""

import os
from pathlib import Path


def replace_text(path: Path, text: str) -> None:
    """Replace a file's content at once and durably."""
    beside = path.with_name(f".{path.name}.new")
    with beside.open("w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    beside.replace(path)
