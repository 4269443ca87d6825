"""Every token must have a row in the model's table of embeddings: of the source's own vocabulary, and of ours."""

from pathlib import Path

from tokenizers import Tokenizer

from trireme.errors import GateError

HighestToken = tuple[str, int]
"""The token with the highest id, and that id."""
NO_TOKEN: HighestToken = ("", -1)


def highest_of(vocabulary: dict[str, int]) -> HighestToken:
    """The token with the highest id of a vocabulary, added tokens included."""
    return max(vocabulary.items(), key=lambda entry: entry[1], default=NO_TOKEN)


def highest_in(path: Path) -> HighestToken:
    """The one of a `tokenizer.json`."""
    return highest_of(Tokenizer.from_file(str(path)).get_vocab(with_added_tokens=True))


def require_row(highest: HighestToken, rows: int) -> None:
    """Refuse a vocabulary that is larger than the table; a table of 0 rows is one of which nothing is known.

    Raises:
        GateError: the token with the highest id has no row.
    """
    token, index = highest
    if index >= rows > 0:
        problem = f"the tokenizer has tokens that the table of embeddings ({rows} rows) lacks"
        raise GateError("tokens", f"{problem}, {token!r} ({index}) the highest")
