"""ONNX Runtime on CPU."""

from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

from text_runtime.encoder.engines.base import EngineSpec


class OnnxRuntimeEngine:
    """An ONNX Runtime session with all graph optimizations."""

    def __init__(self, spec: EngineSpec) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = spec.threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # Spinning threads would take the cores that the other steps of the same server need.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(str(spec.model_path), options, ["CPUExecutionProvider"])
        self._output = spec.facts.output

    def __call__(self, feeds: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """See `Engine`."""
        result: npt.NDArray[Any] = self._session.run([self._output], dict(feeds))[0]
        return result
