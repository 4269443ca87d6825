"""The gate `answers`: from the text on, a release must answer what the source's own library answers.

The other gates compare parts: tokens with tokens, outputs with outputs. None of them would miss what both sides lack,
an activation, a prompt or a scaling. Here nothing is taken from our own reading of the checkpoint.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from converters.candidate import Candidate
from converters.limits import limits_of, relative_difference
from converters.sources.base import Array
from text_runtime.local import LocalPipeline, text_tensor
from text_runtime.manifest import PASSED, REFUSED, GateRow
from text_runtime.tasks import Tensors, task
from text_runtime.tasks.label_files import read_labels
from text_runtime.tasks.scores import activate
from trireme.contract.pipelines import Step

_TEXTS = 40
_LONGEST_CHARS = 2000


def judged_answers(candidate: Candidate) -> Iterator[GateRow]:
    """The gate's row; none where the source's library has no answer of its own, or the user wants another one."""
    chosen = task(candidate.manifest.task)
    if chosen.library_output is None:
        return
    texts = _spread(candidate.corpus)
    pairs = _pairs_of(texts) if chosen.texts_a_row > 1 else None
    theirs = candidate.source.answer(texts, pairs, candidate.manifest.tokenizer.max_length)
    if theirs is None or _is_overridden(candidate):
        return
    ours = _answers(candidate, [*texts, *(pairs or [])])[chosen.library_output]
    difference = _difference(candidate, ours, theirs)
    limit = limits_of(candidate.manifest.encoder.precision).difference
    detail = (
        f"largest difference {difference:.1e} from the library's own answers to {len(texts)} texts, {limit:g} allowed"
    )
    yield GateRow("answers", PASSED if difference <= limit else REFUSED, detail, difference, limit)


def _is_overridden(candidate: Candidate) -> bool:
    """Whether the release's labels have another activation than the checkpoint's, by a label file."""
    if not task(candidate.manifest.task).has_labels:
        return False
    own = read_labels(candidate.folders[Step.POSTPROCESS], candidate.manifest.width)
    return own.activation != candidate.source.labels.activation


def _spread(corpus: Sequence[str]) -> list[str]:
    """Texts of the corpus, evenly spread; one text in fifty is very long, and a few of these are enough."""
    fitting = [text for text in corpus if len(text) <= _LONGEST_CHARS] or list(corpus)
    long = [text for text in corpus if len(text) > _LONGEST_CHARS][:2]
    step = max(1, len(fitting) // _TEXTS)
    return ["", *fitting[::step], *long]


def _pairs_of(texts: Sequence[str]) -> list[str]:
    """A second text for each: the next one. None is empty, which transformers takes for no pair in a call of one text
    and for a pair in a call of several."""
    return [text or "." for text in (*texts[1:], *texts[:1])]


def _answers(candidate: Candidate, texts: list[str]) -> Tensors:
    facts = replace(candidate.manifest.tokenizer, long_text="truncate")
    manifest = replace(candidate.manifest, tokenizer=facts)
    pipeline = LocalPipeline({step.value: folder for step, folder in candidate.folders.items()}, manifest)
    columns = task(manifest.task).columns(texts)
    (answer,) = pipeline([{name: text_tensor(column) for name, column in columns.items()}])
    return answer


def _difference(candidate: Candidate, ours: Array, theirs: Array) -> float:
    """Largest difference, relative where values are above 1; of directions where one side scales and the other not."""
    if ours.shape != theirs.shape:  # one score a row, which a library gives alone or as the last of several logits
        theirs = activate(theirs, "softmax")[:, -1:] if theirs.ndim == 2 else theirs[:, None]
    if not task(candidate.manifest.task).has_labels:
        own = read_labels(candidate.folders[Step.POSTPROCESS], 0)
        if own.is_normalized != candidate.source.is_normalized:
            ours, theirs = _directions(ours), _directions(theirs)
    return relative_difference(ours, theirs)


def _directions(vectors: Array) -> Array:
    scaled: Array = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return scaled
