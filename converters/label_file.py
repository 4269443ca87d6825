"""`--labels FILE`: words, thresholds and aggregation that the checkpoint does not have, or has wrong."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from text_runtime.tasks import Labels
from text_runtime.tasks.label_files import parse_labels
from trireme.errors import LabelsError

_FIELDS = ("labels", "thresholds", "activation", "aggregation")


def read_label_file(path: Path, known: Labels) -> Labels:
    """The checkpoint's labels with what the file says in place of them.

    The file is JSON: `labels` (one word for each column, in order), `thresholds` (one number for all labels, or an
    object of label and number), `activation` (`softmax`, `sigmoid`), `aggregation` (`first`, `mean`, `token`).

    Raises:
        LabelsError: it is missing, not JSON, or does not fit the checkpoint's head.
    """
    fields = _read(path)
    names = fields.get("labels", known.names)
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise LabelsError(path, "'labels' is not a list of words")
    if len(names) != len(known.names):
        raise LabelsError(path, f"{len(names)} labels for a head of {len(known.names)} columns")
    settings = {"labels": names, "thresholds": _thresholds(path, fields.get("thresholds"), tuple(names))}
    kept = {field: fields[field] for field in ("activation", "aggregation") if field in fields}
    defaults = {name: value for name, value in asdict(known).items() if name not in ("names", "thresholds")}
    try:
        return parse_labels(defaults | settings | kept)
    except (TypeError, ValueError) as error:
        raise LabelsError(path, str(error)) from error


def _read(path: Path) -> dict[str, Any]:
    try:
        fields = orjson.loads(path.read_bytes())
    except OSError as error:
        raise LabelsError(path, error.strerror or str(error)) from error
    except orjson.JSONDecodeError as error:
        raise LabelsError(path, f"not JSON ({error})") from error
    if not isinstance(fields, dict):
        raise LabelsError(path, "not a JSON object")
    if unknown := sorted(set(fields) - set(_FIELDS)):
        raise LabelsError(path, f"it has {', '.join(unknown)}; known are {', '.join(_FIELDS)}")
    return fields


def _thresholds(path: Path, given: Any, names: tuple[str, ...]) -> list[float]:
    if given is None:
        return []
    if isinstance(given, (int, float)):
        return [float(given)] * len(names)
    if not isinstance(given, dict) or not all(isinstance(value, (int, float)) for value in given.values()):
        raise LabelsError(path, "'thresholds' is neither a number nor an object of label and number")
    if set(given) != set(names):
        odd = sorted(set(given) ^ set(names))
        raise LabelsError(path, f"'thresholds' and the labels disagree about {', '.join(odd)}")
    return [float(given[name]) for name in names]
