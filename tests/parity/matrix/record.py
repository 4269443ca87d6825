"""What the libraries themselves answer to a case, one text at a time: nothing is padded, in fp32 on the CPU."""

import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from safetensors import safe_open
from sentence_transformers import CrossEncoder, SentenceTransformer
from sentence_transformers.models import Pooling

from .case import Case
from .files import WEIGHTS, load_tensors, save_tensors

_STRATEGIES = {"first": "first", "mean": "average", "token": "simple"}
_EAGER = {"attn_implementation": "eager", "torch_dtype": torch.float32}
_LONGEST = 64


def record(case: Case, folder: Path) -> dict[str, Any]:
    """Everything that a test must know of a case: what to ask, and what the library answers."""
    told = {"task": case.task} | case.options | ({"long": True} if case.is_long else {})
    if case.refused:
        return told | {"refused": case.refused}
    asked = _texts(case, folder)
    with tempfile.TemporaryDirectory() as scratch:
        readable = _readable(folder, Path(scratch) / folder.name)
        return told | asked | _ANSWERS[case.answers](case, readable, asked["texts"], asked["pairs"])


def _readable(folder: Path, copy: Path) -> Path:
    """The folder itself, or one with the same tensors that its library does not take for another framework's."""
    path = folder / WEIGHTS
    if not path.is_file():
        return folder
    with safe_open(path, "pt") as file:
        if (file.metadata() or {}).get("format") == "pt":
            return folder
    shutil.copytree(folder, copy)
    save_tensors(copy, load_tensors(folder))
    return copy


def _texts(case: Case, folder: Path) -> dict[str, Any]:
    """The case's texts, and one with each special token of its tokenizer in it."""
    inner = folder / "0_Transformer"
    tokenizer = transformers.AutoTokenizer.from_pretrained(inner if inner.is_dir() else folder)
    words = list(dict.fromkeys(str(word) for word in tokenizer.all_special_tokens))
    if case.answers == "entities":
        words.remove(str(tokenizer.mask_token))  # it swallows the blank before it, which the pipeline takes for a piece
    special = ["the " + " fox ".join(words) + " dogs", "".join(words)]
    pairs = None if case.pairs is None else [*case.pairs, *reversed(special)]
    return {"texts": [*case.texts, *special], "pairs": pairs}


def _rounded(values: Any) -> Any:
    """Seven digits are all that fp32 has."""
    return [float(f"{value:.7g}") for value in np.asarray(values, dtype=np.float64).ravel()]


def _longest(tokenizer: Any) -> int:
    return min(tokenizer.model_max_length, _LONGEST)


def _classification(case: Case, folder: Path, texts: list[str], pairs: list[str] | None) -> dict[str, Any]:
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder, **_EAGER).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    pipe = transformers.pipeline("text-classification", model=model, tokenizer=tokenizer, device="cpu")
    columns = {name: index for index, name in model.config.id2label.items()}
    rows = []
    for index, text in enumerate(texts):
        given: Any = text if pairs is None else {"text": text, "text_pair": pairs[index]}
        found = pipe(given, top_k=None, truncation=True, max_length=_longest(tokenizer))
        rows.append(_rounded([entry["score"] for entry in sorted(found, key=lambda one: columns[one["label"]])]))
    return {"scores": rows, "names": [model.config.id2label[index] for index in range(len(columns))]}


def _relevance(case: Case, folder: Path, texts: list[str], pairs: list[str] | None) -> dict[str, Any]:
    model = CrossEncoder(str(folder), device="cpu", model_kwargs=dict(_EAGER))
    assert pairs is not None
    scores = [model.predict([pair], show_progress_bar=False)[0] for pair in zip(texts, pairs, strict=True)]
    return {"scores": _rounded(scores)}


def _vectors(case: Case, folder: Path, texts: list[str], pairs: list[str] | None) -> dict[str, Any]:
    if (folder / "modules.json").exists():
        model = SentenceTransformer(str(folder), device="cpu", model_kwargs=dict(_EAGER))
        named = {"prompt_name": case.options["prompt"]} if "prompt" in case.options else {}
        return {"vectors": [_rounded(model.encode(text, show_progress_bar=False, **named)) for text in texts]}
    return {"vectors": [_rounded(vector) for vector in _bare(folder, case.options["pooling"], texts)]}


def _bare(folder: Path, pooling: str, texts: list[str]) -> Any:
    model = transformers.AutoModel.from_pretrained(folder, **_EAGER).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    mode = {"mean_sqrt_len": "mean_sqrt_len_tokens"}.get(pooling, pooling)
    pool = None if pooling == "pooler" else Pooling(model.config.hidden_size, pooling_mode=mode)
    for text in texts:
        row = tokenizer(text, truncation=True, max_length=_longest(tokenizer), return_tensors="pt")
        with torch.no_grad():
            found = model(**row)
        if pool is None:
            yield found.pooler_output[0].numpy()
        else:
            features = {"token_embeddings": found.last_hidden_state, "attention_mask": row["attention_mask"].clone()}
            yield pool(features)["sentence_embedding"][0].numpy()


def _entities(case: Case, folder: Path, texts: list[str], pairs: list[str] | None) -> dict[str, Any]:
    """Entities as the pipeline aggregates them, and the tokens that it made them of, with the scores of every tag."""
    model = transformers.AutoModelForTokenClassification.from_pretrained(folder, **_EAGER).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    pipelines = {
        strategy: [_aggregated(model, tokenizer, strategy, text) for text in texts]
        for strategy in ("simple", "first", "average")
    }
    return {
        "names": [model.config.id2label[index] for index in range(model.config.num_labels)],
        "is_aware": bool(getattr(tokenizer.backend_tokenizer.model, "continuing_subword_prefix", None)),
        "tokens": [_tokens(model, tokenizer, text) for text in texts],
        "pipelines": pipelines,
    }


def _aggregated(model: Any, tokenizer: Any, strategy: str, text: str) -> list[list[Any]]:
    pipe = transformers.pipeline(
        "token-classification", model=model, tokenizer=tokenizer, aggregation_strategy=strategy, device="cpu"
    )
    return [
        [int(one["start"]), int(one["end"]), one["entity_group"], *_rounded([one["score"]])]
        for one in (pipe(text) if text else [])
    ]


def _tokens(model: Any, tokenizer: Any, text: str) -> list[list[Any]]:
    """Of every token its characters, its word's number, the name of its tag and its score."""
    given = {"truncation": True, "max_length": _longest(tokenizer), "return_special_tokens_mask": True}
    row = tokenizer(text, return_offsets_mapping=True, return_tensors="pt", **given)
    named = {name: row[name] for name in tokenizer.model_input_names if name in row}
    with torch.no_grad():
        scores = model(**named).logits[0].softmax(-1).numpy()
    offsets, specials = row["offset_mapping"][0].tolist(), row["special_tokens_mask"][0].tolist()
    found = zip(offsets, row.word_ids(0), scores, specials, strict=True)
    return [
        [*span, word, model.config.id2label[int(line.argmax())], *_rounded([line.max()])]
        for span, word, line, is_special in found
        if not is_special
    ]


_ANSWERS = {
    "classification": _classification,
    "relevance": _relevance,
    "vectors": _vectors,
    "entities": _entities,
}
