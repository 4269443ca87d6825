"""Files of texts, one a line, as every command reads them."""

import json
import sys
from pathlib import Path

from trireme.errors import TextFileError


def read_lines(path: Path) -> list[str]:
    """The lines of a UTF-8 file, without their ends; `-` reads stdin.

    Raises:
        TextFileError: it is missing, a folder, not to be read, or not UTF-8.
    """
    is_stdin = str(path) == "-"
    try:
        content = sys.stdin.buffer.read() if is_stdin else path.read_bytes()
        lines = content.decode("utf-8").removesuffix("\n").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise TextFileError(Path("stdin") if is_stdin else path, f"cannot be read ({reason})") from error
    return [line.removesuffix("\r") for line in lines]


def read_texts(path: Path) -> list[str]:
    """The lines that hold a text.

    Raises:
        TextFileError: the file cannot be read, is binary, or holds no text.
    """
    texts = [line for line in read_lines(path) if line.strip()]
    if any("\0" in text for text in texts):
        raise TextFileError(path, "holds binary data")
    if not texts:
        raise TextFileError(path, "holds no text")
    return texts


def read_rows(path: Path) -> list[dict[str, str]]:
    """Rows of a pipeline's inputs: a `.jsonl` holds an object of texts a line, any other file one text a line.

    Raises:
        TextFileError: the file cannot be read, holds no text, or a line of a `.jsonl` is no object of texts.
    """
    lines = read_texts(path)
    if path.suffix != ".jsonl":
        return [{"text": line} for line in lines]
    return [_row(path, number, line) for number, line in enumerate(lines, 1)]


def _row(path: Path, number: int, line: str) -> dict[str, str]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise TextFileError(path, f"line {number} is not JSON ({error})") from error
    if not isinstance(row, dict) or not all(isinstance(text, str) for text in row.values()):
        raise TextFileError(path, f"line {number} is no object of texts by input")
    return row
