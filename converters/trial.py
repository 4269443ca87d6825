"""Exports one candidate of a comparison in a process of its own: what crashes or hangs there takes nothing with it."""

import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from converters.corpus import CorpusError
from converters.evaluation import EvaluationError, EvaluationSpec
from converters.export import export
from converters.sources import Pooling, SourceOptions
from converters.spec import EncoderSpec, ExportSpec, PruningSpec
from trireme.errors import CheckpointError, InterpreterError, TriremeError

NAME = "candidate"
_SHARED = (CheckpointError, EvaluationError, CorpusError, InterpreterError)
"""Errors of what every candidate reads: the next one would end alike."""


@dataclass(frozen=True)
class Outcome:
    """How a trial ended: `error` is empty where a release was written, `is_shared` says that all will end alike."""

    error: str = ""
    is_shared: bool = False


def spec_json(spec: ExportSpec) -> bytes:
    """A trial's spec as one JSON object; sources are found by looking."""
    return orjson.dumps(asdict(spec), default=str)


def run_trial(content: bytes) -> Outcome:
    """Export into the spec's own repository."""
    try:
        export(_spec(orjson.loads(content)))
    except TriremeError as error:
        return Outcome(str(error), isinstance(error, _SHARED))
    return Outcome()


def _spec(fields: dict[str, Any]) -> ExportSpec:
    encoder, evaluation, pruning = fields["encoder"], fields["evaluation"], fields["pruning"]
    options, calibration = fields["options"], encoder.pop("calibration")
    return ExportSpec(
        Path(fields["checkpoint"]),
        fields["task"],
        fields["name"],
        Path(fields["repository"]),
        EncoderSpec(**encoder, calibration=Path(calibration) if calibration else None),
        EvaluationSpec(Path(evaluation["path"]), evaluation["max_drop_points"]),
        PruningSpec(**pruning) if pruning else None,
        options=SourceOptions(
            options["kind"],
            Pooling(options["pooling"]) if options["pooling"] else None,
            Path(options["python"]) if options["python"] else None,
            options["prompt"],
        ),
        max_length=fields["max_length"],
        is_trial=True,
        lessons=Path(fields["lessons"]),
    )


def main() -> None:
    """Read a spec from stdin, export, and write the outcome to stdout, on which libraries must not print."""
    results = sys.stdout.buffer
    sys.stdout = sys.stderr
    results.write(orjson.dumps(asdict(run_trial(sys.stdin.buffer.read()))))


if __name__ == "__main__":
    main()
