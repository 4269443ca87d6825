"""The in-process ceiling: the same tokenizer, engine and decoder without any server, in a process of its own.

Texts are taken in windows of the concurrency, since a server cannot batch more than what is in flight; within a window
they are sorted and cut exactly as the encoder step does it.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from text_runtime.local import LocalPipeline, text_tensor
from text_runtime.manifest import read_encoder_manifest
from text_runtime.tensors import TEXT
from trireme.contract.repository import Repository
from trireme.machine.allocator import with_allocator


@dataclass(frozen=True)
class Ceiling:
    """How fast a release runs without a server; `engine_ms` is the engine's own time for one text of a window of 1."""

    texts_per_s: float
    cpu_ms_per_text: float
    engine_ms: float


def measure(repository: Path, pipeline: str, release: int, corpus: Path, window: int, seconds: float) -> Ceiling:
    """Measure in a fresh process, so that nothing of this one is in the way; it allocates as a server does."""
    arguments = [str(repository), pipeline, str(release), str(corpus), str(window), str(seconds)]
    command = [sys.executable, "-m", "loadtest.bench.ceiling", *arguments]
    environment = with_allocator(os.environ)
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return Ceiling(**json.loads(done.stdout))


def _run(pipeline: LocalPipeline, texts: list[str], window: int, seconds: float) -> Ceiling:
    pipeline.warm_up()
    requests = [{TEXT.name: text_tensor([text])} for text in texts]
    pipeline(requests[:window])
    begun_s, count = pipeline.work.engine_s, 0
    cpu, start = time.process_time(), time.perf_counter()
    while (spent := time.perf_counter() - start) < seconds:
        first = count % (len(texts) - window + 1)
        pipeline(requests[first : first + window])
        count += window
    cpu_s, engine_s = time.process_time() - cpu, pipeline.work.engine_s - begun_s
    return Ceiling(count / spent, 1e3 * cpu_s / count, 1e3 * engine_s / count)


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
    folders = Repository(options.repository).release_folders(options.pipeline, options.release)
    pipeline = LocalPipeline(folders, read_encoder_manifest(folders["encoder"]))
    found = _run(pipeline, texts, options.window, options.seconds)
    sys.stdout.write(json.dumps(found.__dict__))


if __name__ == "__main__":
    main()
