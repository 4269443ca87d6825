"""Reads STRING tensors: bytes from the wire to text."""

from typing import Any

import numpy.typing as npt


def read_texts(name: str, values: npt.NDArray[Any]) -> list[str]:
    """The texts of a STRING tensor, row by row.

    Raises:
        ValueError: a row is not UTF-8; the message names the input and the row.
    """
    texts = []
    for row, value in enumerate(values.ravel()):
        try:
            texts.append(value.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise ValueError(
                f"input '{name}', row {row}: not valid UTF-8 ({error.reason} at byte {error.start})"
            ) from error
    return texts
