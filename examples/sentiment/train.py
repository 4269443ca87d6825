"""Train the demo's sentiment model from nothing, and write its checkpoint, its texts and its scores."""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from examples.sentiment import texts
from examples.sentiment.batches import Ids
from examples.sentiment.corpus import Review, Split, read_reviews, split_reviews
from examples.sentiment.evaluation import Score, score
from examples.sentiment.recipe import Recipe

HERE = Path(__file__).parent
SERVED_LENGTH = 128
_REHEARSAL_SIZE = 2000


@dataclass(frozen=True)
class Metrics:
    """What the training measured, as written to `metrics.json`."""

    training_reviews: int
    heldout_reviews: int
    training_seconds: int
    heldout: Score
    heldout_at_128_tokens: Score
    test_tsv_at_128_tokens: Score
    linear_model_heldout: Score
    recipe: Recipe


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, train, write."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.rehearse and options.output.resolve() == HERE.resolve():
        parser.error("--rehearse needs another --output: it must not replace the demo's checkpoint")
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(message)s", force=True)
    os.environ.setdefault("OMP_NUM_THREADS", str(options.threads))
    split = split_reviews(read_reviews())
    if options.rehearse:
        split = split_reviews(list(split.training), _REHEARSAL_SIZE)
    metrics = train(split, Recipe(seed=options.seed), options.output / "checkpoint")
    report = json.dumps(asdict(metrics), indent=2)
    if not options.rehearse:
        texts.write_texts(split.heldout, options.output)
        (options.output / "metrics.json").write_text(report + "\n", encoding="utf-8")
    sys.stdout.write(report + "\n")


def train(split: Split, recipe: Recipe, folder: Path) -> Metrics:
    """Learn from `split.training`, write the checkpoint into `folder`, and score it on `split.heldout`."""
    from examples.sentiment import checkpoint, training

    started = time.monotonic()
    trained = training.train_classifier(split.training, recipe, folder)
    seconds = round(time.monotonic() - started)
    checkpoint.save(trained.model, folder)
    labels = label_ids(split.heldout)
    whole = trained.predict(split.heldout, recipe.shape.max_length)
    short = trained.predict(split.heldout, SERVED_LENGTH)
    test = slice(0, texts.TEST_SIZE)
    return Metrics(
        training_reviews=len(split.training),
        heldout_reviews=len(split.heldout),
        training_seconds=seconds,
        heldout=score(whole, labels),
        heldout_at_128_tokens=score(short, labels),
        test_tsv_at_128_tokens=score(short[test], labels[test]),
        linear_model_heldout=score_linear_model(split),
        recipe=recipe,
    )


def score_linear_model(split: Split) -> Score:
    """The bigram model on the same split."""
    from examples.sentiment.teacher import bigram_model

    model = bigram_model().fit([review.text for review in split.training], label_ids(split.training))
    return score(model.predict([review.text for review in split.heldout]), label_ids(split.heldout))


def label_ids(reviews: Sequence[Review]) -> Ids:
    """The reviews' labels as numbers [reviews]."""
    return np.asarray([review.label_id for review in reviews], dtype=np.int64)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m examples.sentiment.train",
        description=__doc__,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        epilog="Needs no network. On an AMD processor set MKL_DEBUG_CPU_TYPE=5: Paddle's matrix products, which take "
        "a slow path there, become about twice as fast.",
    )
    parser.add_argument(
        "--output", type=Path, default=HERE, help="folder for checkpoint/, test.tsv, reviews.txt and metrics.json"
    )
    parser.add_argument(
        "--rehearse",
        action="store_true",
        help="to judge a change of the recipe: score on 2,000 of the training reviews, which are then not learnt "
        "from, and leave the held-out reviews alone; writes the checkpoint only, so give another --output",
    )
    parser.add_argument("--seed", type=int, default=Recipe().seed, help="decides the start and the order of learning")
    parser.add_argument("--threads", type=int, default=1, help="processor cores to use; one makes runs repeatable")
    return parser


if __name__ == "__main__":
    main()
