"""Made the files beside it, once, with the Paddle that wrote `.pdmodel`: today's cannot write them any more.

python3.11 -m venv old && old/bin/pip install paddlepaddle==2.6.2 paddlenlp==2.8.1 "aistudio-sdk<0.3" "numpy<1.27" \
    "setuptools<81" "datasets<4" "pyarrow<20" "protobuf<3.21" "huggingface_hub<0.24" "transformers<4.41"
old/bin/python tests/testdata/pdmodel/make.py
"""

import zlib  # noqa: F401  # before Paddle, whose own zlib would shadow Python's
from pathlib import Path

import paddle
from paddlenlp.transformers import ErnieConfig, ErnieForSequenceClassification, ErnieTokenizer

FOLDER = Path(__file__).parent


def vocabulary() -> list[str]:
    """Chinese characters, Latin letters, digits and punctuation."""
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    characters = [chr(code) for code in range(0x4E00, 0x4E00 + 500)]
    special = ["[PAD]", "[CLS]", "[SEP]", "[MASK]", "[UNK]"]
    return [*special, *characters, *"，。！？、的好", *letters, *(f"##{letter}" for letter in letters)]


def forget_paths(path: Path) -> None:
    """Take out of the graph where on the machine each operator's Python stands."""
    graph = paddle.base.core.ProgramDesc(path.read_bytes())
    block = graph.block(0)
    for index in range(block.op_size()):
        block.op(index).remove_attr("op_callstack")
    path.write_bytes(graph.serialize_to_string())


def main() -> None:
    """Write an ERNIE of one layer with random weights as PaddleNLP 2.8's export does."""
    words = vocabulary()
    (FOLDER / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    paddle.seed(7)
    config = ErnieConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=48,
        initializer_range=0.5,
        num_labels=3,
    )
    model = ErnieForSequenceClassification(config)
    model.eval()
    names = ("input_ids", "token_type_ids")
    specs = [paddle.static.InputSpec([None, None], "int64", name) for name in names]
    paddle.jit.save(paddle.jit.to_static(model, input_spec=specs), str(FOLDER / "model"))
    forget_paths(FOLDER / "model.pdmodel")
    ErnieTokenizer(str(FOLDER / "vocab.txt"), model_max_length=512).save_pretrained(str(FOLDER))


if __name__ == "__main__":
    main()
