"""The in-process ceiling: the same tokenizer, engine and decoder without any server, in a process of its own.

Texts are taken in windows of the concurrency, since a server cannot batch more than what is in flight; within a window
they are sorted and cut exactly as the encoder step does it.
"""

import argparse
import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from text_runtime.batching import BatchingSettings
from text_runtime.encoder import EncoderRequest, TextEncoder
from text_runtime.engines import load_engine
from text_runtime.labels import read_labels
from text_runtime.manifest import read_manifest
from text_runtime.sizing import engine_spec
from text_runtime.tasks import task
from text_runtime.tokenizer import TextTokenizer
from trireme.contract import Step


@dataclass(frozen=True)
class Ceiling:
    """How fast a release runs without a server; `engine_ms` is the engine's own time for one text of a window of 1."""

    texts_per_s: float
    cpu_ms_per_text: float
    engine_ms: float


def measure(repository: Path, pipeline: str, release: int, corpus: Path, window: int, seconds: float) -> Ceiling:
    """Measure in a fresh process, so that nothing of this one is in the way."""
    arguments = [str(repository), pipeline, str(release), str(corpus), str(window), str(seconds)]
    command = [sys.executable, "-m", "loadtest.bench.ceiling", *arguments]
    return Ceiling(**json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


class _Pipeline:
    def __init__(self, repository: Path, pipeline: str, release: int) -> None:
        folders = {step.value: repository / step.model_name(pipeline) / str(release) for step in Step}
        manifest = read_manifest(folders["encoder"])
        spec = engine_spec(folders["encoder"], manifest.encoder, {})
        self._tokenizer = TextTokenizer(folders["tokenizer"], manifest.tokenizer)
        self._encoder = TextEncoder(load_engine(spec), manifest, BatchingSettings(), spec.workers)
        self._encoder.warm_up()
        self._decoder = task(manifest.task).decoder(read_labels(folders["postprocess"], manifest.width))
        self.engine_s = 0.0

    def __call__(self, texts: list[str]) -> None:
        rows = self._tokenizer.encode(texts)
        requests = [EncoderRequest(np.array([row.ids]), np.array([[len(row.ids)]], np.int32)) for row in rows]
        outputs: dict[int, npt.NDArray[Any]] = {}
        self.engine_s += self._encoder.run(requests, outputs.__setitem__, False).engine_s
        self._decoder([{"logits": outputs[index]} for index in range(len(rows))])


def _run(pipeline: _Pipeline, texts: list[str], window: int, seconds: float) -> Ceiling:
    pipeline(texts[:window])
    pipeline.engine_s, count = 0.0, 0
    cpu, start = time.process_time(), time.perf_counter()
    while (spent := time.perf_counter() - start) < seconds:
        first = count % (len(texts) - window + 1)
        pipeline(texts[first : first + window])
        count += window
    return Ceiling(count / spent, 1e3 * (time.process_time() - cpu) / count, 1e3 * pipeline.engine_s / count)


def main() -> None:
    """Measure one ceiling and write it as JSON to stdout."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", type=Path)
    parser.add_argument("pipeline")
    parser.add_argument("release", type=int)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("window", type=int)
    parser.add_argument("seconds", type=float)
    options = parser.parse_args()
    texts = [line for line in options.corpus.read_text(encoding="utf-8").split("\n") if line]
    pipeline = _Pipeline(options.repository, options.pipeline, options.release)
    found = _run(pipeline, texts, options.window, options.seconds)
    sys.stdout.write(json.dumps(found.__dict__))


if __name__ == "__main__":
    main()
