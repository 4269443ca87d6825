"""What a precision method gets: the fp32 graph, the folder to write into, and texts to calibrate on."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from converters.sources.base import TokenIds
from text_runtime.facts import CalibrationFacts
from trireme.errors import TriremeError

Feeds = dict[str, npt.NDArray[Any]]
Progress = Callable[[str], None]

_ROWS_BETWEEN_LINES = 100


class PrecisionError(TriremeError):
    """A precision cannot be made."""

    def __init__(self, precision: str, problem: str, remedy: str) -> None:
        super().__init__(f"precision {precision}: {problem}; {remedy}")


@dataclass(frozen=True)
class Calibration:
    """Real texts, encoded: the ranges of activations are read off them."""

    rows: Sequence[TokenIds]
    sha256: str
    progress: Progress = field(default=lambda line: None, compare=False)

    def feeds(self, inputs: Sequence[str]) -> Iterator[Feeds]:
        """The inputs of a graph for each text alone: in a batch, padding would pull the ranges towards its values."""
        for done, row in enumerate(self.rows):
            if done % _ROWS_BETWEEN_LINES == 0:
                self.progress(f"calibrating: {done} of {len(self.rows)} texts")
            yield feed_of(row, inputs)

    def facts(self, method: str) -> CalibrationFacts:
        """What the manifest says of it."""
        return CalibrationFacts(method, len(self.rows), self.sha256)


@dataclass(frozen=True)
class Recipe:
    """One engine's model in one precision, to be written into `folder`.

    `graph` is the source's in fp32: ONNX, or for Paddle its own (`.json`, its `.pdiparams` beside).
    """

    precision: str
    graph: Path
    folder: Path
    inputs: tuple[str, ...]
    calibration: Calibration | None = None

    def required_calibration(self) -> Calibration:
        """The calibration texts.

        Raises:
            PrecisionError: there are none.
        """
        if self.calibration is None:
            remedy = "give --calibration FILE with a few hundred real texts, one a line"
            raise PrecisionError(self.precision, "this method reads the ranges of activations off real texts", remedy)
        return self.calibration


def feed_of(row: TokenIds, inputs: Sequence[str]) -> Feeds:
    """INT64 [1, tokens] for every input of a graph."""
    ids = np.array([row.ids], dtype=np.int64)
    types = np.array([row.type_ids], dtype=np.int64)
    made = {
        "input_ids": ids,
        "token_type_ids": types,
        "attention_mask": np.ones_like(ids),
        "position_ids": np.arange(ids.shape[1], dtype=np.int64)[None],
    }
    return {name: made[name] for name in inputs}


Method = Callable[[Recipe], str]
"""Writes the model and gives its file's name."""


def cpu_flags() -> set[str]:
    """The CPU's instruction sets, as Linux names them."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return set(next((line.split(":", 1)[1] for line in lines if line.startswith("flags")), "").split())
