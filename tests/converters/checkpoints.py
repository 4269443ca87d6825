"""Small checkpoints with random weights, one for any registered architecture, made by the tests that need them."""

import json
import random
from pathlib import Path
from typing import Any

from converters.corpus import generated_texts
from converters.paddle_runtime import import_paddlenlp
from converters.sources.architectures import ALBERT, ARCHITECTURES, ELECTRA, ERNIE_M, XLM_ROBERTA, Head

TEXTS = (
    "the quick brown fox",
    "jumps over 12 lazy dogs",
    "很好的酒店",
    "服务很差，价格贵",
    "Straße und Äpfel",
    "日本語のテキスト",
)
LABELS = {"0": "O", "1": "B-X", "2": "I-X"}
_SIZES = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": 66,
}
_EXTRAS: dict[str, dict[str, Any]] = {
    ALBERT.prefix: {"embedding_size": 16, "num_hidden_groups": 1},
    ELECTRA.prefix: {"embedding_size": 16},
    ERNIE_M.prefix: {"pad_token_id": 1},
    XLM_ROBERTA.prefix: {"pad_token_id": 1, "type_vocab_size": 1},
}
_WORDPIECE_TOKENIZERS = {
    "Albert": "BertTokenizer",
    "ErnieM": "BertTokenizer",
    "Roberta": "RobertaChineseTokenizer",
    "XLMRoberta": "BertTokenizer",
}


def write_checkpoint(folder: Path, name: str) -> Path:
    """A PaddleNLP checkpoint of that architecture; token-level and class heads have three labels."""
    prefix = ARCHITECTURES[name].family.prefix
    make_model(name, len(write_vocabulary(folder, pad_of(name)))).save_pretrained(str(folder))
    write_tokenizer_config(folder, _WORDPIECE_TOKENIZERS.get(prefix) or f"{prefix}Tokenizer")
    return folder


def pad_of(name: str) -> int:
    return int(_EXTRAS.get(ARCHITECTURES[name].family.prefix, {}).get("pad_token_id", 0))


def make_model(name: str, words: int) -> Any:
    """A PaddleNLP model of that architecture with weights from a fixed seed, in evaluation mode."""
    import paddle

    transformers = import_paddlenlp()

    architecture = ARCHITECTURES[name]
    prefix = architecture.family.prefix
    paddle.seed(0)
    config = getattr(transformers, f"{prefix}Config")(vocab_size=words, **(_SIZES | _EXTRAS.get(prefix, {})))
    if architecture.head in {Head.CLASSES, Head.TOKENS}:
        config.num_labels = len(LABELS)
        config.id2label = {int(index): label for index, label in LABELS.items()}
    model = getattr(transformers, name)(config)
    sharpen(model)
    model.eval()
    return model


def write_static(folder: Path, name: str) -> Path:
    """A graph as PaddleNLP's own export writes it: the bare model traced, its tokenizer beside, no config."""
    import paddle

    model = make_model(name, len(write_vocabulary(folder)))
    inputs = [key for key in ARCHITECTURES[name].inputs if key != "attention_mask"]
    specs = [paddle.static.InputSpec([None, None], "int64", key) for key in inputs]
    paddle.jit.save(paddle.jit.to_static(model, input_spec=specs), str(folder / "model"))
    write_tokenizer_config(folder, f"{ARCHITECTURES[name].family.prefix}Tokenizer")
    return folder


def sharpen(model: Any) -> None:
    """Random weights of the usual size make every answer alike: larger ones show a mistake."""
    import paddle

    for parameter in model.parameters():
        if parameter.ndim > 1:
            parameter.set_value(paddle.randn(parameter.shape) * 0.15)


def write_vocabulary(folder: Path, pad: int = 0) -> list[str]:
    """A WordPiece vocabulary of single characters and some of their continuations; `pad` is the id of `[PAD]`."""
    folder.mkdir(parents=True, exist_ok=True)
    characters = sorted({character for text in (*generated_texts(200), *TEXTS) for character in text.lower()})
    kept = random.Random(0).sample([c for c in characters if not c.isspace()], 600)
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    special = ["[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    special.insert(pad, "[PAD]")
    words = [*special, *letters, *(f"##{c}" for c in letters), "the", "fox", "##mp"]
    vocabulary = list(dict.fromkeys([*words, *kept]))
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    return vocabulary


def write_tokenizer_config(folder: Path, kind: str, **more: object) -> None:
    """The `tokenizer_config.json` that names the tokenizer's class."""
    settings = {"tokenizer_class": kind, "model_max_length": 512, **more}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
