"""Triton as most of its users lay it out: every model carries its own `model.py`, the tokenizer pads each request, the
encoder is an fp32 ONNX model behind the dynamic batcher, and no input is ragged.

The wheel has no ONNX Runtime backend, so the encoder runs ONNX Runtime inside a Python backend; on the CPU, with one
text a request, the difference is small against the encoder itself.
"""

import shutil
from dataclasses import replace
from pathlib import Path

from text_runtime.manifest import FILE_NAME, read_encoder_manifest, sha256_of

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
    shutil.copy(_LAYOUT / "ensemble.pbtxt", ensemble.parent / "config.pbtxt")
    _write_manifests(repository, pipeline)


def _write_manifests(repository: Path, pipeline: str) -> None:
    """Our own `serve` wants to see a whole release, with the hash of every file."""
    folders = [*repository.glob(f"{_NAME}_*/1"), repository / _NAME / "1"]
    files = {
        f"{path.parent.parent.name}/{path.name}": sha256_of(path) for folder in folders for path in folder.iterdir()
    }
    manifest = replace(read_encoder_manifest(repository / pipeline / "1"), pipeline=_NAME, files=files)
    for folder in folders:
        (folder / FILE_NAME).write_bytes(manifest.to_json())
