"""What a tokenizer's settings may say, whichever library wrote them."""

import sys
from pathlib import Path
from typing import Any

from trireme.errors import CheckpointError

REMEDY = "save the tokenizer again with its own library (from_pretrained(DIR).save_pretrained(DIR))"


def longest(folder: Path, limit: Any) -> int:
    """`model_max_length` as a number of tokens.

    Raises:
        CheckpointError: it is none.
    """
    is_number = isinstance(limit, (int, float)) and not isinstance(limit, bool)
    if not is_number or not limit >= 1:
        raise CheckpointError(folder, f"model_max_length is {limit!r}, which is no number of tokens", REMEDY)
    return int(min(limit, sys.maxsize))


def truncation_side(folder: Path, side: Any) -> str:
    """The end of a text that is cut.

    Raises:
        CheckpointError: it is neither.
    """
    if side not in ("right", "left"):
        raise CheckpointError(folder, f"truncation_side is {side!r}, which is neither right nor left", REMEDY)
    return str(side)


def pad_token_id(folder: Path, found: Any) -> int:
    """The padding token's id.

    Raises:
        CheckpointError: there is none.
    """
    if not isinstance(found, int) or isinstance(found, bool) or found < 0:
        raise CheckpointError(folder, f"its tokenizer has no padding token (its id is {found!r})", REMEDY)
    return found
