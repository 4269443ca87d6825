"""A candidate's engine as it will be served: in a process of its own, asked by the gates."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from text_runtime.encoder.cpu import usable_cores
from text_runtime.generation.messages import Score, Start, Step, Tokens
from text_runtime.generation.sampling import SamplingParameters
from text_runtime.generation.worker import Order
from text_runtime.generation.worker_process import EngineError, WorkerProcess, WorkerSpec
from text_runtime.manifest import FILE_NAME, GenerationManifest
from trireme.errors import GateError

_CACHE_GIB, _SEQUENCES = 1, 64


class ServedEngine:
    """An engine that is loaded. Every question raises `GateError` where the engine fails it."""

    def __init__(self, worker: WorkerProcess) -> None:
        self._worker = worker
        self._reports = worker.reports()

    def continue_greedily(self, prompts: Sequence[Sequence[int]], new_tokens: int) -> list[list[int]]:
        """Token ids after each prompt, the likeliest each time; the prompts are asked together."""
        sampling = SamplingParameters(max_tokens=new_tokens, temperature=0)
        return self.write([(ids, sampling) for ids in prompts])

    def write(self, asked: Sequence[tuple[Sequence[int], SamplingParameters]]) -> list[list[int]]:
        """The token ids that each prompt is answered with; all are asked together."""
        for number, (ids, sampling) in enumerate(asked):
            self._worker.send(Start(number, list(ids), sampling))
        answers: list[list[int]] = [[] for _ in asked]
        for tokens in self._told(len(asked)):
            answers[tokens.sequence] += tokens.ids
        return answers

    def score(self, texts: Sequence[Sequence[int]]) -> list[float]:
        """The log-probabilities of all tokens of all texts but each one's first."""
        for number, ids in enumerate(texts):
            self._worker.send(Score(number, list(ids)))
        return [value for tokens in self._told(len(texts)) for value in tokens.logprobs]

    def _told(self, asked: int) -> Iterator[Tokens]:
        """What comes, until so many sequences have ended."""
        for report in self._reports:
            for tokens in report.tokens if isinstance(report, Step) else ():
                if tokens.error:
                    raise GateError("load", f"the engine fails with a prompt ({tokens.error})")
                asked -= bool(tokens.finish_reason)
                yield tokens
            if not asked:
                return
        raise GateError("load", "the engine's process ended while it was asked")


@contextmanager
def served(folder: Path, manifest: GenerationManifest) -> Iterator[ServedEngine]:
    """The engine of a release that is not published yet, whose manifest is written beside it for that long.

    Raises:
        GateError: the engine does not load.
    """
    (folder / FILE_NAME).write_bytes(manifest.to_json())
    order = Order(str(folder), usable_cores(), _CACHE_GIB, _SEQUENCES)
    try:
        worker = WorkerProcess(WorkerSpec(order, manifest.generator.engine))
    except EngineError as error:
        raise GateError("load", str(error)) from error
    try:
        yield ServedEngine(worker)
    finally:
        worker.close()
        (folder / FILE_NAME).unlink()
