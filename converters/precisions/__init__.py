"""Which precision an engine can have, and how it is made. A new one is one function and one line in `_METHODS`."""

from dataclasses import dataclass

from converters.precisions.base import Calibration, Method, PrecisionError, Recipe, sha256_of_texts
from converters.precisions.int8 import quantize_dynamic, quantize_static
from converters.precisions.plain import convert_to_bf16, convert_to_openvino, copy_onnx
from text_runtime.manifest import CalibrationFacts
from trireme.errors import UnsupportedError

__all__ = ["Calibration", "PrecisionError", "Recipe", "build", "candidates", "facts_of", "sha256_of_texts"]


@dataclass(frozen=True)
class _Entry:
    method: Method
    name: str = ""
    is_calibrated: bool = False


_METHODS: dict[tuple[str, str], _Entry] = {
    ("onnxruntime", "fp32"): _Entry(copy_onnx),
    ("onnxruntime", "int8"): _Entry(quantize_dynamic, "dynamic"),
    ("openvino", "fp32"): _Entry(convert_to_openvino),
    ("openvino", "bf16"): _Entry(convert_to_bf16),
    ("openvino", "int8"): _Entry(quantize_static, "static, NNCF transformer preset", is_calibrated=True),
}


def candidates() -> list[tuple[str, str]]:
    """Every engine with every precision that it can have."""
    return list(_METHODS)


def build(engine: str, recipe: Recipe) -> str:
    """Write an engine's model into a release's encoder folder; gives the model file's name.

    Raises:
        UnsupportedError: there is no such engine, or it does not have this precision.
        PrecisionError: it cannot be made, or not on this machine.
    """
    return _entry(engine, recipe.precision).method(recipe)


def facts_of(engine: str, recipe: Recipe) -> CalibrationFacts | None:
    """What the manifest says of a precision's method and its calibration; None where nothing was quantized."""
    entry = _entry(engine, recipe.precision)
    if entry.is_calibrated:
        return recipe.required_calibration().facts(entry.name)
    return CalibrationFacts(entry.name, 0, "") if entry.name else None


def _entry(engine: str, precision: str) -> _Entry:
    engines = sorted({name for name, _ in _METHODS})
    if engine not in engines:
        raise UnsupportedError("engine", engine, engines)
    if (engine, precision) not in _METHODS:
        known = [own for name, own in _METHODS if name == engine]
        raise UnsupportedError(f"precision of {engine}", precision, known)
    return _METHODS[engine, precision]
