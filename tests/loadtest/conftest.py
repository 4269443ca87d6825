"""A real Triton with a pipeline that answers well, and one for each way of answering badly."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.container import CLASSIFIER, Container, running, write_pipeline

REFUSAL = '        raise pb_utils.TritonModelException("refused on purpose")\n        best ='
BAD_CLASSIFIERS = {
    "wrong_sum": CLASSIFIER.replace("0.9, 0.1)", "0.9, 0.4)"),
    "swapped": CLASSIFIER.replace('b"odd", b"even"', 'b"even", b"even"'),
    "fickle": CLASSIFIER.replace("[[len(row[0]) % 2]", "[[np.random.randint(2)]"),
    "refusing": CLASSIFIER.replace("        best =", REFUSAL, 1),
}


@pytest.fixture(scope="package")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Container]:
    """The pipelines `parity` and those of `BAD_CLASSIFIERS`."""
    folder = tmp_path_factory.mktemp("loadtest")
    write_pipeline(folder / "models", "parity")
    for name, source in BAD_CLASSIFIERS.items():
        write_pipeline(folder / "models", name, source)
    yield from running(folder)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Texts of mixed length."""
    path = tmp_path / "texts.txt"
    path.write_text("\n".join("好" * length + "。" for length in range(1, 60)) + "\n", encoding="utf-8")
    return path
