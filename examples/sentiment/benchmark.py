"""`make bench`: the demo and a larger model, each against its ceiling and its peers, in one run.

Prints tables and writes JSON and HTML into `reports/`.
"""

import logging
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from converters import paddle_runtime
from converters.evaluation import EvaluationSpec
from converters.export import EncoderSpec, ExportSpec, export
from examples.sentiment.large import write_large_checkpoint
from loadtest.bench import report
from loadtest.bench.behaviour import measure_behaviour, measure_start
from loadtest.bench.behaviour import table as behaviour_table
from loadtest.bench.run import BenchSpec, run
from loadtest.bench.target import Target, triton_body, triton_target
from loadtest.peers.launch import PeerFiles, peers
from loadtest.peers.usual_triton import write_usual_layout
from text_runtime.encoder.cpu import usable_cores
from trireme.contract.repository import Repository
from trireme.serving import Server, ServerSpec, start

HERE = Path(__file__).parent
REVIEWS = HERE / "reviews.txt"
REPORTS = HERE.parents[1] / "reports"
_MAX_LENGTH = 128
_CALIBRATION_TEXTS = 300
_RELEASES = {
    "demo": "onnxruntime:fp32,openvino:bf16,onnxruntime:int8,onnxruntime:int8:joined",
    "large": "onnxruntime:fp32,openvino:bf16,openvino:int8",
}
"""What is measured of each model; the last is the one that the peers are to be compared with."""

_stdout = Console(width=160)
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Rounds:
    """What is measured of every model, how long and how often."""

    concurrencies: tuple[int, ...]
    rounds: int
    seconds: float

    def spec(self, repository: Path, pipeline: str) -> BenchSpec:
        """The plan for one pipeline, whose release 1 is the ceiling's."""
        return BenchSpec(repository, pipeline, 1, REVIEWS, self.concurrencies, self.rounds, self.seconds)


def main(
    rounds: int = 3,
    seconds: float = 5.0,
    models: str = "demo,large",
    concurrencies: str = "1,8,64",
    releases: Annotated[str, typer.Option(help="`engine:precision`, also with `:joined`, separated by commas.")] = "",
) -> None:
    """Measure every model's releases, their ceilings and the peers; of the last release its behaviour too."""
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(message)s")
    plan = Rounds(tuple(int(number) for number in concurrencies.split(",")), rounds, seconds)
    for model in models.split(","):
        with tempfile.TemporaryDirectory(prefix="trireme-bench-") as folder:
            _bench(model, Path(folder), (releases or _RELEASES[model]).split(","), plan)


def _bench(model: str, folder: Path, releases: list[str], plan: Rounds) -> None:
    checkpoint = HERE / "checkpoint" if model == "demo" else write_large_checkpoint(folder / "large")
    repository = folder / "models"
    judged = Table("release", "MiB", "labels as fp32", "accuracy", "points lost", title=f"{model} on test.tsv")
    names = [_export(checkpoint, repository, release, judged) for release in releases]
    files = _peer_files(checkpoint, repository, names[0], folder)
    write_usual_layout(repository, names[0], files.onnx)
    spec = plan.spec(repository, names[-1])
    with _served(repository, (*names, "usual")) as server, _served(repository, (names[-1],), False) as bare:
        usual = Target("Triton, usual layout", server.http_url, "/v2/models/usual/infer", triton_body, server.pid)
        ours = [triton_target(name, server) for name in names]
        unsummarized = replace(triton_target(names[-1], bare), name=f"{ours[-1].name}, no summaries")
        _log.info("behaviour of %s", names[-1])
        behaviours = [*measure_start(ours[-1], spec.texts()), *measure_behaviour(spec, ours[-1])]
        with peers(files) as others:
            measurements = run(spec, [unsummarized, *ours, usual, *others], _log.info)
    behaviour = behaviour_table(behaviours, f"{model}, {ours[-1].name}")
    for table in (judged, *report.tables(measurements), behaviour):
        _stdout.print(table)
    report.write(spec, measurements, REPORTS, model)


def _export(checkpoint: Path, repository: Path, release: str, judged: Table) -> str:
    """Export one release, and note how it does on the labelled reviews: the loss is shown here, not limited."""
    engine, precision, *layout = release.split(":")
    name = release.replace(":", "_")
    encoder = EncoderSpec(engine, precision, calibration=_calibration(repository.parent))
    judge = EvaluationSpec(HERE / "test.tsv", max_drop_points=100.0)
    task, instances = "text-classification", usable_cores() if layout else 0
    found = export(
        ExportSpec(checkpoint, task, name, repository, encoder, judge, max_length=_MAX_LENGTH, instances=instances)
    )
    folder = Repository(repository).release_folders(name, 1)["encoder"]
    size = sum(path.stat().st_size for path in folder.glob("model.*")) / 2**20
    agreement = next((row.value for row in found.gates if row.gate == "agreement"), None)
    figures = found.evaluation
    accuracy = (f"{figures.value:.4f}", f"{figures.drop_points:+.2f}") if figures else ("", "")
    judged.add_row(name, f"{size:.1f}", "" if agreement is None else f"{agreement:.2%}", *accuracy)
    return name


def _calibration(folder: Path) -> Path:
    """The first few hundred reviews, for static quantization."""
    path = folder / "calibration.txt"
    if not path.exists():
        lines = REVIEWS.read_text(encoding="utf-8").split("\n")[:_CALIBRATION_TEXTS]
        path.write_text("\n".join(lines), encoding="utf-8")
    return path


@contextmanager
def _served(repository: Path, names: tuple[str, ...], latency_summaries: bool = True) -> Iterator[Server]:
    with start(ServerSpec(repository, 0, 0, 0, names, latency_summaries=latency_summaries)) as server:
        yield server


def _peer_files(checkpoint: Path, repository: Path, name: str, folder: Path) -> PeerFiles:
    static = folder / "static"
    static.mkdir()
    folders = Repository(repository).release_folders(name, 1)
    model, _ = paddle_runtime.load_model(checkpoint, checkpoint, "ErnieForSequenceClassification")
    paddle_runtime.write_static(model, ("input_ids", "token_type_ids"), static / "static")
    onnx, tokenizer = folders["encoder"] / "model.onnx", folders["tokenizer"] / "tokenizer.json"
    return PeerFiles(checkpoint, static, onnx, tokenizer, _MAX_LENGTH)


if __name__ == "__main__":
    typer.run(main)
