"""Three small folders with an ONNX graph in the place of weights, as exporters leave them, kept beside the tests."""

import json
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import torch
import transformers
from sentence_transformers import models

from .case import NAMES, Case, Cases
from .files import WEIGHTS
from .models import labelled, write
from .record import record
from .sentences import Recipe, write_sentences

_TEXTS = ("the quick brown fox", "Jumps over 12 LAZY dogs, twice!", "很好的酒店，服务也不错", "", "the fox " * 50)


def _classifier(folder: Path) -> Any:
    return write(folder, "bert", "ForSequenceClassification", num_hidden_layers=1, **labelled("bad", "fine", "good"))


def _tagger(folder: Path) -> Any:
    tags = labelled("O", "B-PER", "I-PER")
    return write(folder, "xlm_roberta", "ForTokenClassification", num_hidden_layers=1, **tags)


def _cases() -> Cases:
    sentences = Recipe(further=(models.Normalize,), config={"num_hidden_layers": 1})
    return [
        Case("onnx_classifier", "text-classification", "classification", _classifier, _TEXTS),
        Case("onnx_tagger", "token-classification", "entities", _tagger, NAMES),
        Case("onnx_sentences", "embedding", "vectors", partial(write_sentences, sentences), _TEXTS),
    ]


def write_graphs(folder: Path) -> None:
    """Write `NAME/` and `NAME.json` for each."""
    for case in _cases():
        made = folder / case.name
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir(parents=True)
        case.make(made)
        text = json.dumps(record(case, made), ensure_ascii=False, separators=(",", ":"))
        (folder / f"{case.name}.json").write_text(text + "\n", encoding="utf-8")
        _as_graph(case, made, made / "model.onnx" if case.name == "onnx_classifier" else made / "onnx" / "model.onnx")
        (made / WEIGHTS).unlink()


def _as_graph(case: Case, folder: Path, path: Path) -> None:
    kind = {"entities": "TokenClassification", "classification": "SequenceClassification"}.get(case.answers)
    auto = getattr(transformers, f"AutoModelFor{kind}") if kind else transformers.AutoModel
    model = auto.from_pretrained(folder, attn_implementation="eager").eval()
    names = transformers.AutoTokenizer.from_pretrained(folder).model_input_names
    rows = torch.ones((2, 5), dtype=torch.int64)
    output = "logits" if kind else "last_hidden_state"
    axes = {0: "batch_size", 1: "sequence_length"}
    path.parent.mkdir(exist_ok=True)
    model.config.return_dict = False
    torch.onnx.export(
        _Named(model, names),
        tuple(rows for _ in names),
        str(path),
        input_names=list(names),
        output_names=[output],
        dynamic_axes=dict.fromkeys((*names, output), axes),
        opset_version=17,
        dynamo=False,
    )


class _Named(torch.nn.Module):
    """The model with its inputs by position, and its first output alone."""

    def __init__(self, model: Any, names: list[str]) -> None:
        super().__init__()
        self.model = model
        self.names = names

    def forward(self, *tensors: torch.Tensor) -> Any:
        """See the class."""
        return self.model(**dict(zip(self.names, tensors, strict=True)))[0]
