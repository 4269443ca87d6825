"""The only place that calls TensorRT, through Polygraphy: it owns device buffers, profiles and the timing cache for us.

None of it has run on hardware yet; what surrounds it is tested on CPU.
"""

import importlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from converters.plans.parity import Array, Feeds, RunGraph, RunPlan
from converters.plans.spec import PlanSpec
from text_runtime.manifest import EncoderManifest
from text_runtime.plan import Profile
from trireme.contract.plans import BUILD_WHERE_IT_SERVES

Progress = Callable[[str], None]


def require_tensorrt(spec: PlanSpec) -> None:
    """Refuse a machine without TensorRT's Python package.

    Raises:
        PlanError: it is not installed, or its library does not load.
    """
    try:
        importlib.import_module("tensorrt")
        _polygraphy()
    except (ImportError, OSError) as error:
        raise spec.refusal(f"TensorRT is not installed here ({error})", BUILD_WHERE_IT_SERVES) from error


def profiles_for(manifest: EncoderManifest, profiles: Sequence[Profile]) -> list[Any]:
    """Polygraphy's profiles: every input of the graph has the shape of the bucket."""
    trt = _polygraphy()
    found = []
    for profile in profiles:
        shapes = [(rows, profile.tokens) for rows in (profile.min_rows, profile.opt_rows, profile.max_rows)]
        made = trt.Profile()
        for name in manifest.encoder.inputs:
            made.add(name, *shapes)
        found.append(made)
    return found


def build(spec: PlanSpec, manifest: EncoderManifest, profiles: Sequence[Profile], progress: Progress) -> bytes:
    """Compile a release's graph; gives the plan.

    The network is strongly typed: every tensor keeps the type that the graph gives it, so the graph alone decides which
    operators compute in fp32, fp16 or int8.

    Raises:
        PlanError: TensorRT refused the graph or could not compile it.
    """
    trt, polygraphy = importlib.import_module("tensorrt"), _polygraphy()
    timings = spec.timings
    timings.parent.mkdir(parents=True, exist_ok=True)
    network = polygraphy.NetworkFromOnnxPath(str(spec.folder / manifest.encoder.model), strongly_typed=True)
    config = polygraphy.CreateConfig(
        profiles=profiles_for(manifest, profiles),
        load_timing_cache=str(timings) if timings.is_file() else None,
        memory_pool_limits={trt.MemoryPoolType.WORKSPACE: int(spec.workspace_gib * 2**30)},
        progress_monitor=_monitor(trt, progress),
    )
    try:
        return bytes(polygraphy.EngineBytesFromNetwork(network, config, save_timing_cache=str(timings))())
    except Exception as error:  # Polygraphy and TensorRT raise what they like; their log has been on stderr
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        remedy = "see its log above; another --precision or more --workspace-gib may help"
        raise spec.refusal(f"TensorRT cannot build it ({reason})", remedy) from error


@contextmanager
def open_plan(plan: bytes) -> Iterator[RunPlan]:
    """A plan on this machine's first GPU."""
    polygraphy = _polygraphy()
    with polygraphy.TrtRunner(polygraphy.EngineFromBytes(plan)) as runner:

        def run(profile: int, feeds: Feeds) -> Array:
            runner.set_profile(profile)
            (output,) = runner.infer(dict(feeds)).values()
            answer: Array = output.copy()  # the buffer belongs to the runner
            return answer

        yield run


def open_graph(path: Path) -> RunGraph:
    """The graph in ONNX Runtime, on the GPU where its package has the CUDA provider, or else on the CPU."""
    import onnxruntime

    wanted = ("CUDAExecutionProvider", "CPUExecutionProvider")
    providers = [name for name in wanted if name in onnxruntime.get_available_providers()]
    session = onnxruntime.InferenceSession(str(path), providers=providers)

    def run(feeds: Feeds) -> Array:
        answer: Array = session.run(None, dict(feeds))[0]
        return answer

    return run


def _polygraphy() -> Any:
    """Polygraphy would install packages by itself."""
    os.environ["POLYGRAPHY_AUTOINSTALL_DEPS"] = "0"
    return importlib.import_module("polygraphy.backend.trt")


def _monitor(trt: Any, progress: Progress) -> Any:
    """TensorRT's progress: its outer phases are told, each tenth of their steps."""

    class Monitor(trt.IProgressMonitor):  # type: ignore[misc]
        def __init__(self) -> None:
            trt.IProgressMonitor.__init__(self)
            self.steps: dict[str, int] = {}

        def phase_start(self, phase_name: str, parent_phase: str | None, num_steps: int) -> None:
            if parent_phase is None:
                self.steps[phase_name] = num_steps
                progress(f"TensorRT: {phase_name}")

        def step_complete(self, phase_name: str, step: int) -> bool:
            total = self.steps.get(phase_name, 0)
            if total >= 10 and step and step % (total // 10) == 0:
                progress(f"TensorRT: {phase_name}, {step} of {total}")
            return True

        def phase_finish(self, phase_name: str) -> None:
            self.steps.pop(phase_name, None)

    return Monitor()
