"""The words for a head's output columns, from a checkpoint's `id2label`."""

import logging
from pathlib import Path
from typing import Any

from converters.sources.architectures import Head
from text_runtime.tasks import Labels
from trireme.errors import CheckpointError

_log = logging.getLogger(__name__)


def labels_of(folder: Path, config: dict[str, Any], width: int, head: Head) -> Labels:
    """The labels of a head with `width` outputs; LABEL_0, LABEL_1 … where the checkpoint names none.

    An embedding's columns have no names, and neither have UIE's, the start and the end of a span.

    Raises:
        CheckpointError: `id2label` does not name each output once.
    """
    if head in (Head.HIDDEN, Head.SPANS):
        return Labels(())
    words = config.get("id2label") or _counted(folder, width)
    if len(words) != width:
        problem = f"config.json names {len(words)} labels in id2label, the classifier has {width} outputs"
        raise CheckpointError(folder, problem, "give every output its label")
    try:
        return Labels(tuple(str(words[str(index)]) for index in range(width)), _activation(config, width))
    except (KeyError, ValueError) as error:
        problem = f"id2label is not one name for each of 0 to {width - 1} ({error})"
        raise CheckpointError(folder, problem, "mend it") from error


def _counted(folder: Path, width: int) -> dict[str, str]:
    _log.warning("%s names no labels (id2label in config.json): the answers will say LABEL_0 …", folder)
    return {str(index): f"LABEL_{index}" for index in range(width)}


def _activation(config: dict[str, Any], width: int) -> str:
    problem = config.get("problem_type")
    if problem == "regression":
        return "identity"
    return "sigmoid" if problem == "multi_label_classification" or width == 1 else "softmax"
