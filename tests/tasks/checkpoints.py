"""Checkpoints with small random weights, one a task, made by the source framework itself."""

from pathlib import Path
from typing import Any

from converters.paddle_runtime import import_paddlenlp

TAGS = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
TOPICS = ("体育", "财经", "科技", "娱乐")
_HEADS: dict[str, tuple[str, tuple[str, ...]]] = {
    "topics": ("ErnieForSequenceClassification", TOPICS),
    "sentiment": ("ErnieForSequenceClassification", ("negative", "neutral", "positive")),
    "pairs": ("ErnieForSequenceClassification", ("different", "same")),
    "rerank": ("ErnieForSequenceClassification", ("relevance",)),
    "tags": ("ErnieForTokenClassification", TAGS),
    "base": ("ErnieModel", ()),
    "uie": ("UIE", ()),
}
NAMES = tuple(_HEADS)
MAX_POSITIONS = 64
# The chance of a random head would be a coin's: too many answers for a table that a person can read.
_UIE_BIAS = -0.35


def vocabulary() -> list[str]:
    """A small WordPiece vocabulary: Chinese characters, Latin pieces, digits, punctuation."""
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    pieces = ["john", "##son", "smith", "paris", "new", "york", "iphone", "##15", "pad", "##dle"]
    return [
        *("[PAD]", "[CLS]", "[SEP]", "[MASK]", "[UNK]"),
        *(chr(code) for code in range(0x4E00, 0x4E00 + 3000)),
        *"，。！？、（）：-.·的",
        *letters,
        *(f"##{letter}" for letter in letters),
        *pieces,
    ]


def make_checkpoint(folder: Path, name: str) -> None:
    """Write one of `NAMES` as PaddleNLP's `save_pretrained` does, with weights from a fixed seed."""
    import paddle

    paddlenlp = import_paddlenlp()

    architecture, labels = _HEADS[name]
    folder.mkdir(parents=True)
    words = list(dict.fromkeys(vocabulary()))
    (folder / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    paddle.seed(7)
    config = paddlenlp.ErnieConfig(
        vocab_size=len(words),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=128,
        max_position_embeddings=MAX_POSITIONS,
        initializer_range=0.3,
        **({"id2label": dict(enumerate(labels))} if labels else {}),
    )
    _model(architecture, config).save_pretrained(str(folder))
    tokenizer = paddlenlp.ErnieTokenizer(str(folder / "vocab.txt"), model_max_length=MAX_POSITIONS)
    tokenizer.save_pretrained(str(folder))


def _model(architecture: str, config: Any) -> Any:
    import paddle

    model = getattr(import_paddlenlp(), architecture)(config)
    if architecture == "UIE":
        for layer in (model.linear_start, model.linear_end):
            layer.bias.set_value(paddle.full([1], _UIE_BIAS))
    return model
