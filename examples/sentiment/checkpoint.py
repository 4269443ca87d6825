"""The checkpoint on disk, in PaddleNLP's own format, and proof that PaddleNLP reads back what was written."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import numpy as np
import paddle
from numpy.typing import NDArray
from paddlenlp.transformers import ErnieForSequenceClassification

SIZE_LIMIT_BYTES = 8_000_000
_PROBE = [[1, 20, 30, 40, 2]]


def save(model: ErnieForSequenceClassification, folder: Path) -> None:
    """Write weights and `config.json` beside the tokenizer's files, and check size and answers.

    Raises:
        RuntimeError: the folder is too large to commit, or the model that comes back answers otherwise.
    """
    model.save_pretrained(str(folder))
    size = sum(file.stat().st_size for file in folder.iterdir())
    if size > SIZE_LIMIT_BYTES:
        raise RuntimeError(f"{folder} holds {size:,} bytes, more than {SIZE_LIMIT_BYTES:,}: make the network smaller")
    if not np.array_equal(_answer(model), _answer(load(folder))):
        raise RuntimeError(f"the checkpoint in {folder} answers otherwise than the model it was written from")


def load(folder: Path) -> ErnieForSequenceClassification:
    """The model of a checkpoint, read from a copy, because PaddleNLP may write where it reads."""
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(folder, copy, dirs_exist_ok=True)
        return ErnieForSequenceClassification.from_pretrained(copy)


def _answer(model: ErnieForSequenceClassification) -> NDArray[np.float32]:
    model.eval()
    with paddle.no_grad():
        return np.asarray(model(paddle.to_tensor(_PROBE)).numpy())
