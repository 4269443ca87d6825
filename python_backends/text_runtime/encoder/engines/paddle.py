"""Paddle Inference with oneDNN on CPU, for models that do not convert to ONNX."""

from collections.abc import Mapping
from queue import SimpleQueue
from typing import Any

import numpy.typing as npt

from text_runtime.encoder.engines.base import EngineSpec


class PaddleEngine:
    """One Paddle predictor a worker; clones share the weights."""

    def __init__(self, spec: EngineSpec) -> None:
        import paddle.inference

        config = paddle.inference.Config(str(spec.model_path), str(spec.model_path.with_suffix(".pdiparams")))
        config.disable_gpu()
        config.disable_glog_info()
        config.enable_mkldnn()
        config.set_cpu_math_library_num_threads(spec.threads)
        if spec.facts.precision == "bf16":
            config.enable_mkldnn_bfloat16()
        first = paddle.inference.create_predictor(config)
        self._predictors: SimpleQueue[Any] = SimpleQueue()
        for predictor in (first, *(first.clone() for _ in range(spec.workers - 1))):
            self._predictors.put(predictor)

    def __call__(self, feeds: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """See `Engine`."""
        predictor = self._predictors.get()
        try:
            for name in predictor.get_input_names():
                predictor.get_input_handle(name).copy_from_cpu(feeds[name])
            predictor.run()
            result: npt.NDArray[Any] = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
            return result
        finally:
            self._predictors.put(predictor)
