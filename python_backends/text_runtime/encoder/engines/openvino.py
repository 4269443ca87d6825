"""OpenVINO on CPU."""

from collections.abc import Mapping
from queue import SimpleQueue
from typing import Any

import numpy as np
import numpy.typing as npt

from text_runtime.encoder.engines.base import EngineSpec

_PRECISION_HINTS = {"bf16": "bf16"}


class OpenVinoEngine:
    """An OpenVINO compiled model with one infer request a worker, all over the same weights."""

    def __init__(self, spec: EngineSpec) -> None:
        import openvino

        settings = {
            "NUM_STREAMS": spec.workers,
            "INFERENCE_NUM_THREADS": spec.threads * spec.workers,
            # Pinned streams would sit on cores that the other steps of the same server need.
            "ENABLE_CPU_PINNING": False,
            "INFERENCE_PRECISION_HINT": _PRECISION_HINTS.get(spec.facts.precision, "f32"),
        }
        compiled = openvino.Core().compile_model(str(spec.model_path), "CPU", settings)
        self._requests: SimpleQueue[Any] = SimpleQueue()
        for _ in range(spec.workers):
            self._requests.put(compiled.create_infer_request())
        self._output = compiled.output(spec.facts.output)

    def __call__(self, feeds: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """See `Engine`."""
        request = self._requests.get()
        try:
            request.infer(dict(feeds), share_inputs=True)
            # The tensor belongs to the request and is overwritten by the next call: copy.
            return np.array(request.get_tensor(self._output).data)
        finally:
            self._requests.put(request)
