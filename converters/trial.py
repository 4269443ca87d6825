"""Exports one candidate of a comparison in a process of its own: what crashes or hangs there takes nothing with it."""

import sys
from dataclasses import asdict, dataclass

import orjson

from converters.evaluation import EvaluationError
from converters.export import export
from converters.schema import from_document
from converters.spec import TrialSpec
from trireme.errors import CheckpointError, InterpreterError, TextFileError, TriremeError

NAME = "candidate"
_SHARED = (CheckpointError, EvaluationError, InterpreterError, TextFileError)
"""Errors of what every candidate reads: the next one would end alike."""


@dataclass(frozen=True)
class Outcome:
    """How a trial ended: `error` is empty where a release was written, `is_shared` says that all will end alike."""

    error: str = ""
    is_shared: bool = False


def run_trial(content: bytes) -> Outcome:
    """Export into the repository of a trial's spec, which is given as JSON."""
    try:
        export(from_document(orjson.loads(content), TrialSpec, "trial"))
    except TriremeError as error:
        return Outcome(str(error), isinstance(error, _SHARED))
    return Outcome()


def main() -> None:
    """Read a spec from stdin, export, and write the outcome to stdout, on which libraries must not print."""
    results = sys.stdout.buffer
    sys.stdout = sys.stderr
    results.write(orjson.dumps(asdict(run_trial(sys.stdin.buffer.read()))))


if __name__ == "__main__":
    main()
