"""ONNX folders as hubs and exporters leave them: what they answer, what is pooled behind them, what is refused."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest

from converters.export import ExportSpec, export
from converters.sources import Pooling, SourceOptions, open_source
from tests.conftest import TASK
from text_runtime.local import LocalPipeline, text_tensor
from trireme.contract.repository import Repository
from trireme.errors import CheckpointError, GateError

pytestmark = pytest.mark.xdist_group("onnx")
_BERT_SETTINGS = {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "strip_accents": None}


@pytest.fixture
def folder(repository: Path, tmp_path: Path) -> Path:
    """The demo as an ONNX folder: its graph in `onnx/`, its tokenizer and labels beside."""
    made = tmp_path / "onnx-folder"
    (made / "onnx").mkdir(parents=True)
    shutil.copyfile(repository / "sentiment_encoder" / "1" / "model.onnx", made / "onnx" / "model.onnx")
    shutil.copyfile(repository / "sentiment_tokenizer" / "1" / "tokenizer.json", made / "tokenizer.json")
    (made / "tokenizer_config.json").write_text('{"model_max_length": 256, "pad_token": "[PAD]"}')
    (made / "config.json").write_text('{"id2label": {"0": "negative", "1": "positive"}}')
    return made


def hidden_graph(vocabulary: int, width: int = 6, **changes: Any) -> onnx.ModelProto:
    """A graph that looks tokens up in a table: `last_hidden_state` FP32 [rows, tokens, width]."""
    shape: list[Any] = changes.get("shape", ["rows", "tokens"])
    kind = changes.get("kind", onnx.TensorProto.INT64)
    table = np.random.default_rng(0).standard_normal((vocabulary, width)).astype(np.float32)
    nodes = [
        onnx.helper.make_node("Cast", ["attention_mask"], ["unused"], to=onnx.TensorProto.FLOAT),
        onnx.helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"]),
    ]
    inputs = [onnx.helper.make_tensor_value_info(name, kind, shape) for name in ("input_ids", "attention_mask")]
    output = onnx.helper.make_tensor_value_info("last_hidden_state", onnx.TensorProto.FLOAT, [*shape, width])
    graph = onnx.helper.make_graph(nodes, "hidden", inputs, [output], [onnx.numpy_helper.from_array(table, "table")])
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)


def answers(repository: Path, texts: list[str]) -> dict[str, npt.NDArray[Any]]:
    """What release 1 of `p` answers in process."""
    found = Repository(repository)
    (answer,) = LocalPipeline(found.release_folders("p", 1), found.manifest("p", 1))([{"text": text_tensor(texts)}])
    return dict(answer)


def test_a_classifiers_graph_answers_as_it_did_where_it_came_from(
    folder: Path, repository: Path, reviews: list[str], source_scores: npt.NDArray[Any], tmp_path: Path
) -> None:
    manifest = export(ExportSpec(folder, TASK, "p", tmp_path / "r"))
    assert (manifest.source.kind, manifest.tokenizer.max_length) == ("onnx", 256)
    assert set(manifest.source.sha256) >= {"onnx/model.onnx", "tokenizer.json", "config.json"}
    found = answers(tmp_path / "r", reviews[:64])
    assert np.abs(found["scores"] - source_scores[:64]).max() < 1e-4
    assert {label.decode() for label in found["label"].ravel()} == {"negative", "positive"}


@pytest.mark.parametrize("pooling", [Pooling.CLS, Pooling.MEAN, Pooling.MAX])
def test_hidden_states_are_pooled_over_the_tokens_and_never_over_the_padding(
    pooling: Pooling, folder: Path, tmp_path: Path
) -> None:
    graph = hidden_graph(30000)
    onnx.save(graph, str(folder / "onnx" / "model.onnx"))
    options = SourceOptions(pooling=pooling)
    export(ExportSpec(folder, "embedding", "p", tmp_path / "r", options=options, is_normalized=False))
    texts = ["好", "物流很快，质量也好 [PAD]", "一般" * 30]
    found = answers(tmp_path / "r", texts)["embedding"]
    table = onnx.numpy_helper.to_array(graph.graph.initializer[0])
    for row, text in zip(found, open_source(folder, "embedding", options).tokenize(texts, None, 256), strict=True):
        states = table[text.ids]
        wanted = {Pooling.CLS: states[0], Pooling.MEAN: states.mean(0), Pooling.MAX: states.max(0)}[pooling]
        np.testing.assert_allclose(row, wanted, atol=1e-5)


def test_the_recipe_of_sentence_transformers_is_obeyed(folder: Path, tmp_path: Path) -> None:
    onnx.save(hidden_graph(30000), str(folder / "onnx" / "model.onnx"))
    kinds = ("Transformer", "Pooling", "Normalize")
    modules = [{"path": f"{i}_{kind}", "type": f"sentence_transformers.models.{kind}"} for i, kind in enumerate(kinds)]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_mean_tokens": true}')
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 24, "do_lower_case": true}')
    manifest = export(ExportSpec(folder, "embedding", "p", tmp_path / "r"))
    assert manifest.source.kind == "onnx"
    assert manifest.tokenizer.max_length == 24
    found = answers(tmp_path / "r", ["  GOOD  ", "good", "好" * 100])
    np.testing.assert_allclose(np.linalg.norm(found["embedding"], axis=1), 1, atol=1e-5)
    np.testing.assert_array_equal(found["embedding"][0], found["embedding"][1])
    assert found["truncated_chars"].ravel().tolist() == [0, 0, 78]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (_BERT_SETTINGS | {"do_lower_case": False}, "do_lower_case is False and not True"),
        (_BERT_SETTINGS | {"tokenize_chinese_chars": False}, "tokenize_chinese_chars is False and not True"),
        ({"added_tokens_decoder": {"0": {"content": "[NIL]"}}}, "content of token 0 .* is '\\[NIL\\]' and not"),
        ({"model_max_length": -4}, "model_max_length is -4"),
        ({"model_max_length": "many"}, "model_max_length is 'many'"),
    ],
)
def test_settings_that_say_something_else_than_tokenizer_json_are_refused(
    settings: dict[str, Any], words: str, folder: Path
) -> None:
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    tokenizer["normalizer"] = {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    with pytest.raises(CheckpointError, match=words):
        open_source(folder, TASK)


def test_a_graph_of_another_form_is_refused(folder: Path, tmp_path: Path) -> None:
    path = folder / "onnx" / "model.onnx"
    onnx.save(hidden_graph(30000), str(path))
    with pytest.raises(CheckpointError, match="does not say how to pool; use --pooling with one of: cls, mean, max"):
        open_source(folder, "embedding")
    with pytest.raises(CheckpointError, match="which is no text-classification model"):
        open_source(folder, TASK)
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(CheckpointError, match="model.onnx does not load in ONNX Runtime"):
        open_source(folder, TASK)
    path.unlink()
    with pytest.raises(CheckpointError, match="has none of"):
        open_source(folder, TASK)


def test_a_graph_of_fixed_shape_is_refused(folder: Path, tmp_path: Path) -> None:
    onnx.save(hidden_graph(30000, shape=["rows", 256]), str(folder / "onnx" / "model.onnx"))
    spec = ExportSpec(folder, "embedding", "p", tmp_path / "r", options=SourceOptions(pooling=Pooling.CLS))
    with pytest.raises((GateError, CheckpointError), match="does not run for 2 rows of 5 tokens"):
        export(spec)
    assert not (tmp_path / "r").exists()


def test_a_table_without_a_row_for_every_token_is_refused(folder: Path, tmp_path: Path) -> None:
    onnx.save(hidden_graph(100), str(folder / "onnx" / "model.onnx"))
    spec = ExportSpec(folder, "embedding", "p", tmp_path / "r", options=SourceOptions(pooling=Pooling.CLS))
    with pytest.raises(GateError, match="tokens that the table of embeddings \\(100 rows\\) lacks"):
        export(spec)
    assert not (tmp_path / "r").exists()
