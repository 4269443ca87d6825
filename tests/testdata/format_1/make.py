"""Wrote `models` and `releases` beside it, once, with the code as it stood before configs said their family.

git worktree add ../before 49f49a8 && cd ../before
TRIREME_ACTOR=tester@host python ../trireme/tests/testdata/format_1/make.py FOLDER

Git keeps no empty folders, so each has a `.gitkeep`; Triton takes no notice of it.
"""

import shutil
import sys
from dataclasses import replace
from pathlib import Path

from converters.export import EncoderSpec, ExportSpec, export
from trireme.promotion.intent import Intent
from trireme.promotion.promoter import promoting
from trireme.promotion.spec import PromotionSpec
from trireme.serving import ServerSpec, start

WORDS = {1: ("negative", "positive"), 2: ("bad", "good"), 3: ("no", "yes")}


def checkpoint(folder: Path, seed: int, words: tuple[str, ...]) -> Path:
    """An ERNIE with random weights, as small as it gets."""
    import paddle
    from paddlenlp.transformers import ErnieConfig, ErnieForSequenceClassification, ErnieTokenizer

    folder.mkdir(parents=True)
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    vocabulary = ["[PAD]", "[CLS]", "[SEP]", "[MASK]", "[UNK]", *"好坏质量物流快慢很不了的用两天就，。！？你您"]
    vocabulary += [*letters, *(f"##{letter}" for letter in letters)]
    vocabulary = list(dict.fromkeys(vocabulary))
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    paddle.seed(seed)
    config = ErnieConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=48,
        initializer_range=0.5,
        id2label=dict(enumerate(words)),
        label2id={word: index for index, word in enumerate(words)},
    )
    ErnieForSequenceClassification(config).save_pretrained(str(folder))
    ErnieTokenizer(str(folder / "vocab.txt"), model_max_length=48).save_pretrained(str(folder))
    return folder


def main(root: Path) -> None:
    """Two pipelines: `chain` with three releases, moved and recorded; `joined` with two and an interrupted move."""
    models = root / "models"
    for release, words in WORDS.items():
        source = checkpoint(root / "checkpoints" / str(release), release, words)
        export(ExportSpec(source, "text-classification", "chain", models, EncoderSpec("onnxruntime")))
        if release < 3:
            export(ExportSpec(source, "text-classification", "joined", models, EncoderSpec("onnxruntime"), instances=1))
    with start(ServerSpec(models, 0, 0, 0)) as server:
        spec = PromotionSpec("chain", models, (server.grpc_url,))
        with promoting(spec) as promoter:
            promoter.stage(2)
            promoter.promote(2)
        spec = PromotionSpec("joined", models, (server.grpc_url,))
        with promoting(spec) as promoter:
            promoter.canary(2, 50)
        before = spec.disk.layout()
    after = replace(before, traffic=replace(before.traffic, percent=75.0))
    spec.intents.write(Intent("canary", before, after, target=2, id="0" * 32))
    shutil.rmtree(root / "checkpoints")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
