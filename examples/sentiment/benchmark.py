"""`make bench`: the demo and a large random model, each against its ceiling and its peers, in one run.

Prints tables and writes JSON and HTML into `reports/`.
"""

import logging
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.console import Console

from converters import paddle_runtime
from converters.export import EncoderSpec, ExportSpec, export
from examples.sentiment.large import write_large_checkpoint
from loadtest.bench import report
from loadtest.bench.behaviour import measure_behaviour, measure_start
from loadtest.bench.behaviour import table as behaviour_table
from loadtest.bench.run import BenchSpec, run
from loadtest.bench.target import Target, triton_body, triton_target
from loadtest.peers.launch import PeerFiles, peers
from loadtest.peers.usual_triton import write_usual_layout
from serving import Server, ServerSpec, start
from trireme.repository import Repository

HERE = Path(__file__).parent
REPORTS = HERE.parents[1] / "reports"
_MAX_LENGTH = 128
_stdout = Console(width=160)
_log = logging.getLogger(__name__)


def main(
    rounds: int = 3,
    seconds: float = 5.0,
    models: str = "demo,large",
    concurrencies: str = "1,8,64",
    releases: str = "onnxruntime:fp32,onnxruntime:int8,openvino:bf16",
) -> None:
    """Measure every model's releases (engine:precision), its ceiling and its peers."""
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(message)s")
    REPORTS.mkdir(exist_ok=True)
    wanted = tuple(int(number) for number in concurrencies.split(","))
    for model in models.split(","):
        with tempfile.TemporaryDirectory(prefix="trireme-bench-") as folder:
            _bench(model, Path(folder), releases.split(","), BenchPlan(wanted, rounds, seconds))


class BenchPlan:
    """How long and how often to measure."""

    def __init__(self, concurrencies: tuple[int, ...], rounds: int, seconds: float) -> None:
        self.concurrencies = concurrencies
        self.rounds = rounds
        self.seconds = seconds

    def spec(self, repository: Path, pipeline: str) -> BenchSpec:
        """The plan for one pipeline, whose release 1 is the ceiling's."""
        corpus = HERE / "reviews.txt"
        return BenchSpec(repository, pipeline, 1, corpus, self.concurrencies, self.rounds, self.seconds)


def _bench(model: str, folder: Path, releases: list[str], plan: BenchPlan) -> None:
    checkpoint = HERE / "checkpoint" if model == "demo" else write_large_checkpoint(folder / "large")
    repository = folder / "models"
    names = [_export(checkpoint, repository, release) for release in releases]
    files = _peer_files(checkpoint, repository, names[0], folder)
    write_usual_layout(repository, names[0], files.onnx)
    spec = plan.spec(repository, names[-1])
    with _served(repository, (*names, "usual")) as server:
        usual = Target("Triton, usual layout", server.http_url, "/v2/models/usual/infer", triton_body, server.pid)
        addresses = (server.pid, server.http_url, server.grpc_url, server.metrics_url)
        ours = [triton_target(name, *addresses) for name in names]
        _log.info("behaviour of %s", names[-1])
        behaviours = [measure_start(ours[-1], spec.texts()), *measure_behaviour(spec, ours[-1])]
        with peers(files) as others:
            measurements = run(spec, [*ours, usual, *others], _log.info)
    for table in (*report.tables(measurements), behaviour_table(behaviours, f"{model}, {ours[-1].name}")):
        _stdout.print(table)
    report.write_json(spec, measurements, REPORTS / f"bench-{model}.json")
    report.write_html(spec, measurements, REPORTS / f"bench-{model}.html")


def _export(checkpoint: Path, repository: Path, release: str) -> str:
    engine, precision = release.split(":")
    name = f"{engine}_{precision}"
    if not Repository(repository).releases(name):
        encoder = EncoderSpec(engine, precision)
        export(ExportSpec(checkpoint, "text-classification", name, repository, encoder, max_length=_MAX_LENGTH))
    return name


@contextmanager
def _served(repository: Path, names: tuple[str, ...]) -> Iterator[Server]:
    with start(ServerSpec(repository, 0, 0, 0, pipelines=names)) as server:
        yield server


def _peer_files(checkpoint: Path, repository: Path, name: str, folder: Path) -> PeerFiles:
    static = folder / "static"
    static.mkdir()
    onnx = repository / f"{name}_encoder" / "1" / "model.onnx"
    model, _ = paddle_runtime.load_model(checkpoint, checkpoint, "ErnieForSequenceClassification")
    paddle_runtime.write_static(model, ("input_ids", "token_type_ids"), static / "static")
    return PeerFiles(checkpoint, static, onnx, repository / f"{name}_tokenizer" / "1" / "tokenizer.json", _MAX_LENGTH)


if __name__ == "__main__":
    typer.run(main)
