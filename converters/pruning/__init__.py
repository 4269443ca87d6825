"""Structured pruning: the same architecture with fewer attention heads and feed-forward neurons, dense and exportable.

Every layer keeps the same share, so that the smaller model is as regular as the one before and every engine runs it as
fast as its size allows. What is cut is what counts least for the model's own answers on real texts.
"""

from converters.calibration import TaskTexts
from converters.precisions.base import Progress
from converters.pruning.importance import importance_of
from converters.pruning.recovery import keep, recover, remember
from converters.pruning.shrinking import shrink
from converters.sources import SourceModel, open_source
from converters.spec import ExportSpec, PruningSpec, TrialSpec
from text_runtime.facts import PruningFacts

__all__ = ["prune"]

_RANKING_TEXTS = 300


def prune(
    source: SourceModel, spec: ExportSpec, wanted: PruningSpec, texts: TaskTexts, progress: Progress
) -> tuple[SourceModel, PruningFacts]:
    """A smaller model beside the source, which stays as it is, and what the manifest says of it.

    Args:
        source: the opened checkpoint of the spec.
        spec: the export.
        wanted: how small, and how long to teach it afterwards.
        texts: real texts, to rank by (at most 300) and to teach with (all of them).
        progress: called with a line now and then.

    Raises:
        UnsupportedError: the architecture has no layers that can be cut.
    """
    ranking = texts.spread(_RANKING_TEXTS).encode(source, source.traits.longest)
    importance = importance_of(source, spec.task, ranking, progress)
    pruned = open_source(spec.checkpoint, spec.task, spec.options)
    size = shrink(pruned, importance, wanted.share)
    progress(f"kept {size.heads} heads and {size.neurons} neurons a layer")
    if wanted.recover_epochs:
        _teach(pruned, source, spec, wanted, texts, progress)
    used = texts if wanted.recover_epochs else texts.spread(_RANKING_TEXTS)
    return pruned, PruningFacts(
        wanted.share, size.heads, size.neurons, wanted.recover_epochs, len(used.texts), used.sha256
    )


def _teach(
    pruned: SourceModel,
    source: SourceModel,
    spec: ExportSpec,
    wanted: PruningSpec,
    texts: TaskTexts,
    progress: Progress,
) -> None:
    """Recover, unless another trial of the same comparison has."""
    name = f"{wanted.share:g}-{wanted.recover_epochs}.pdparams"
    lesson = spec.lessons / name if isinstance(spec, TrialSpec) else None
    if lesson and remember(pruned, lesson):
        return
    recover(pruned, source, texts.encode(source, source.traits.longest), wanted.recover_epochs, progress)
    if lesson:
        keep(pruned, lesson)
