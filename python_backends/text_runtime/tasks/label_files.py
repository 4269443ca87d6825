"""Reads and writes `labels.json`: the words for the encoder's output columns, and how columns become an answer."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from text_runtime.tasks.base import Labels

FILE_NAME = "labels.json"
_FIELDS = {"labels", *Labels.__dataclass_fields__} - {"names"}


def labels_json(labels: Labels) -> bytes:
    """The labels as the content of `labels.json`."""
    fields = asdict(labels)
    return orjson.dumps({"labels": fields.pop("names"), **fields}, option=orjson.OPT_INDENT_2)


def parse_labels(fields: dict[str, Any]) -> Labels:
    """Labels from the fields of `labels.json`.

    Raises:
        KeyError: a field is missing.
        TypeError: a field has the wrong type, or is not one of ours.
        ValueError: the fields do not fit together.
    """
    settings: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()
    }
    return Labels(settings.pop("labels"), **settings)


def read_labels(folder: Path, columns: int) -> Labels:
    """Read `labels.json` in a postprocess release that must name so many columns; 0 for a task without labels.

    Fields that a newer Trireme wrote are passed over, as in all files of a release.

    Raises:
        ValueError: it is missing, not readable, or does not name every column.
    """
    path = folder / FILE_NAME
    try:
        found = orjson.loads(path.read_bytes())
        labels = parse_labels({name: found[name] for name in _FIELDS if name in found})
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: cannot read the labels ({error}); export the release again") from error
    if len(labels.names) != columns:
        raise ValueError(
            f"{path}: {len(labels.names)} labels for an encoder of {columns} columns; export the release again"
        )
    return labels
