from itertools import islice
from pathlib import Path

import pytest

from loadtest.texts import CorpusError, draw, read_corpus


def test_a_txt_gives_one_text_a_line_without_blank_ones(tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    path.write_text("质量不错\n\n  \n太差了 \n", encoding="utf-8")
    assert read_corpus(path) == ["质量不错", "太差了"]


def test_a_tsv_gives_its_text_column_with_quotes_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "texts.tsv"
    path.write_text('label\ttext\n1\t"好" 的\n0\t差\n', encoding="utf-8")
    assert read_corpus(path) == ['"好" 的', "差"]


@pytest.mark.parametrize(
    ("name", "content"), [("a.txt", b"\n \n"), ("a.tsv", b"label\tbody\n1\tx\n"), ("a.txt", b"\xff\xfe")]
)
def test_a_file_without_texts_is_refused(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(CorpusError, match=name):
        read_corpus(tmp_path / name)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="No such file"):
        read_corpus(tmp_path / "none.txt")


def test_draws_repeat_with_their_seed_and_differ_without() -> None:
    texts = [str(number) for number in range(100)]
    first, again, other = (list(islice(draw(texts, 3, seed), 5)) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert all(len(rows) == 3 for rows in first)
