"""Where a release is to be served, and what follows for its layout, its graph and its gates.

On `cpu` our own backend encodes, takes ragged rows and runs the release's engine. On `gpu` one of Triton's backends
does: TensorRT, from a plan that `trireme build-plan` makes of the graph on the machine that serves it, or ONNX
Runtime with the TensorRT accelerator. Both want rows of equal length.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from text_runtime.encoder.buckets import buckets_up_to
from text_runtime.encoder.engines import engine_names
from text_runtime.manifest import EncoderManifest
from text_runtime.tasks import task
from text_runtime.tensors import SCHEMA
from trireme.contract.pipelines import GPU_ENGINES, Contract, GpuLayout
from trireme.errors import UnsupportedError

USUAL_ENGINES = {"cpu": "onnxruntime", "gpu": "tensorrt"}
TARGETS = tuple(USUAL_ENGINES)
_GPU_PRECISIONS = {"tensorrt": ("fp32", "fp16", "int8"), "onnxruntime": ("fp32", "fp16")}
"""The precisions whose ONNX graph TensorRT can compile as it stands, alone or as ONNX Runtime's accelerator."""


@dataclass(frozen=True)
class TargetSpec:
    """What of an export depends on its target."""

    target: str
    engine: str
    precision: str
    task: str
    long_text: str
    instances: int = 0

    def require_servable(self) -> None:
        """Refuse what a target cannot serve: on a GPU a row is one window, whatever its text.

        Raises:
            UnsupportedError: it does not serve this task, or not long texts in this way.
        """
        if self.instances < 0:
            raise UnsupportedError("--joined", str(self.instances), ["1 or more instances", "0 for separate steps"])
        if self.target == "cpu":
            return
        if self.instances:
            raise UnsupportedError("--target of a joined pipeline", self.target, ["cpu"])
        if SCHEMA in task(self.task).inputs:
            raise UnsupportedError(f"--target of {self.task}", self.target, ["cpu"])
        if self.long_text != "truncate":
            raise UnsupportedError("--long-text of target gpu", self.long_text, ["truncate"])

    def contract(self, pipeline: str, width: int, max_length: int, graph_inputs: Sequence[str]) -> Contract:
        """The pipeline's contract for a model that reads rows of up to `max_length` tokens."""
        if self.target == "cpu":
            return Contract(pipeline, self.task, width, instances=self.instances)
        layout = GpuLayout(self.engine, buckets_up_to(max_length), tuple(graph_inputs), self.precision)
        return Contract(pipeline, self.task, width, layout)


def graph_engine(target: str, engine: str, precision: str) -> str:
    """Whose registered precisions a target's encoder has: on a GPU TensorRT compiles the graph, alone or inside.

    Raises:
        UnsupportedError: there is no such target, or it has no such engine or precision.
    """
    if target not in TARGETS:
        raise UnsupportedError("--target", target, list(TARGETS))
    if target == "cpu":
        if engine not in engine_names():
            raise UnsupportedError("engine", engine, engine_names())
        return engine
    if engine not in GPU_ENGINES:
        raise UnsupportedError("engine of target gpu", engine, list(GPU_ENGINES))
    if precision not in _GPU_PRECISIONS[engine]:
        raise UnsupportedError(f"precision of {engine} on target gpu", precision, list(_GPU_PRECISIONS[engine]))
    return "tensorrt"


def on_cpu(manifest: EncoderManifest) -> EncoderManifest:
    """The release with its graph run by ONNX Runtime on this CPU, for gates and golden requests: a plan is built later,
    and held against the same graph then."""
    if not manifest.tokenizer.buckets:
        return manifest
    return replace(manifest, encoder=replace(manifest.encoder, engine="onnxruntime"))
