"""Measures one exported candidate in a fresh process, so that memory and load time are its own alone."""

import argparse
import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from converters.evaluation import metric_of
from text_runtime.local import LocalPipeline, text_tensor
from text_runtime.manifest import EncoderManifest
from text_runtime.tasks import Tensors, task
from text_runtime.tasks.label_files import read_labels
from text_runtime.tensors import TEXT
from trireme.contract.repository import Repository

_ROUNDS = 5
_ROWS = 64


@dataclass(frozen=True)
class Figures:
    """What a candidate costs: times are of all three steps in one process, on all usable cores."""

    size_bytes: int
    load_s: float
    memory_mib: float
    one_row_ms: float
    batch_ms: float
    texts_per_s: float


def measure(repository: Path, pipeline: str, evaluation: Path) -> Figures:
    """Measure release 1 of a pipeline on the texts of an evaluation file."""
    folders = Repository(repository).release_folders(pipeline, 1)
    manifest = Repository(repository).encoder_manifest(pipeline, 1)
    before_kib, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    local = LocalPipeline(folders, manifest)
    local.warm_up()
    load_s = time.perf_counter() - start
    memory_mib = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kib) / 1024
    rows = _rows(folders["postprocess"], manifest, evaluation)
    return Figures(
        size_bytes=sum(path.stat().st_size for path in folders["encoder"].iterdir() if path.name != "manifest.json"),
        load_s=load_s,
        memory_mib=memory_mib,
        one_row_ms=1e3 * _seconds(local, rows, 1),
        batch_ms=1e3 * _seconds(local, rows, 32),
        texts_per_s=_ROWS / _seconds(local, rows, _ROWS),
    )


def _rows(labels_folder: Path, manifest: EncoderManifest, evaluation: Path) -> list[Tensors]:
    """The labelled texts as requests of one row, repeated to at least as many as the largest measurement wants."""
    has_labels = task(manifest.task).has_labels
    names = read_labels(labels_folder, manifest.width).names if has_labels else ()
    columns = metric_of(manifest.task).read(evaluation, names).columns
    columns = {
        name: columns[name] for name in columns if name in {tensor.name for tensor in task(manifest.task).inputs}
    }
    count = len(columns[TEXT.name])
    rows: list[Tensors] = [
        {name: text_tensor([texts[index]]) for name, texts in columns.items()} for index in range(count)
    ]
    return rows * -(-2 * _ROWS // count)


def _seconds(local: LocalPipeline, rows: Sequence[Tensors], size: int) -> float:
    """Median seconds of one call with so many rows, over texts of all lengths."""
    pieces = [rows[start : start + size] for start in range(0, len(rows) - size, size)][: _ROUNDS * 8]
    times = []
    for _ in range(_ROUNDS):
        start = time.perf_counter()
        for piece in pieces:
            local(piece)
        times.append((time.perf_counter() - start) / len(pieces))
    return sorted(times)[len(times) // 2]


def main() -> None:
    """Measure, and write the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", type=Path)
    parser.add_argument("pipeline")
    parser.add_argument("evaluation", type=Path)
    options = parser.parse_args()
    figures = measure(options.repository, options.pipeline, options.evaluation)
    sys.stdout.buffer.write(orjson.dumps(asdict(figures)))


if __name__ == "__main__":
    main()
