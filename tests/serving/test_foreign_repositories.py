"""Repositories of the shapes that others serve, for backends that are not in the wheel: none has an error."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from tests.serving.broken_repositories import write, write_graph
from tests.serving.test_check import run
from tests.serving.throwaway import write_pipeline
from trireme.serving.check import check_repository, is_completed_by_its_server
from trireme.serving.finding import FAIL, WARN

GRAPH = 'platform: "onnxruntime_onnx"'
ROWS = 'input { name: "ids" data_type: TYPE_INT64 dims: [16] } output { name: "logits" data_type: TYPE_FP32 dims: [2] }'
SEQUENCE = """
platform: "onnxruntime_onnx" max_batch_size: 8
input { name: "x" data_type: TYPE_FP32 dims: [1] } output { name: "y" data_type: TYPE_FP32 dims: [1] }
sequence_batching {
  control_input { name: "START" control { kind: CONTROL_SEQUENCE_START fp32_false_true: [0, 1] } }
  state { input_name: "before" output_name: "after" data_type: TYPE_FP32 dims: [1] }
}
"""
AGENT = 'backend: "onnxruntime" model_repository_agents { agents { name: "checksum" } }'


def write_sum(path: Path, *inputs: str, weight: str = "") -> None:
    """A graph that adds FP32 [batch, 1] inputs into `y` and `after`; a `weight` is one of them with a value."""
    path.parent.mkdir(parents=True)
    names = [*inputs, *([weight] if weight else [])]
    given = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", 1]) for name in names]
    if weight:
        given[-1] = helper.make_tensor_value_info(weight, TensorProto.FLOAT, [1, 1])
    made = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", 1]) for name in ("y", "after")]
    nodes = [helper.make_node("Sum", names, [name]) for name in ("y", "after")]
    constants = [helper.make_tensor(weight, TensorProto.FLOAT, [1, 1], np.ones(1))] if weight else []
    graph = helper.make_graph(nodes, "sum", given, made, constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))


def graph(config: str | None) -> Callable[[Path], None]:
    """The sum of 16 numbers, with some config."""

    def make(root: Path) -> None:
        (root / "graph/1").mkdir(parents=True)
        write_graph(root / "graph/1/model.onnx")
        if config is not None:
            write(root / "graph/config.pbtxt", config)

    return make


def model(config: str, *files: str, name: str = "model") -> Callable[[Path], None]:
    """A model with a config and empty files."""

    def make(root: Path) -> None:
        write(root / name / "config.pbtxt", config)
        for file in files:
            write(root / name / file, "")

    return make


def _sequence(root: Path) -> None:
    write(root / "model/config.pbtxt", SEQUENCE)
    write_sum(root / "model/1/model.onnx", "x", "START", "before")


def _weight(root: Path) -> None:
    io = 'input { name: "x" data_type: TYPE_FP32 dims: [1] } input { name: "w" data_type: TYPE_FP32 dims: [1] }'
    given = f'{GRAPH} {io} output {{ name: "y" data_type: TYPE_FP32 dims: [-1, 1] }}'
    write(root / "model/config.pbtxt", given)
    write_sum(root / "model/1/model.onnx", "x", weight="w")


def _around_a_completed_graph(root: Path) -> None:
    graph(GRAPH)(root)
    step = (
        'step { model_name: "graph" model_version: -1 input_map { key: "ids" value: "ids" } '
        'output_map { key: "logits" value: "logits" } }'
    )
    write(
        root / "chain/config.pbtxt", f'platform: "ensemble" max_batch_size: 4 {ROWS} ensemble_scheduling {{ {step} }}'
    )
    write(root / "chain/1/.gitkeep", "")


SERVED = {
    "graph without config": graph(None),
    "graph of a platform": graph(GRAPH),
    "graph without dims": graph(f'{GRAPH} input {{ name: "ids" }} output {{ name: "logits" }}'),
    "graph without batch size": graph(f"{GRAPH} {ROWS}"),
    "graph with outputs alone": graph(f'{GRAPH} output {{ name: "logits" data_type: TYPE_FP32 dims: [-1, 2] }}'),
    "ensemble of a completed graph": _around_a_completed_graph,
    "sequence with controls and state": _sequence,
    "weight as an input": _weight,
    "ragged batch": model(
        'platform: "tensorrt_plan" max_batch_size: 8 '
        'input { name: "ids" data_type: TYPE_INT32 dims: [-1] allow_ragged_batch: true } '
        'batch_input { kind: BATCH_ACCUMULATED_ELEMENT_COUNT target_name: "ends" data_type: TYPE_FP32 '
        'source_input: "ids" } output { name: "y" data_type: TYPE_FP32 dims: [-1] }',
        "1/model.plan",
    ),
    "plans by card": model(
        'platform: "tensorrt_plan" cc_model_filenames { key: "9.0" value: "hopper.plan" }', "1/hopper.plan"
    ),
    "saved model": model('platform: "tensorflow_savedmodel"', "1/model.savedmodel/saved_model.pb"),
    "PyTorch compiled ahead": model(f'platform: "torch_aoti" {ROWS}', "1/model.pt2"),
    "PyTorch with Python": model(f'backend: "pytorch" {ROWS}', "1/model.py", "1/model.pt"),
    "agents": model(AGENT),
    "vLLM": model('backend: "vllm" instance_group { count: 1 kind: KIND_MODEL }', "1/model.json"),
    "DALI by its name": model("max_batch_size: 8", "1/model.dali", name="resize.dali"),
    "backend of its own": model(f'backend: "diffusion" {ROWS}', "1/.gitkeep"),
    "OpenVINO of ONNX": model('backend: "openvino" default_model_filename: "a.onnx"', "1/a.onnx"),
}


@pytest.mark.parametrize("make", SERVED.values(), ids=SERVED)
def test_what_others_serve_is_no_error(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path)
    known = ("does not load",)  # an empty file stands for what only its own backend reads
    errors = [finding for finding in check_repository(tmp_path) if finding.status == FAIL]
    assert [finding for finding in errors if not any(word in finding.found for word in known)] == []


def test_what_a_completed_graph_is_given_wrongly_stays_an_error(tmp_path: Path) -> None:
    graph(f'{GRAPH} input {{ name: "words" data_type: TYPE_INT64 dims: [16] }}')(tmp_path)
    found = [finding.found for finding in check_repository(tmp_path) if finding.status == FAIL]
    assert found == ["lacks the input 'ids' of 1/model.onnx", "input 'words' is not in 1/model.onnx"]


def test_an_unknown_backend_is_a_warning_and_a_misspelt_one_an_error(tmp_path: Path) -> None:
    model('backend: "diffusion"', "1/x", name="a")(tmp_path)
    model('backend: "onnxruntme"', "1/x", name="b")(tmp_path)
    found = [(row.name, row.status) for row in check_repository(tmp_path) if row.check == "backend"]
    assert found == [("a/config.pbtxt", WARN), ("b/config.pbtxt", FAIL)]


@pytest.mark.parametrize(
    ("words", "code", "assumed"),
    [
        ((), 0, "assumed: Triton completes configs, its default; "),
        (("--auto-complete",), 0, "assumed: Triton completes configs, its default; "),
        (("--no-auto-complete",), 1, "assumed: Triton is started with --disable-auto-complete-config; "),
        (("--json",), 0, "assumed: Triton completes configs, its default; "),
    ],
)
def test_the_command_says_which_server_it_judged_for(
    tmp_path: Path, words: tuple[str, ...], code: int, assumed: str
) -> None:
    graph(None)(tmp_path)
    result = run(str(tmp_path), *words)
    assert (result.returncode, result.stderr[: len(assumed)]) == (code, assumed)


def test_a_repository_of_pipelines_is_judged_as_trireme_serves_it(tmp_path: Path) -> None:
    assert not is_completed_by_its_server(write_pipeline(tmp_path / "ours"))
    graph(None)(tmp_path / "theirs")
    assert is_completed_by_its_server(tmp_path / "theirs")


ODD = {
    "config is a folder": (lambda root: (root / "echo/config.pbtxt").mkdir(parents=True), "it is no file"),
    "config is a pipe": (lambda root: _pipe(root / "echo/config.pbtxt"), "it is no file"),
    "config is binary": (lambda root: _bytes(root / "echo/config.pbtxt", b"\xff\x00"), "cannot read it"),
    "model is a folder": (lambda root: (root / "echo/1/model.py").mkdir(parents=True), "model.py"),
    "model is a pipe": (lambda root: _pipe(root / "echo/1/model.py"), "model.py"),
    "model is nowhere": (lambda root: _link(root / "echo/1/model.py"), "no file tells"),
}


def _pipe(path: Path) -> None:
    path.parent.mkdir(parents=True)
    os.mkfifo(path)


def _bytes(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(content)


def _link(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.symlink_to("nowhere")


@pytest.mark.parametrize("has_config", [False, True])
@pytest.mark.parametrize(("make", "words"), ODD.values(), ids=ODD)
def test_what_is_no_file_is_a_finding_and_stops_no_check(
    tmp_path: Path, make: Callable[[Path], object], words: str, has_config: bool
) -> None:
    make(tmp_path)
    if has_config and not (tmp_path / "echo/config.pbtxt").exists():
        write(tmp_path / "echo/config.pbtxt", 'backend: "python"')
    model('backend: "python" max_batch_size: -1', name="beside")(tmp_path)
    found = check_repository(tmp_path)
    assert any(row.status == FAIL and row.name.startswith("echo") for row in found)
    assert has_config or any(words in row.found for row in found)
    assert any("max_batch_size is -1" in row.found for row in found)
