"""The Triton backend `text_joined`: all steps of a release in one process, a thin shell over `text_runtime.local`.

What a small model costs beside its engine is mostly tensors on their way from step to step: here they stay.
"""

from pathlib import Path
from typing import Any

import orjson
import triton_python_backend_utils as pb_utils

from text_runtime.encoder.batching import SETTINGS, BatchingSettings
from text_runtime.encoder.encoder import Work
from text_runtime.encoder.execution_time import ExecutionTime
from text_runtime.encoder.sizing import SHARES, engine_spec
from text_runtime.local import LocalPipeline
from text_runtime.manifest import read_encoder_manifest
from text_runtime.metrics.step_metrics import LabelCounters, WorkCounters
from text_runtime.parameters import integers, prompt_name
from text_runtime.refusals import refusal, refusal_of
from text_runtime.tasks import Tensors, task

_STEPS = ("tokenizer", "encoder", "postprocess")


class TritonPythonModel:
    """One instance of a joined step; the others have their own share of the machine."""

    def initialize(self, args: dict[str, str]) -> None:
        """Load the release and run every shape once; a broken release refuses to load here."""
        folder = Path(pb_utils.get_model_dir())
        manifest = read_encoder_manifest(folder)
        config = args["model_config"]
        instances = sum(group["count"] for group in orjson.loads(config)["instance_group"])
        engine = engine_spec(folder, manifest.encoder, integers(config, SHARES), instances)
        settings = BatchingSettings(**integers(config, SETTINGS))
        self._inputs = [tensor.name for tensor in task(manifest.task).inputs]
        self._pipeline = LocalPipeline(dict.fromkeys(_STEPS, folder), manifest, engine, settings)
        self._pipeline.warm_up()
        self._execution_time = ExecutionTime()
        self._work = WorkCounters(pb_utils, manifest, args["model_name"])
        self._labels = LabelCounters(pb_utils, manifest)

    def execute(self, requests: list[Any]) -> list[Any]:
        """Answer all requests together."""
        with self._execution_time.execution():
            return self._execute(requests)

    def finalize(self) -> None:
        """Send the last counts."""
        self._work.close()
        self._labels.close()

    def _execute(self, requests: list[Any]) -> list[Any]:
        responses: list[Any] = [None] * len(requests)
        questions, places = [], []
        for index, request in enumerate(requests):
            if self._execution_time.is_slow and request.is_cancelled():
                responses[index] = refusal(pb_utils, "the client cancelled the request", pb_utils.TritonError.CANCELLED)
                continue
            try:
                wanted = prompt_name(request.parameters())
                questions.append(self._pipeline.read(self._tensors(request), wanted))
                places.append(index)
            except ValueError as error:
                responses[index] = refusal_of(pb_utils, error)
        outcomes = self._outcomes(questions) if questions else []
        for index, answer in zip(places, outcomes, strict=True):
            if isinstance(answer, Exception):
                responses[index] = refusal_of(pb_utils, answer)
                continue
            tensors = [pb_utils.Tensor(name, array) for name, array in answer.items()]
            responses[index] = pb_utils.InferenceResponse(tensors)
        return responses

    def _outcomes(self, questions: list[Any]) -> list[Tensors | Exception]:
        self._pipeline.work = Work()
        outcomes = self._pipeline.outcomes(questions)
        self._work.add(self._pipeline.work)
        self._labels.add(answer for answer in outcomes if not isinstance(answer, Exception))
        return outcomes

    def _tensors(self, request: Any) -> Tensors:
        return {name: pb_utils.get_input_tensor_by_name(request, name).as_numpy() for name in self._inputs}
