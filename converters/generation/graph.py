"""OpenVINO's stateful graph of a causal language model, run on whole texts: for gates and references."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from converters.generation.greedy import greedily
from converters.generation.sources.base import Continuation, Logits
from text_runtime.generation.engines.base import QUANTIZATION_GROUP
from trireme.errors import MissingLibraryError

GRAPH_NAME = "openvino_model.xml"


class CausalGraph:
    """A graph that is ready to run.

    Args:
        folder: where `openvino_model.xml` lies.
        inference_precision: what it computes in, `f32` or `bf16`.
        dynamic_quantization: whether activations are rounded to int8 where weights are int8 or int4.

    Raises:
        MissingLibraryError: OpenVINO is not installed.
    """

    def __init__(self, folder: Path, inference_precision: str = "f32", dynamic_quantization: bool = False) -> None:
        try:
            import openvino
        except ImportError as error:
            raise MissingLibraryError("openvino", "generation") from error
        core = openvino.Core()
        settings = {
            "INFERENCE_PRECISION_HINT": inference_precision,
            "KV_CACHE_PRECISION": "f32",
            "DYNAMIC_QUANTIZATION_GROUP_SIZE": QUANTIZATION_GROUP if dynamic_quantization else 0,
        }
        compiled = core.compile_model(core.read_model(folder / GRAPH_NAME), "CPU", settings)
        self._inputs = {name for port in compiled.inputs for name in port.names}
        self._request = compiled.create_infer_request()

    def logits(self, ids: Sequence[int]) -> Logits:
        """One forward pass over a text: FP32 [tokens, token rows]."""
        self._request.reset_state()
        return self._run(ids, 0)

    def continue_greedily(self, ids: Sequence[int], new_tokens: int, end_ids: Sequence[int]) -> Continuation:
        """A prompt continued by the likeliest token each time; see `greedily`."""
        self._request.reset_state()

        def after(found: list[int]) -> Logits:
            read, past = (found[-1:], len(ids) + len(found) - 1) if found else (ids, 0)
            last: Logits = self._run(read, past)[-1]
            return last

        return greedily(after, new_tokens, end_ids)

    def _run(self, ids: Sequence[int], past: int) -> Logits:
        result = self._request.infer(feeds_of(ids, self._inputs, past))
        logits: Logits = np.asarray(result[0], dtype=np.float32)[0].copy()
        return logits


def feeds_of(ids: Sequence[int], inputs: set[str], past: int = 0) -> dict[str, npt.NDArray[Any]]:
    """What a stateful graph is given for the tokens of one text, `past` of which it has read before."""
    tokens = len(ids)
    feeds: dict[str, npt.NDArray[Any]] = {
        "input_ids": np.array([ids], dtype=np.int64),
        "attention_mask": np.ones((1, past + tokens), dtype=np.int64),
        "position_ids": np.arange(past, past + tokens, dtype=np.int64)[None],
        "beam_idx": np.zeros(1, dtype=np.int32),
    }
    return {name: feeds[name] for name in inputs}
