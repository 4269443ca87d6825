"""Every precision of every engine, side by side: each candidate in a process and a repository of its own."""

import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from converters.precisions import candidates
from trireme.errors import GateError

Progress = Callable[[str], None]


@dataclass(frozen=True)
class CompareSpec:
    """What to compare, and on which texts."""

    checkpoint: Path
    task: str
    evaluation: Path
    calibration: Path | None = None
    max_length: int | None = None
    max_drop_points: float = 0.5

    def arguments(self, engine: str, precision: str) -> list[str]:
        """The arguments of `trireme export` for one candidate, all but the checkpoint and the name."""
        chosen = {
            "--task": self.task,
            "--engine": engine,
            "--precision": precision,
            "--evaluate": self.evaluation,
            "--calibration": self.calibration if (engine, precision) == ("openvino", "int8") else None,
            "--max-length": self.max_length,
            "--max-drop": self.max_drop_points,
        }
        return [part for name, value in chosen.items() if value is not None for part in (name, str(value))]

    def command_for(self, row: "CandidateRow") -> str:
        """The command that exports a candidate."""
        arguments = shlex.join(self.arguments(row.engine, row.precision))
        return f"trireme export {shlex.quote(str(self.checkpoint))} --name NAME {arguments}"


@dataclass(frozen=True)
class CandidateRow:
    """One candidate: refused with its reason, or measured.

    Times are of the encoder and its two neighbours in one process, on all usable cores.
    """

    engine: str
    precision: str
    is_passed: bool
    reason: str = ""
    size_bytes: int = 0
    load_s: float = 0.0
    memory_mib: float = 0.0
    one_row_ms: float = 0.0
    batch_ms: float = 0.0
    texts_per_s: float = 0.0
    agreement: float = 0.0
    accuracy: float = 0.0
    drop_points: float = 0.0


def compare(spec: CompareSpec, progress: Progress) -> list[CandidateRow]:
    """Measure every candidate; a refused or crashed one gives a row with the reason."""
    rows = []
    for engine, precision in candidates():
        progress(f"{engine} {precision}")
        with tempfile.TemporaryDirectory(prefix="trireme-compare-") as folder:
            rows.append(_candidate(spec, engine, precision, Path(folder)))
    return rows


def recommend(rows: Sequence[CandidateRow]) -> CandidateRow:
    """The fastest of those that passed.

    Raises:
        GateError: none passed.
    """
    passed = [row for row in rows if row.is_passed]
    if not passed:
        raise GateError("compare", "no candidate passed its gates")
    return max(passed, key=lambda row: row.texts_per_s)


def write_report(rows: Sequence[CandidateRow], folder: Path) -> None:
    """Write `compare.json`, and `compare.html` with accuracy plotted against speed."""
    import plotly.express as express

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "compare.json").write_bytes(orjson.dumps([asdict(row) for row in rows], option=orjson.OPT_INDENT_2))
    passed = [asdict(row) | {"candidate": f"{row.engine} {row.precision}"} for row in rows if row.is_passed]
    figure = express.scatter(
        passed,
        x="texts_per_s",
        y="accuracy",
        text="candidate",
        size="size_bytes",
        title="accuracy against speed; the size of a point is that of the encoder",
        template="plotly_white",
    )
    figure.update_traces(textposition="top center")
    figure.write_html(folder / "compare.html", include_plotlyjs=True)


def _candidate(spec: CompareSpec, engine: str, precision: str, folder: Path) -> CandidateRow:
    arguments = [str(spec.checkpoint), "--name", "candidate", "-r", str(folder), *spec.arguments(engine, precision)]
    exported = subprocess.run([sys.executable, "-m", "trireme", "export", *arguments], capture_output=True, text=True)
    if exported.returncode != 0:
        return CandidateRow(engine, precision, False, _last_line(exported.stderr))
    command = [sys.executable, "-m", "converters.measure", str(folder), "candidate", str(spec.evaluation)]
    measured = subprocess.run(command, capture_output=True, text=True)
    if measured.returncode != 0:
        return CandidateRow(engine, precision, False, _last_line(measured.stderr))
    return CandidateRow(engine, precision, True, **json.loads(measured.stdout))


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].removeprefix("error: ") if lines else "ended without a word"
