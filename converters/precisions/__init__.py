"""Which precisions an engine can have, and how each is made. A new one is one function and one line in `_ENTRIES`."""

import contextlib
import errno
import logging
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from converters.precisions import nncf, onnx_methods, plain
from converters.precisions.base import (
    Calibration,
    Method,
    PrecisionError,
    Recipe,
    cpu_flags,
)
from text_runtime.encoder.engines import engine_names
from text_runtime.facts import CalibrationFacts
from trireme.errors import TriremeError, UnsupportedError

__all__ = [
    "Calibration",
    "Choice",
    "PrecisionError",
    "Recipe",
    "build",
    "caveats",
    "choices",
    "choose",
    "facts_of",
    "is_calibrated",
    "is_plain_graph",
    "missing_instructions",
    "needs_onnx",
    "registered",
]

_BF16 = frozenset({"avx512_bf16", "amx_bf16"})
_VNNI = frozenset(onnx_methods.VNNI)
_BATCH_SCALES = (
    "activations share one scale a batch: a text's scores depend a little on the texts that it is batched with"
)
_FOR_GPU = "a graph for GPUs: on a CPU it is computed in fp32 between roundings, slower than fp32 itself"


@dataclass(frozen=True)
class Choice:
    """An engine, a precision, and the method by which the precision is reached; empty where there is but one way."""

    engine: str
    precision: str
    method: str = ""

    def __str__(self) -> str:
        return " ".join(filter(None, (self.engine, self.precision, self.method)))


@dataclass(frozen=True)
class _Entry:
    write: Method
    calibration: str = ""
    """How ranges are read off the calibration texts; empty where none are."""
    instructions: frozenset[str] = frozenset()
    """CPU instructions of which one is needed to gain speed."""
    caveat: str = ""
    has_onnx: bool = True
    """Whether it is made of the ONNX graph; else of Paddle's own."""


# The first method of a precision is its default.
_ENTRIES: dict[Choice, _Entry] = {
    Choice("onnxruntime", "fp32"): _Entry(plain.copy_onnx),
    Choice("onnxruntime", "fp16"): _Entry(onnx_methods.convert_to_fp16, caveat=_FOR_GPU),
    Choice("onnxruntime", "int8", "dynamic"): _Entry(
        onnx_methods.quantize_dynamic, instructions=_VNNI, caveat=_BATCH_SCALES
    ),
    Choice("onnxruntime", "int8", "static"): _Entry(onnx_methods.quantize_static, "QDQ, minimum to maximum", _VNNI),
    Choice("onnxruntime", "int4", "weight-only"): _Entry(onnx_methods.compress_to_int4),
    Choice("tensorrt", "fp32"): _Entry(plain.copy_onnx),
    Choice("tensorrt", "fp16"): _Entry(onnx_methods.convert_to_fp16),
    Choice("tensorrt", "int8", "static"): _Entry(onnx_methods.quantize_for_tensorrt, "QDQ, minimum to maximum"),
    Choice("openvino", "fp32"): _Entry(plain.convert_to_openvino),
    Choice("openvino", "bf16"): _Entry(plain.convert_to_openvino, instructions=_BF16),
    Choice("openvino", "int8", "static"): _Entry(nncf.quantize_static, "NNCF, transformer preset", _VNNI),
    Choice("openvino", "int8", "weight-only"): _Entry(nncf.compress_to_int8),
    Choice("openvino", "int4", "weight-only"): _Entry(nncf.compress_to_int4),
    Choice("paddle", "fp32"): _Entry(plain.copy_paddle, has_onnx=False),
    Choice("paddle", "bf16"): _Entry(plain.copy_paddle, instructions=_BF16, has_onnx=False),
}


def registered() -> list[Choice]:
    """Every precision, by every method, of every engine, those of a GPU included."""
    return list(_ENTRIES)


def choices() -> list[Choice]:
    """Every precision, by every method, of the engines that run on a CPU."""
    return [choice for choice in _ENTRIES if choice.engine in engine_names()]


def choose(engine: str, precision: str, method: str | None = None) -> Choice:
    """The choice that a user's words name; without a method, the precision's first.

    Raises:
        UnsupportedError: there is no such engine, or it has no such precision or method.
    """
    of_engine = [choice for choice in _ENTRIES if choice.engine == engine]
    if not of_engine:
        raise UnsupportedError("engine", engine, sorted({choice.engine for choice in _ENTRIES}))
    of_precision = [choice for choice in of_engine if choice.precision == precision]
    if not of_precision:
        known = sorted({choice.precision for choice in of_engine})
        raise UnsupportedError(f"precision of {engine}", precision, known)
    if method is None:
        return of_precision[0]
    if Choice(engine, precision, method) not in of_precision:
        methods = [choice.method for choice in of_precision if choice.method]
        remedy = f"use one of: {', '.join(methods)}" if methods else "leave --method out"
        raise PrecisionError(f"{precision} of {engine}", f"there is no method '{method}'", remedy)
    return Choice(engine, precision, method)


def build(choice: Choice, recipe: Recipe) -> str:
    """Write an engine's model into a release's encoder folder; gives the model file's name.

    Raises:
        OSError: the disk is full.
        PrecisionError: the model cannot be made.
    """
    try:
        with _hushed():
            return _ENTRIES[choice].write(recipe)
    except (OSError, TriremeError):
        raise
    except Exception as error:  # each quantizer has exceptions of its own
        _require_space(recipe)
        problem = f"{choice.engine} cannot make it of this graph ({type(error).__name__}: {_gist(error)})"
        raise PrecisionError(str(choice), problem, "choose another --precision, --method or --engine") from error


def facts_of(choice: Choice, recipe: Recipe) -> CalibrationFacts | None:
    """What the manifest says of the calibration; None where there was none."""
    method = _ENTRIES[choice].calibration
    return recipe.required_calibration().facts(method) if method else None


def is_calibrated(choice: Choice) -> bool:
    """Whether the method needs calibration texts."""
    return bool(_ENTRIES[choice].calibration)


def is_plain_graph(choice: Choice) -> bool:
    """Whether the model is the source's fp32 graph itself, as every other is compared with."""
    return choice.precision == "fp32" and _ENTRIES[choice].write in (plain.copy_onnx, plain.copy_paddle)


def needs_onnx(choice: Choice) -> bool:
    """Whether the model is made of the ONNX graph; one for Paddle is not, and need not convert."""
    return _ENTRIES[choice].has_onnx


def missing_instructions(choice: Choice) -> list[str]:
    """The instructions of which a precision needs one to be fast; empty where this CPU has one, or none is needed."""
    wanted = _ENTRIES[choice].instructions
    return sorted(wanted) if wanted and not wanted & cpu_flags() else []


def caveats(choice: Choice) -> list[str]:
    """What a user of such a release should know."""
    caveat = _ENTRIES[choice].caveat
    return [caveat] if caveat else []


@contextlib.contextmanager
def _hushed() -> Iterator[None]:
    """Quantizers print their progress, which goes to stderr, and tell the root logger of every tensor, which nobody
    wants."""
    before = logging.root.manager.disable
    logging.disable(logging.INFO)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        logging.disable(before)


def _require_space(recipe: Recipe) -> None:
    """Native code reports a full disk as it likes, and may have taken its half-written file away."""
    if shutil.disk_usage(recipe.folder).free < recipe.graph.stat().st_size:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _gist(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:200] if lines else "no reason given"
