"""Every precision of every engine, side by side: each candidate in a process and a repository of its own."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import orjson
from msgspec import structs

from converters.evaluation import EvaluationSpec
from converters.measure import Figures
from converters.precisions import Choice, choices, is_calibrated
from converters.schema import to_document
from converters.spec import EncoderSpec, ExportSpec, PruningSpec, TrialSpec
from converters.trial import NAME, Outcome
from text_runtime.manifest import PASSED, REFUSED, EncoderManifest, EvaluationFacts
from trireme.contract.repository import Repository
from trireme.errors import TriremeError, UnsupportedError

Progress = Callable[[str], None]
FAILED = "failed"
_AS_FAST = 0.95
"""Candidates whose rates differ by less are as fast as each other: timings on a busy machine say no more."""


class ComparisonError(TriremeError):
    """Nothing can be compared, for a reason that every candidate shares."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"no candidate can be tried: {problem}")


class NoCandidateError(TriremeError):
    """Every candidate was refused or failed."""

    def __init__(self) -> None:
        super().__init__("no candidate passed its gates: see the reasons above, or allow more with --max-drop")


@dataclass(frozen=True)
class Variant:
    """One candidate: a precision of an engine, of the whole model or of a pruned one."""

    choice: Choice
    pruning: PruningSpec | None = None

    def __str__(self) -> str:
        return f"{self.choice}{f', {self.pruning.share:.0%} kept' if self.pruning else ''}"


@dataclass(frozen=True)
class CompareSpec:
    """What to compare: `export` without its engine, precision and pruning, of which every candidate has its own.

    `only` keeps the candidates whose names hold one of its words.

    Raises:
        ComparisonError: there are no labelled texts to compare on.
        UnsupportedError: the export is for a GPU, on which nothing can be measured here.
    """

    export: ExportSpec
    prunings: tuple[PruningSpec, ...] = ()
    only: tuple[str, ...] = ()
    timeout_s: float = 1800.0

    def __post_init__(self) -> None:
        if self.export.evaluation is None:
            raise ComparisonError("there are no labelled texts, give them with --evaluate FILE")
        if self.export.encoder.target != "cpu":
            raise UnsupportedError("--target of a comparison", self.export.encoder.target, ["cpu"])

    @property
    def evaluation(self) -> EvaluationSpec:
        """The labelled texts, which every candidate is judged by."""
        assert self.export.evaluation is not None
        return self.export.evaluation

    def variants(self) -> list[Variant]:
        """Every candidate: pruned models in fp32 and in every int8 of the same engines."""
        whole = [Variant(choice) for choice in choices()]
        pruned = [
            Variant(choice, pruning)
            for pruning in self.prunings
            for choice in choices()
            if choice.precision in ("fp32", "int8") and choice.method != "weight-only"
        ]
        return [
            variant for variant in whole + pruned if not self.only or any(words in str(variant) for words in self.only)
        ]

    def export_of(self, variant: Variant) -> ExportSpec:
        """What exports a candidate as it is compared.

        Raises:
            PrecisionError: it needs calibration texts, and there are none.
        """
        choice, calibration = variant.choice, self.export.encoder.calibration
        is_read = variant.pruning or is_calibrated(choice)
        encoder = EncoderSpec(choice.engine, choice.precision, choice.method or None, calibration if is_read else None)
        return structs.replace(self.export, encoder=encoder, pruning=variant.pruning)

    def trial_of(self, variant: Variant, repository: Path, lessons: Path) -> TrialSpec:
        """The same as a trial, in a repository of its own; all share a folder of what pruned models have learnt."""
        own = {"name": NAME, "repository": repository, "lessons": lessons}
        return TrialSpec(**(structs.asdict(self.export_of(variant)) | own))


@dataclass(frozen=True)
class CandidateRow:
    """One candidate: `passed`, `refused` by a gate's figure, or `failed` before it could be measured."""

    variant: Variant
    status: str
    reason: str = ""
    figures: Figures | None = None
    agreement: float | None = None
    evaluation: EvaluationFacts | None = None
    warnings: tuple[str, ...] = ()


def compare(spec: CompareSpec, progress: Progress) -> list[CandidateRow]:
    """Try every candidate; a refused, crashed or hanging one gives a row with the reason.

    Raises:
        ComparisonError: the checkpoint or a file of texts cannot be used, by no candidate.
    """
    rows = []
    with tempfile.TemporaryDirectory(prefix="trireme-compare-") as lessons:
        for variant in spec.variants():
            progress(str(variant))
            with tempfile.TemporaryDirectory(dir=lessons) as folder:
                rows.append(_try(spec, variant, Path(folder) / "repository", Path(lessons)))
    return rows


def recommend(rows: Sequence[CandidateRow]) -> CandidateRow | None:
    """The fastest that passed; of those as fast, one without warnings, then what loses least, then the smallest.

    None where none passed.
    """
    passed = [(row, row.figures, row.evaluation) for row in rows if row.status == PASSED]
    measured = [(row, figures, facts) for row, figures, facts in passed if figures and facts]
    fastest = max((figures.texts_per_s for _, figures, _ in measured), default=0.0)
    close = [entry for entry in measured if entry[1].texts_per_s >= _AS_FAST * fastest]
    ranked = sorted(close, key=lambda entry: (bool(entry[0].warnings), entry[2].drop_points, entry[1].size_bytes))
    return ranked[0][0] if ranked else None


def _try(spec: CompareSpec, variant: Variant, repository: Path, lessons: Path) -> CandidateRow:
    deadline = time.monotonic() + spec.timeout_s
    try:
        content = orjson.dumps(to_document(spec.trial_of(variant, repository, lessons)))
        outcome = Outcome(**orjson.loads(_run(["converters.trial"], content, deadline)))
        if outcome.is_shared:
            raise ComparisonError(outcome.error)
        if outcome.error:
            return CandidateRow(variant, FAILED, outcome.error)
        arguments = ["converters.measure", str(repository), NAME, str(spec.evaluation.path)]
        figures = Figures(**orjson.loads(_run(arguments, b"", deadline)))
    except ComparisonError:
        raise
    except subprocess.TimeoutExpired:
        return CandidateRow(variant, FAILED, f"it did not end within {spec.timeout_s:.0f} s (--timeout)")
    except (TriremeError, _ProcessError) as error:
        return CandidateRow(variant, FAILED, str(error))
    return _row(variant, Repository(repository).encoder_manifest(NAME, 1), figures)


def _row(variant: Variant, manifest: EncoderManifest, figures: Figures) -> CandidateRow:
    refused = [f"{row.gate}: {row.detail}" for row in manifest.gates if row.status == REFUSED]
    agreement = next(row.value for row in manifest.gates if row.gate == "agreement")
    row = CandidateRow(variant, PASSED, "", figures, agreement, manifest.evaluation, manifest.encoder.warnings)
    return replace(row, status=REFUSED, reason="; ".join(refused)) if refused else row


class _ProcessError(Exception):
    """A candidate's process died."""


def _run(arguments: Sequence[str], content: bytes, deadline: float) -> bytes:
    """Run a module of ours in a session of its own; past the deadline all its processes are killed."""
    process = subprocess.Popen(
        [sys.executable, "-m", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        output, spoken = process.communicate(content, timeout=max(0.1, deadline - time.monotonic()))
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    if process.returncode != 0:
        lines = [line for line in spoken.decode(errors="replace").splitlines() if line.strip()]
        said = lines[-1] if lines else "without a word"
        raise _ProcessError(f"its process ended with {process.returncode}: {said}")
    return output
