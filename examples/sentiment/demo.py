"""The main job on real input: checkpoint to release, release to a running Triton, five reviews to five labels."""

import csv
import logging
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from converters.export import EncoderSpec, ExportSpec, export
from trireme.admin import Administrator, Endpoint
from trireme.client import Client
from trireme.client.answers import shortened
from trireme.contract.pipelines import CHAIN
from trireme.contract.repository import Repository
from trireme.serving import ServerSpec, start

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1] / "model_repository"
PIPELINE = "sentiment"
_REVIEWS = 5
_stdout = Console(width=max(110, Console().width))


def main() -> int:
    """Run the demo; gives the exit code."""
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(message)s")
    logging.getLogger("converters").setLevel(logging.INFO)
    ensure_release()
    reviews = first_reviews(_REVIEWS)
    with start(ServerSpec(REPOSITORY, http_port=0, grpc_port=0, metrics_port=0, pipelines=(PIPELINE,))) as server:
        _stdout.print(_ask(server.grpc_url, reviews))
    return 0


def ensure_release() -> None:
    """Export the checkpoint unless a release of it is there already."""
    if not Repository(REPOSITORY).releases(PIPELINE):
        export(ExportSpec(HERE / "checkpoint", "text-classification", PIPELINE, REPOSITORY, EncoderSpec("openvino")))


def first_reviews(count: int) -> list[str]:
    """The first held-out reviews of `test.tsv`."""
    with (HERE / "test.tsv").open(encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [row["text"] for row, _ in zip(rows, range(count), strict=False)]


def _ask(grpc_url: str, reviews: list[str]) -> Table:
    times = (f"{step.value} ms" for step in CHAIN)
    table = Table("text", "label", "score", *times, title="sentiment, served by Triton")
    address = f"grpc://{grpc_url}"
    with Administrator(Endpoint(grpc_url)) as admin, Client(address, PIPELINE) as client:
        for review in reviews:
            before = _step_seconds(admin)
            (answer,) = client.classify([review])
            spent = [after - earlier for after, earlier in zip(_step_seconds(admin), before, strict=True)]
            times = (f"{1e3 * seconds:.2f}" for seconds in spent)
            table.add_row(shortened(review), answer.label, f"{answer.score:.4f}", *times)
    return table


def _step_seconds(admin: Administrator) -> list[float]:
    """Seconds that each step has spent so far, queueing included, by Triton's own statistics."""
    counts = admin.statistics()
    return [counts[step.model_name(PIPELINE)].success_ns / 1e9 for step in CHAIN]


if __name__ == "__main__":
    sys.exit(main())
