"""Reads and writes `labels.json`: the words for the encoder's output columns."""

from pathlib import Path

import orjson

from text_runtime.tasks.base import Labels

FILE_NAME = "labels.json"


def labels_json(labels: Labels) -> bytes:
    """The labels as the content of `labels.json`."""
    return orjson.dumps({"labels": labels.names, "activation": labels.activation}, option=orjson.OPT_INDENT_2)


def read_labels(folder: Path, width: int) -> Labels:
    """Read `labels.json` in a postprocess release.

    Raises:
        ValueError: it is missing, not readable, or does not name every one of the encoder's `width` columns.
    """
    path = folder / FILE_NAME
    try:
        fields = orjson.loads(path.read_bytes())
        labels = Labels(tuple(fields["labels"]), fields["activation"])
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: cannot read the labels ({error}); export the release again") from error
    if len(labels.names) != width:
        raise ValueError(
            f"{path}: {len(labels.names)} labels for an encoder of {width} columns; export the release again"
        )
    return labels
