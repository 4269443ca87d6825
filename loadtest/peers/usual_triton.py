"""Triton as most of its users lay it out: every model carries its own `model.py`, the tokenizer pads each request, the
encoder is an fp32 ONNX model behind the dynamic batcher, and no input is ragged.

The wheel has no ONNX Runtime backend, so the encoder runs ONNX Runtime inside a Python backend; on the CPU, with one
text a request, the difference is small against the encoder itself.
"""

import shutil
from pathlib import Path

_LAYOUT = Path(__file__).parent / "usual_layout"
_NAME = "usual"


def write_usual_layout(repository: Path, pipeline: str, onnx: Path) -> None:
    """Write the pipeline `usual` beside release 1 of `pipeline`, from whose files it is made."""
    for step in ("tokenizer", "encoder", "postprocess"):
        version = repository / f"{_NAME}_{step}" / "1"
        version.mkdir(parents=True)
        shutil.copy(_LAYOUT / f"{step}.py", version / "model.py")
        shutil.copy(_LAYOUT / f"{step}.pbtxt", version.parent / "config.pbtxt")
    shutil.copy(repository / f"{pipeline}_tokenizer/1/tokenizer.json", repository / f"{_NAME}_tokenizer/1")
    shutil.copy(onnx, repository / f"{_NAME}_encoder/1")
    ensemble = repository / _NAME / "1"
    ensemble.mkdir(parents=True)
    # Our own `serve` wants to see a whole release.
    shutil.copy(repository / pipeline / "1" / "manifest.json", ensemble)
    shutil.copy(_LAYOUT / "ensemble.pbtxt", ensemble.parent / "config.pbtxt")
