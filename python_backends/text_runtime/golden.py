"""Reads and compares `golden.json`: texts and the answers that a release must give to them wherever it is served."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

FILE_NAME = "golden.json"

TOLERANCES = {"fp32": 1e-3}
"""Largest allowed difference of a number from the recorded one, by precision. Other engines and cores round otherwise,
most of all in the low precisions."""

LOW_PRECISION_TOLERANCE = 3e-2


@dataclass(frozen=True)
class GoldenRequests:
    """Texts by input, the recorded outputs by name with one line a text, and how far numbers may differ."""

    columns: dict[str, list[str]]
    outputs: dict[str, list[Any]]
    tolerance: float

    def to_json(self) -> bytes:
        """The content of `golden.json`."""
        return orjson.dumps(asdict(self), option=orjson.OPT_INDENT_2)


def read_golden(folder: Path) -> GoldenRequests:
    """Read `golden.json` in a release's folder of the pipeline itself.

    Raises:
        OSError: there is none.
        ValueError: it holds something else.
    """
    fields = orjson.loads((folder / FILE_NAME).read_bytes())
    try:
        return GoldenRequests(fields["columns"], fields["outputs"], float(fields["tolerance"]))
    except (KeyError, TypeError) as error:
        raise ValueError(f"{folder / FILE_NAME} does not hold golden requests: {error}") from error


def difference(expected: Any, found: Any, tolerance: float) -> str:
    """What differs between a recorded value and a found one; empty where nothing does.

    Numbers may differ by the tolerance, also those inside lists and JSON texts.
    """
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        pairs = zip(expected, found, strict=True)
        return next((problem for pair in pairs if (problem := difference(*pair, tolerance))), "")
    if isinstance(expected, dict) and isinstance(found, dict) and expected.keys() == found.keys():
        return difference(list(expected.values()), [found[name] for name in expected], tolerance)
    if isinstance(expected, (int, float)) and isinstance(found, (int, float)):
        return "" if abs(expected - found) <= tolerance else f"{found} instead of {expected}"
    if isinstance(expected, str) and isinstance(found, str) and expected[:1] in ("[", "{"):
        return difference(_parsed(expected), _parsed(found), tolerance)
    return "" if expected == found else f"{found!r} instead of {expected!r}"


def _parsed(text: str) -> Any:
    """The JSON in a text; in a tuple where it is none, so that it is compared as it stands."""
    try:
        return orjson.loads(text)
    except ValueError:
        return (text,)
