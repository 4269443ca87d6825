"""Every family of architectures and every kind of source on the real Triton, beside the source's own output."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from converters.paddle_runtime import import_paddlenlp
from converters.sources import open_source
from tests.conftest import TASK
from tests.converters.conftest import PDMODEL, PIPELINES
from tests.tasks.test_served import ask, softmax
from tests.tasks.texts import hard_texts
from text_runtime.manifest import sha256_of
from trireme.contract.repository import Repository
from trireme.serving import Server

pytestmark = pytest.mark.xdist_group("served-sources")
TOLERANCE = 1e-4

Logits = Callable[[npt.NDArray[np.int64], npt.NDArray[np.int64]], npt.NDArray[Any]]


def of_paddlenlp(folder: Path, architecture: str) -> Logits:
    """PaddleNLP's dynamic model: logits for [1, tokens] ids and types."""
    import paddle

    kind = getattr(import_paddlenlp(), architecture)
    model = kind.from_pretrained(str(folder))
    model.eval()
    names = ("input_ids", "token_type_ids") if "ErnieM" not in architecture else ("input_ids",)

    def run(ids: npt.NDArray[np.int64], types: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        given = dict(zip(names, (paddle.to_tensor(ids), paddle.to_tensor(types)), strict=False))
        with paddle.no_grad():
            result = model(**given)
        return np.asarray(result[0] if isinstance(result, tuple) else result)

    return run


def of_paddle_inference(folder: Path) -> Logits:
    """Paddle Inference's own run of the graph in a folder."""
    import paddle.inference

    graph = next(path for path in (folder / "model.json", folder / "model.pdmodel") if path.is_file())
    config = paddle.inference.Config(str(graph), str(folder / "model.pdiparams"))
    config.disable_gpu()
    predictor = paddle.inference.create_predictor(config)

    def run(ids: npt.NDArray[np.int64], types: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        for name, value in (("input_ids", ids), ("token_type_ids", types)):
            predictor.get_input_handle(name).copy_from_cpu(value)
        predictor.run()
        return np.asarray(predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu())

    return run


def truth(folder: Path, run: Logits, texts: list[str]) -> npt.NDArray[Any]:
    """The source's logits, one text at a time, of its own tokenizer's ids."""
    source = open_source(folder, TASK)
    rows = source.tokenize(texts, None, source.traits.longest)
    return np.concatenate([run(np.array([row.ids]), np.array([row.type_ids])) for row in rows])


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """200 texts of all kinds."""
    return hard_texts(200)


@pytest.mark.parametrize("name", PIPELINES)
def test_a_family_answers_as_its_source(
    name: str, families_server: Server, sources: dict[str, Path], texts: list[str], tmp_path: Path
) -> None:
    folder, case = sources[name], PIPELINES[name]
    if case.kind == "static":
        run = of_paddle_inference(folder)
    else:
        copy = shutil.copytree(folder, tmp_path / "copy")  # PaddleNLP writes beside what it reads
        run = of_paddlenlp(copy, case.architecture)
    theirs = softmax(truth(folder, run, texts))
    ours = ask(families_server, name, text=texts)["scores"]
    assert np.abs(ours - theirs).max() < TOLERANCE
    assert theirs.max(axis=1).std() > 0.01, "answers that are all alike would show nothing"


def test_a_pdmodel_answers_as_paddle_inference(families_server: Server, texts: list[str]) -> None:
    theirs = softmax(truth(PDMODEL, of_paddle_inference(PDMODEL), texts))
    assert np.abs(ask(families_server, "pdmodel", text=texts)["scores"] - theirs).max() < TOLERANCE


@pytest.mark.parametrize("name", PIPELINES)
def test_the_kind_of_a_source_is_found_by_looking(name: str, families_repository: Path) -> None:
    facts = Repository(families_repository).manifest(name, 1).source
    assert facts.kind == PIPELINES[name].kind
    assert facts.architecture == ("model.json" if facts.kind == "static" else PIPELINES[name].architecture)


def test_the_checkpoints_were_not_written_to(families_repository: Path, sources: dict[str, Path]) -> None:
    recorded = Repository(families_repository).manifest("bert", 1).source.sha256
    assert recorded == {path.name: sha256_of(path) for path in sources["bert"].iterdir()}
