"""A whole release in this process: the same code that Triton runs in three, for gates, golden requests and ceilings."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from text_runtime.batching import BatchingSettings
from text_runtime.encoder import Array, EncoderRequest, TextEncoder
from text_runtime.engines import load_engine
from text_runtime.labels import read_labels
from text_runtime.manifest import Manifest
from text_runtime.rows import RowTokenizer
from text_runtime.sizing import engine_spec
from text_runtime.tasks import Tensors, task
from text_runtime.tensors import INPUT_IDS, LENGTHS, TOKEN_TYPE_IDS, TRUNCATED_CHARS


class LocalPipeline:
    """Tokenizer, encoder and postprocess of one release.

    Args:
        folders: the release's folders by step: `tokenizer`, `encoder`, `postprocess`.
        manifest: the release's manifest.
    """

    def __init__(self, folders: Mapping[str, Path], manifest: Manifest) -> None:
        chosen = task(manifest.task)
        facts = [tensor.name for tensor in chosen.postprocess_inputs if tensor not in chosen.inputs]
        outputs = [INPUT_IDS.name, TOKEN_TYPE_IDS.name, LENGTHS.name, *facts, TRUNCATED_CHARS.name]
        spec = engine_spec(folders["encoder"], manifest.encoder, {})
        labels = read_labels(folders["postprocess"], manifest.width if chosen.has_labels else 0)
        self._output = manifest.encoder.output
        self._is_per_token = chosen.is_per_token
        self._tokenizer = RowTokenizer(folders["tokenizer"], manifest.tokenizer, chosen.inputs, outputs)
        self._encoder = TextEncoder(load_engine(spec), manifest, BatchingSettings(), spec.workers)
        self._decoder = chosen.decoder(labels, lambda inputs: self._encode([inputs])[0])
        self.engine_s = 0.0

    def __call__(self, requests: Sequence[Tensors]) -> list[Tensors]:
        """Answer requests together; each holds the pipeline's inputs as STRING [rows, 1]."""
        return self._decoder(self._encode(requests))

    def warm_up(self) -> None:
        """Run every shape once."""
        self._encoder.warm_up()

    def _encode(self, requests: Sequence[Tensors]) -> list[Tensors]:
        tokenized = list(self._tokenizer.encode([self._tokenizer.read(request) for request in requests]))
        encoded: dict[int, Array] = {}
        work = self._encoder.run([_request(row) for row in tokenized], encoded.__setitem__, self._is_per_token)
        self.engine_s += work.engine_s
        pairs = zip(requests, tokenized, strict=True)
        return [{**request, **row, self._output: encoded[index]} for index, (request, row) in enumerate(pairs)]


def text_tensor(texts: Sequence[str]) -> Array:
    """Texts as STRING [rows, 1]."""
    return np.array([[text.encode()] for text in texts], dtype=np.object_)


def _request(tensors: Tensors) -> EncoderRequest:
    return EncoderRequest(tensors[INPUT_IDS.name], tensors[LENGTHS.name], tensors[TOKEN_TYPE_IDS.name])
