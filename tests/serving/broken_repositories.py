"""Small model repositories without a fault, and the ways to break each of them in exactly one place."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from text_runtime.manifest import FILE_NAME, read_manifest, sha256_of
from trireme.contract.repository import Repository

Break = Callable[[Path], object]

MODEL = """
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        return [None] * len(requests)
"""
_STEP = """
name: "{name}"
backend: "python"
max_batch_size: 8
input {{ name: "{given}" data_type: TYPE_FP32 dims: [4] }}
output {{ name: "{made}" data_type: TYPE_FP32 dims: [4] }}
dynamic_batching {{ }}
version_policy {{ specific {{ versions: [1] }} }}
"""
_ENSEMBLE = """
name: "chain"
platform: "ensemble"
max_batch_size: 8
input { name: "x" data_type: TYPE_FP32 dims: [4] }
output { name: "z" data_type: TYPE_FP32 dims: [4] }
version_policy { specific { versions: [1] } }
ensemble_scheduling {
  step {
    model_name: "first"
    model_version: 1
    input_map { key: "x" value: "x" }
    output_map { key: "y" value: "y" }
  }
  step {
    model_name: "second"
    model_version: 1
    input_map { key: "y" value: "y" }
    output_map { key: "z" value: "z" }
  }
}
"""
_GRAPH = """
name: "graph"
backend: "{backend}"
max_batch_size: 8
input {{ name: "ids" data_type: TYPE_INT64 dims: [16] }}
output {{ name: "logits" data_type: TYPE_FP32 dims: [2] }}
dynamic_batching {{ }}
model_warmup {{ name: "w" inputs {{ key: "ids" value {{ data_type: TYPE_INT64 dims: [16] zero_data: true }} }} }}
"""


def write_chain(root: Path) -> None:
    """Two Python models, one after the other, and a third that nobody needs."""
    for name, given, made in (("first", "x", "y"), ("second", "y", "z"), ("spare", "s", "t")):
        write(root / name / "config.pbtxt", _STEP.format(name=name, given=given, made=made))
        write(root / name / "1" / "model.py", MODEL)
    write(root / "chain" / "config.pbtxt", _ENSEMBLE)
    write(root / "chain" / "1" / ".gitkeep", "")


def write_onnx(root: Path) -> None:
    """One graph for Triton's own ONNX Runtime backend."""
    write(root / "graph" / "config.pbtxt", _GRAPH.format(backend="onnxruntime"))
    (root / "graph" / "1").mkdir()
    write_graph(root / "graph" / "1" / "model.onnx")


def write_openvino(root: Path) -> None:
    """The same graph for Triton's own OpenVINO backend."""
    import openvino

    write(root / "graph" / "config.pbtxt", _GRAPH.format(backend="openvino"))
    write_graph(root / "graph.onnx")
    (root / "graph" / "1").mkdir()
    openvino.save_model(openvino.convert_model(root / "graph.onnx"), root / "graph" / "1" / "model.xml")
    (root / "graph.onnx").unlink()


def write_graph(path: Path, batch: int | str = "batch", made: str = "logits") -> None:
    """A graph that sums 16 numbers twice: `ids` INT64 [batch, 16] -> FP32 [batch, 2]."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper

    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, [batch, 16])
    logits = helper.make_tensor_value_info(made, TensorProto.FLOAT, [batch, 2])
    weights = helper.make_tensor("weights", TensorProto.FLOAT, [16, 2], np.ones(32))
    nodes = [helper.make_node("Cast", ["ids"], ["floats"], to=TensorProto.FLOAT)]
    nodes += [helper.make_node("MatMul", ["floats", "weights"], [made])]
    graph = helper.make_graph(nodes, "sum", [ids], [logits], [weights])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))


def write(path: Path, text: str) -> None:
    """Write a file, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def swap(file: str, *pairs: str) -> Break:
    """Replace texts in a file: the first by the second, the third by the fourth."""

    def edit(root: Path) -> None:
        path = root / file
        text = path.read_text(encoding="utf-8")
        for old, new in zip(pairs[::2], pairs[1::2], strict=True):
            assert old in text, f"{old} is not in {file}"
            text = text.replace(old, new, 1)
        path.write_text(text, encoding="utf-8")

    return edit


def add(file: str, text: str) -> Break:
    """Write something behind what a file holds; a new file if there is none."""

    def edit(root: Path) -> None:
        path = root / file
        write(path, (path.read_text(encoding="utf-8") if path.exists() else "") + text)

    return edit


def remove(path: str) -> Break:
    """Remove a file or a folder."""

    def edit(root: Path) -> None:
        found = root / path
        shutil.rmtree(found) if found.is_dir() else found.unlink()

    return edit


def cut(path: str) -> Break:
    """Keep the first half of a file."""

    def edit(root: Path) -> None:
        content = (root / path).read_bytes()
        (root / path).write_bytes(content[: len(content) // 2])

    return edit


def empty(path: str) -> Break:
    """Remove what a folder holds."""

    def edit(root: Path) -> None:
        shutil.rmtree(root / path)
        (root / path).mkdir()

    return edit


def all_of(*breaks: Break) -> Break:
    """One fault that stands in several files."""

    def edit(root: Path) -> None:
        for each in breaks:
            each(root)

    return edit


def signed(edit: Break) -> Break:
    """A fault that release 1 of the repository's pipeline was already published with."""

    def break_and_sign(root: Path) -> None:
        edit(root)
        folders = _first_release(root)
        files = {
            f"{folder.parent.name}/{path.name}": sha256_of(path)
            for folder in folders
            for path in folder.iterdir()
            if path.name != FILE_NAME
        }
        manifest = replace(read_manifest(folders[0]), files=files)
        for folder in folders:
            (folder / FILE_NAME).write_bytes(manifest.to_json())

    return break_and_sign


def in_manifests(old: str, new: str) -> Break:
    """Replace a text in the manifest of every folder of release 1 of the repository's pipeline."""

    def edit(root: Path) -> None:
        for folder in _first_release(root):
            swap(str((folder / FILE_NAME).relative_to(root)), old, new)(root)

    return edit


def _first_release(root: Path) -> list[Path]:
    repository = Repository(root)
    (pipeline,) = repository.pipelines()
    return [folder / "1" for folder in repository.folders(pipeline)]
