"""Graphs that were exported already: every head and both formats, and what is refused."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from converters.export import ExportSpec, export
from converters.sources import Pooling, SourceOptions, open_source
from converters.sources.checkpoint import hashes_of
from tests.conftest import TASK
from tests.converters.candidates import gate
from tests.converters.checkpoints import write_static, write_tokenizer_config, write_vocabulary
from tests.converters.conftest import PDMODEL
from trireme.contract.repository import Repository
from trireme.errors import CheckpointError, GateError

pytestmark = pytest.mark.xdist_group("static")


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A classifier's graph in Paddle 3's format. Never change it."""
    return write_static(tmp_path_factory.mktemp("graph"), "ErnieForSequenceClassification")


@pytest.fixture
def copy(graph: Path, tmp_path: Path) -> Path:
    """A copy of it, to be broken."""
    return shutil.copytree(graph, tmp_path / "graph")


def write_layer(folder: Path, layer: Any, names: tuple[str, ...] = ("input_ids", "token_type_ids")) -> Path:
    """The graph of any layer of two inputs, a tokenizer beside it."""
    import paddle

    write_vocabulary(folder)
    write_tokenizer_config(folder, "BertTokenizer")
    layer.eval()
    specs = [paddle.static.InputSpec([None, None], "int64", name) for name in names]
    paddle.jit.save(paddle.jit.to_static(layer, input_spec=specs, full_graph=True), str(folder / "model"))
    return folder


@pytest.mark.parametrize("format", ["json", "pdmodel"])
def test_a_graph_is_exported_through_every_gate_and_never_written_to(format: str, graph: Path, tmp_path: Path) -> None:
    folder = PDMODEL if format == "pdmodel" else graph
    before = hashes_of(folder)
    labels = tmp_path / "labels.json"
    labels.write_text('{"labels": ["bad", "so-so", "good"]}')
    manifest = export(ExportSpec(folder, TASK, "reviews", tmp_path / "repository", labels=labels))
    assert [row.gate for row in manifest.gates] == ["graph", "load", "tokens", "outputs"]
    assert (manifest.source.kind, manifest.source.architecture) == ("static", f"model.{format}")
    assert manifest.tokenizer.max_length == (48 if format == "pdmodel" else 66)  # as long as its table of positions
    written = tmp_path / "repository" / "reviews_postprocess" / "1" / "labels.json"
    assert "so-so" in written.read_text()
    assert hashes_of(folder) == before


CASES: list[tuple[str, str, Pooling | None, int]] = [
    ("ErnieForTokenClassification", "token-classification", None, 3),
    ("UIE", "information-extraction", None, 2),
    ("ErnieModel", "embedding", Pooling.CLS, 32),
    ("ErnieModel", "embedding", Pooling.MEAN, 32),
    ("ErnieModel", "embedding", Pooling.POOLER, 32),
]


@pytest.mark.parametrize(("name", "task", "pooling", "width"), CASES)
def test_a_graph_of_every_head_passes_every_gate(
    name: str, task: str, pooling: Pooling | None, width: int, tmp_path: Path
) -> None:
    source = open_source(write_static(tmp_path / "g", name), task, SourceOptions(pooling=pooling))
    assert len(gate(source, tmp_path / "candidate", task)) == 4
    assert source.width == width


BROKEN: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "half the weights": (lambda path: _halve(path / "model.pdiparams"), TASK, "do not load"),
    "half the graph": (lambda path: _halve(path / "model.json"), TASK, "do not load"),
    "no graph": (lambda path: (path / "model.json").unlink(), TASK, "model.pdiparams without model.json"),
    "two graphs": (lambda path: shutil.copy(path / "model.pdiparams", path / "b.pdiparams"), TASK, "b.pdiparams"),
    "no tokenizer": (lambda path: (path / "vocab.txt").unlink(), TASK, "its tokenizer does not load"),
    "a classifier for tokens": (lambda path: None, "token-classification", r"gives \[2, 3\] .*no token-classification"),
    "a classifier for spans": (lambda path: None, "information-extraction", "no information-extraction model"),
}


def _halve(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.mark.parametrize("case", BROKEN)
def test_a_graph_that_does_not_fit_is_refused_and_leaves_nothing(case: str, copy: Path, tmp_path: Path) -> None:
    break_it, task, words = BROKEN[case]
    break_it(copy)
    with pytest.raises(CheckpointError, match=words):
        export(ExportSpec(copy, task, "reviews", tmp_path / "repository"))
    assert not (tmp_path / "repository").exists()


def test_a_graph_with_hidden_states_needs_the_word_how_to_pool(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="--pooling with one of: cls, mean, max, pooler"):
        open_source(write_static(tmp_path / "g", "ErnieModel"), "embedding")


def test_a_graph_that_ends_in_a_softmax_is_refused(tmp_path: Path) -> None:
    import paddle

    class Scores(paddle.nn.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.table = paddle.nn.Embedding(700, 3)

        def forward(self, input_ids: Any, token_type_ids: Any) -> Any:
            types = token_type_ids.astype("float32").sum(axis=1, keepdim=True)
            return paddle.nn.functional.softmax(self.table(input_ids).mean(axis=1) + types, axis=-1)

    with pytest.raises(CheckpointError, match="ends in a softmax"):
        open_source(write_layer(tmp_path / "g", Scores()), TASK)


def test_inputs_of_other_names_are_named(tmp_path: Path) -> None:
    import paddle

    class Sum(paddle.nn.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.table = paddle.nn.Embedding(700, 3)

        def forward(self, words: Any, segments: Any) -> Any:
            return self.table(words + segments).sum(axis=1)

    with pytest.raises(CheckpointError, match="inputs are segments, words|inputs are words, segments"):
        open_source(write_layer(tmp_path / "g", Sum(), ("words", "segments")), TASK)


def test_an_operator_that_onnx_lacks_is_named_with_its_layer_and_nothing_is_published(
    repository: Path, tmp_path: Path
) -> None:
    """Paddle2ONNX ends its whole process at such an operator: this one must go on."""
    import paddle

    class Odd(paddle.nn.Layer):  # type: ignore[misc]
        def forward(self, states: Any) -> Any:
            return paddle.lgamma(states * states + 1)

    class Classifier(paddle.nn.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.table, self.odd = paddle.nn.Embedding(700, 3), Odd()

        def forward(self, input_ids: Any, token_type_ids: Any) -> Any:
            is_token = (input_ids != 0).astype("float32").unsqueeze(-1)
            types = token_type_ids.astype("float32").sum(axis=1, keepdim=True)
            return (self.odd(self.table(input_ids)) * is_token).sum(axis=1) + types

    target = shutil.copytree(repository, tmp_path / "repository")
    folder = write_layer(tmp_path / "g", Classifier())
    with pytest.raises(GateError, match=r"does not know operator 'lgamma' of layer Odd;"):
        export(ExportSpec(folder, TASK, "reviews", target))
    assert Repository(target).releases("sentiment") == [1, 2]
    assert sorted(path.name for path in target.iterdir()) == sorted(path.name for path in repository.iterdir())


def test_pooling_a_graph_that_pools_itself_is_refused(graph: Path) -> None:
    with pytest.raises(CheckpointError, match="leave --pooling away"):
        open_source(graph, "embedding", SourceOptions(pooling=Pooling.CLS))
    assert np.isfinite(open_source(graph, "embedding").width)
