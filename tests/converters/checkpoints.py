"""Small checkpoints with random weights, one for any registered architecture, made by the tests that need them."""

import json
import random
from pathlib import Path
from typing import Any

from converters.corpus import generated_texts
from converters.sources.architectures import ALBERT, ARCHITECTURES, ELECTRA, ERNIE_M, ROBERTA, XLM_ROBERTA, Head

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
_WORDPIECE_TOKENIZERS = {"Albert": "BertTokenizer", "Roberta": "RobertaChineseTokenizer"}


def write_checkpoint(folder: Path, name: str, words: int | None = None, tokenizer: str | None = None) -> Path:
    """A PaddleNLP checkpoint of that architecture; token-level and class heads have three labels."""
    import paddle
    import paddlenlp.transformers as transformers

    architecture = ARCHITECTURES[name]
    prefix = architecture.family.prefix
    size = words or len(write_vocabulary(folder))
    paddle.seed(0)
    config = getattr(transformers, f"{prefix}Config")(vocab_size=size, **(_SIZES | _EXTRAS.get(prefix, {})))
    if architecture.head in {Head.CLASSES, Head.TOKENS}:
        config.num_labels = len(LABELS)
        config.id2label = {int(index): label for index, label in LABELS.items()}
    model = getattr(transformers, name)(config)
    sharpen(model)
    model.save_pretrained(str(folder))
    if words is None:
        kind = tokenizer or _WORDPIECE_TOKENIZERS.get(prefix) or f"{prefix}Tokenizer"
        write_tokenizer_config(folder, kind)
    return folder


def sharpen(model: Any) -> None:
    """Random weights of the usual size make every answer alike: larger ones show a mistake."""
    import paddle

    for parameter in model.parameters():
        if parameter.ndim > 1:
            parameter.set_value(paddle.randn(parameter.shape) * 0.15)


def write_vocabulary(folder: Path) -> list[str]:
    """A WordPiece vocabulary of single characters and some of their continuations."""
    folder.mkdir(parents=True, exist_ok=True)
    characters = sorted({character for text in (*generated_texts(200), *TEXTS) for character in text.lower()})
    kept = random.Random(0).sample([c for c in characters if not c.isspace()], 600)
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{c}" for c in letters), "the", "fox", "##mp"]
    vocabulary = list(dict.fromkeys([*words, *kept]))
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    return vocabulary


def write_tokenizer_config(folder: Path, kind: str, **more: object) -> None:
    """The `tokenizer_config.json` that names the tokenizer's class."""
    settings = {"tokenizer_class": kind, "init_class": kind, "model_max_length": 512, **more}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))


__all__ = ["LABELS", "ROBERTA", "TEXTS", "sharpen", "write_checkpoint", "write_tokenizer_config", "write_vocabulary"]
