"""Measures one exported candidate in a fresh process, so that memory and load time are its own alone."""

import argparse
import json
import re
import resource
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from converters.evaluation import judge, read_evaluation, scores_of
from text_runtime.labels import read_labels
from text_runtime.local import LocalPipeline, text_tensor
from text_runtime.tasks import Tensors
from text_runtime.tensors import TEXT
from trireme.contract import Step
from trireme.repository import Repository

_ROUNDS = 5


def measure(repository: Path, pipeline: str, evaluation: Path) -> dict[str, float]:
    """The figures of `compare.CandidateRow` for release 1 of a pipeline."""
    folders = {step.value: Repository(repository).step_folder(pipeline, step) / "1" for step in Step}
    manifest = Repository(repository).manifest(pipeline, 1)
    before_kib, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    local = LocalPipeline(folders, manifest)
    load_s = time.perf_counter() - start
    labelled = read_evaluation(evaluation, read_labels(folders["postprocess"], manifest.width).names, 100.0)
    rows = [{TEXT.name: text_tensor([text])} for text in labelled.columns[TEXT.name]]
    found = scores_of(local, labelled)
    verdicts = {row.gate: row.detail for row in manifest.gates}
    sizes = [path.stat().st_size for path in folders["encoder"].iterdir() if path.name != "manifest.json"]
    return {
        "size_bytes": sum(sizes),
        "load_s": load_s,
        "memory_mib": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kib) / 1024,
        "one_row_ms": 1e3 * _seconds(local, rows, 1),
        "batch_ms": 1e3 * _seconds(local, rows, 32),
        "texts_per_s": 64 / _seconds(local, rows, 64),
        "accuracy": judge(found.answers, labelled.labels).accuracy,
        "agreement": float(re.findall(r"^([\d.]+)%", verdicts["agreement"])[0]) / 100,
        "drop_points": float(re.findall(r"([+-][\d.]+) points", verdicts["metric"])[0]),
    }


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
    """Measure, and write the figures as JSON to stdout."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", type=Path)
    parser.add_argument("pipeline")
    parser.add_argument("evaluation", type=Path)
    options = parser.parse_args()
    sys.stdout.write(json.dumps(measure(options.repository, options.pipeline, options.evaluation)))


if __name__ == "__main__":
    main()
