"""A whole release in one process: for gates, golden requests and ceilings, and for the joined step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from text_runtime.encoder.batching import BatchingSettings
from text_runtime.encoder.encoder import Array, EncoderRequest, TextEncoder, Work
from text_runtime.encoder.engines import EngineSpec, load_engine
from text_runtime.encoder.isolation import isolated
from text_runtime.encoder.sizing import engine_spec
from text_runtime.manifest import EncoderManifest
from text_runtime.tasks import Tensors, task
from text_runtime.tasks.label_files import read_labels
from text_runtime.tensors import INPUT_IDS, LENGTHS, TOKEN_TYPE_IDS, TRUNCATED_CHARS
from text_runtime.tokenizers.rows import Columns, RowTokenizer


@dataclass(frozen=True)
class LocalRequest:
    """One request: the pipeline's inputs as they came, STRING [rows, 1], and as they read."""

    tensors: Tensors
    columns: Columns


class LocalPipeline:
    """Tokenizer, encoder and postprocess of one release.

    Args:
        folders: the release's folders by step: `tokenizer`, `encoder`, `postprocess`.
        manifest: the release's manifest.
        engine: how the engine shares the machine; by default it has all of it.
        batching: how sub-batches are cut.
    """

    def __init__(
        self,
        folders: Mapping[str, Path],
        manifest: EncoderManifest,
        engine: EngineSpec | None = None,
        batching: BatchingSettings | None = None,
    ) -> None:
        chosen = task(manifest.task)
        facts = [tensor.name for tensor in chosen.postprocess_inputs if tensor not in chosen.inputs]
        outputs = [INPUT_IDS.name, TOKEN_TYPE_IDS.name, LENGTHS.name, *facts, TRUNCATED_CHARS.name]
        spec = engine or engine_spec(folders["encoder"], manifest.encoder, {})
        labels = read_labels(folders["postprocess"], manifest.width if chosen.has_labels else 0)
        self._output = manifest.encoder.output
        self._is_per_token = chosen.is_per_token
        self._tokenizer = RowTokenizer(folders["tokenizer"], manifest.tokenizer, chosen.inputs, outputs)
        self._encoder = TextEncoder(load_engine(spec), manifest, batching or BatchingSettings(), spec.workers)
        self._decoder = chosen.decoder(labels, self._deeper)
        self.work = Work()
        """All that the encoder has done so far."""

    def __call__(self, requests: Sequence[Tensors]) -> list[Tensors]:
        """Answer requests together; each holds the pipeline's inputs as STRING [rows, 1]."""
        return self.answer([self.read(request) for request in requests])

    def read(self, request: Tensors, prompt_name: str | None = None) -> LocalRequest:
        """Read one request. See `RowTokenizer.read`.

        Raises:
            ValueError: it cannot be read.
        """
        return LocalRequest(request, self._tokenizer.read(request, prompt_name))

    def answer(self, requests: Sequence[LocalRequest]) -> list[Tensors]:
        """Answer requests together: the pipeline's outputs of each.

        Raises:
            Exception: one of them fails, with its reason.
        """
        return [_required(outcome) for outcome in self.outcomes(requests)]

    def outcomes(self, requests: Sequence[LocalRequest]) -> list[Tensors | Exception]:
        """Answer requests together: the pipeline's outputs of each, or the reason for which it alone fails."""
        encoded = self._encode(requests)
        good = [tensors for tensors in encoded if not isinstance(tensors, Exception)]
        decoded = iter(isolated(good, self._decode) if good else [])
        return [tensors if isinstance(tensors, Exception) else next(decoded) for tensors in encoded]

    def _decode(self, encoded: Sequence[Tensors]) -> list[Tensors]:
        answers = zip(self._decoder(encoded), encoded, strict=True)
        return [{**answer, TRUNCATED_CHARS.name: row[TRUNCATED_CHARS.name]} for answer, row in answers]

    def warm_up(self) -> None:
        """Run every shape once."""
        self._encoder.warm_up()

    def _deeper(self, inputs: Tensors) -> Tensors:
        return _required(self._encode([self.read(inputs)])[0])

    def _encode(self, requests: Sequence[LocalRequest]) -> list[Tensors | Exception]:
        """What the decoder gets of each request, or why it fails before."""
        tokenized = isolated([request.columns for request in requests], self._tokenized)
        rows = [(index, row) for index, row in enumerate(tokenized) if not isinstance(row, Exception)]
        outcomes: dict[int, Array | Exception] = {}
        encoded = [_request(row) for _, row in rows]
        note = outcomes.__setitem__
        self.work.add(self._encoder.run(encoded, note, note, self._is_per_token))
        results: list[Tensors | Exception] = [*tokenized]
        for place, (index, row) in enumerate(rows):
            results[index] = self._with_output(requests[index], row, outcomes[place])
        return results

    def _with_output(self, request: LocalRequest, row: Tensors, output: Array | Exception) -> Tensors | Exception:
        if isinstance(output, Exception):
            return output
        return {**request.tensors, **row, self._output: output}

    def _tokenized(self, columns: Sequence[Columns]) -> list[Tensors]:
        return list(self._tokenizer.encode(columns))


def _required(outcome: Tensors | Exception) -> Tensors:
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def text_tensor(texts: Sequence[str]) -> Array:
    """Texts as STRING [rows, 1]."""
    return np.array([[text.encode()] for text in texts], dtype=np.object_)


def _request(tensors: Tensors) -> EncoderRequest:
    return EncoderRequest(tensors[INPUT_IDS.name], tensors[LENGTHS.name], tensors[TOKEN_TYPE_IDS.name])
