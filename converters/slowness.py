"""Whether a precision pays on this machine: told by measurement where the CPU lacks the instructions for it."""

from converters import precisions
from converters.evaluation.candidate import EvaluationSet
from converters.precisions import Choice
from text_runtime.local import LocalPipeline


def slowness_of(choice: Choice, asked: EvaluationSet, candidate: LocalPipeline, source: LocalPipeline) -> list[str]:
    """A sentence on the candidate's time beside fp32's on the reference engine; none where the CPU is made for it."""
    missing = precisions.missing_instructions(choice)
    if not missing:
        return []
    times = _engine_s(candidate, asked) / _engine_s(source, asked)
    verdict = f"{times:.2f} times as long as fp32" if times >= 1 else f"{times:.2f} of fp32's time"
    wanted = ", ".join(missing)
    return [f"this CPU has none of {wanted}: measured over {asked.size} texts, {choice} takes {verdict} on onnxruntime"]


def _engine_s(pipeline: LocalPipeline, asked: EvaluationSet) -> float:
    """Seconds inside the engine for the whole asked, every shape compiled before."""
    pipeline.warm_up()
    before = pipeline.work.engine_s
    asked.metric.ask(pipeline, asked.columns)
    return pipeline.work.engine_s - before
