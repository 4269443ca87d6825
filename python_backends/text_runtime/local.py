"""A whole release in one process: for gates, golden requests and ceilings, and for the joined step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from text_runtime.batching import BatchingSettings
from text_runtime.encoder import Array, EncoderRequest, TextEncoder, Work
from text_runtime.engines import EngineSpec, load_engine
from text_runtime.labels import read_labels
from text_runtime.manifest import Manifest
from text_runtime.rows import Columns, RowTokenizer
from text_runtime.sizing import engine_spec
from text_runtime.tasks import Tensors, task
from text_runtime.tensors import INPUT_IDS, LENGTHS, TOKEN_TYPE_IDS, TRUNCATED_CHARS


@dataclass(frozen=True)
class Question:
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
        manifest: Manifest,
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

    def read(self, request: Tensors) -> Question:
        """Read one request.

        Raises:
            ValueError: a row is not UTF-8, or not a schema; the message names the input and the row.
        """
        return Question(request, self._tokenizer.read(request))

    def answer(self, questions: Sequence[Question]) -> list[Tensors]:
        """Answer requests together: the pipeline's outputs of each."""
        encoded = self._encode(questions)
        answers = zip(self._decoder(encoded), encoded, strict=True)
        return [{**answer, TRUNCATED_CHARS.name: row[TRUNCATED_CHARS.name]} for answer, row in answers]

    def warm_up(self) -> None:
        """Run every shape once."""
        self._encoder.warm_up()

    def _deeper(self, inputs: Tensors) -> Tensors:
        return self._encode([self.read(inputs)])[0]

    def _encode(self, questions: Sequence[Question]) -> list[Tensors]:
        tokenized = list(self._tokenizer.encode([question.columns for question in questions]))
        encoded: dict[int, Array] = {}
        self.work.add(self._encoder.run([_request(row) for row in tokenized], encoded.__setitem__, self._is_per_token))
        pairs = zip(questions, tokenized, strict=True)
        return [
            {**question.tensors, **row, self._output: encoded[index]} for index, (question, row) in enumerate(pairs)
        ]


def text_tensor(texts: Sequence[str]) -> Array:
    """Texts as STRING [rows, 1]."""
    return np.array([[text.encode()] for text in texts], dtype=np.object_)


def _request(tensors: Tensors) -> EncoderRequest:
    return EncoderRequest(tensors[INPUT_IDS.name], tensors[LENGTHS.name], tensors[TOKEN_TYPE_IDS.name])
