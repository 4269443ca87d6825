"""What a precision method gets: the fp32 graph, the folder to write into, and texts to calibrate on."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from text_runtime.manifest import CalibrationFacts
from trireme.errors import TriremeError

Feeds = dict[str, npt.NDArray[Any]]


class PrecisionError(TriremeError):
    """A precision cannot be made, or not on this machine."""

    def __init__(self, precision: str, problem: str, remedy: str) -> None:
        super().__init__(f"precision {precision}: {problem}; {remedy}")


@dataclass(frozen=True)
class Calibration:
    """Real texts, encoded: the ranges of activations are read off them. Each row is a list of token ids."""

    rows: Sequence[list[int]]
    sha256: str

    def feeds(self, inputs: Sequence[str]) -> Iterator[Feeds]:
        """Each text as a batch of its own: padding would pull the ranges towards its own values."""
        for row in self.rows:
            ids = np.array([row], dtype=np.int64)
            made = {"input_ids": ids, "token_type_ids": np.zeros_like(ids), "attention_mask": np.ones_like(ids)}
            yield {name: made[name] for name in inputs}

    def facts(self, method: str) -> CalibrationFacts:
        """What the manifest says of it."""
        return CalibrationFacts(method, len(self.rows), self.sha256)


@dataclass(frozen=True)
class Recipe:
    """One engine's model in one precision, to be written into `folder`."""

    precision: str
    onnx: Path
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

    def require_cpu(self, flags: set[str]) -> None:
        """Refuse a CPU that has none of these instructions.

        Raises:
            PrecisionError: it has none.
        """
        if not flags & cpu_flags():
            problem = f"this CPU has none of {', '.join(sorted(flags))} and would emulate it, slower than fp32"
            raise PrecisionError(self.precision, problem, "choose fp32 or int8")


Method = Callable[[Recipe], str]
"""Writes the model and gives its file's name."""


def cpu_flags() -> set[str]:
    """The CPU's instruction sets, as Linux names them."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return set(next((line.split(":", 1)[1] for line in lines if line.startswith("flags")), "").split())


def sha256_of_texts(texts: Sequence[str]) -> str:
    """One hash of a list of texts."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()
