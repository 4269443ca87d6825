"""OpenVINO on CPU."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from text_runtime.engines.base import EngineSpec

_PRECISION_HINTS = {"bf16": "bf16"}


class OpenVinoEngine:
    """An OpenVINO compiled model with one infer request, tuned for latency."""

    def __init__(self, spec: EngineSpec) -> None:
        import openvino

        settings = {
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_NUM_THREADS": spec.threads,
            "INFERENCE_PRECISION_HINT": _PRECISION_HINTS.get(spec.facts.precision, "f32"),
        }
        compiled = openvino.Core().compile_model(str(spec.model_path), "CPU", settings)
        self._request = compiled.create_infer_request()
        self._output = compiled.output(spec.facts.output)

    def __call__(self, feeds: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """See `Engine`."""
        self._request.infer(dict(feeds), share_inputs=True)
        # The tensor belongs to the request and is overwritten by the next call: copy.
        return np.array(self._request.get_tensor(self._output).data)
