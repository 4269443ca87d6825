"""`trireme infer` for every task, on the real Triton."""

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.tasks.ways import raw
from trireme.cli.app import main
from trireme.serving import Server

pytestmark = pytest.mark.xdist_group("tasks")
TEXT = "中国[北京大学]的John Smith"
SCHEMA = '[{"人物": ["时间"]}, "时间"]'


@pytest.fixture
def infer(tasks_server: Server, capsysbinary: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run `trireme infer` against the tasks; gives exit code, stdout and stderr."""

    def run(*arguments: str, address: tuple[str, ...] = (), stdin: str = "") -> tuple[int, str, str]:
        where = address or ("--url", tasks_server.http_url)
        monkeypatch.setattr(sys, "argv", ["trireme", "infer", *arguments, *where])
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(stdin.encode())))
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsysbinary.readouterr()
        return int(ended.value.code or 0), out.decode(), err.decode()

    return run


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (("sentiment", TEXT), ("label", "score", "scores")),
        (("topics", TEXT), ("labels", "0.")),
        (("pairs", TEXT, "--pair", "北京"), ("text_pair", "北京", "label")),
        (("rerank", TEXT, "--pair", "北京", "--pair", "大学"), ("text_pair", "北京", "大学", "score")),
        (("ner", TEXT), ("[John ", "entities")),
        (("embed", TEXT), ("64", "norm", "1.0000", "…")),
        (("uie", TEXT, "--schema", SCHEMA), ("├── 人物", "└── 时间", "│   │       └── ")),
    ],
    ids=["classify", "tag", "pairs", "rerank", "entities", "embed", "extract"],
)
def test_every_task_is_printed_readably(infer: Any, arguments: tuple[str, ...], shown: tuple[str, ...]) -> None:
    code, out, err = infer(*arguments)
    assert (code, err) == (0, "")
    for piece in (*shown, "release 1"):
        assert piece in out
    if arguments[0] != "ner":
        assert TEXT in out  # brackets stay brackets


@pytest.mark.parametrize(
    ("pipeline", "options", "fields"),
    [
        ("sentiment", (), {"label", "score", "scores"}),
        ("topics", (), {"labels", "scores"}),
        ("pairs", ("--pair", "北京", "--pair", "大学"), {"text_pair", "label", "score", "scores"}),
        ("rerank", ("--pair", "北京", "--pair", "大学"), {"text_pair", "score"}),
        ("ner", (), {"entities"}),
        ("embed", (), {"embedding"}),
        ("uie", ("--schema", SCHEMA), {"result"}),
    ],
)
def test_json_is_one_object_a_text(
    infer: Any, tasks_server: Server, pipeline: str, options: tuple[str, ...], fields: set[str]
) -> None:
    code, out, _ = infer(pipeline, TEXT, "李四在Paris", *options, "--json", address=("--grpc", tasks_server.grpc_url))
    rows = [json.loads(line) for line in out.splitlines()]
    assert (code, [row["text"] for row in rows]) == (0, [TEXT, "李四在Paris"])
    for row in rows:
        assert set(row) == fields | {"text", "release", "truncated_chars"}
        assert (row["release"], row["truncated_chars"]) == (1, 0)


def test_a_file_of_150_lines_gives_150_lines_in_order(
    infer: Any, tasks_server: Server, tmp_path: Path, texts: list[str]
) -> None:
    lines = [text.replace("\n", " ") for text in texts[:150]]
    (tmp_path / "texts.txt").write_bytes("\n".join(lines).encode() + b"\n")
    code, out, _ = infer("embed", "--input", str(tmp_path / "texts.txt"), "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert (code, [row["text"] for row in rows]) == (0, lines)
    (last,) = raw(tasks_server, "embed", text=[lines[-1]])
    assert np.abs(np.array(rows[-1]["embedding"]) - last["embedding"]).max() < 1e-4


def test_stdin_gives_texts_and_empty_lines_are_texts(infer: Any) -> None:
    code, out, _ = infer("ner", "--input", "-", "--json", stdin="中国\n\n北京")
    assert (code, [json.loads(line)["text"] for line in out.splitlines()]) == (0, ["中国", "", "北京"])


def test_a_schema_may_lie_in_a_file(infer: Any, tmp_path: Path) -> None:
    (tmp_path / "schema.json").write_text(SCHEMA, encoding="utf-8")
    assert infer("uie", TEXT, "--schema", f"@{tmp_path / 'schema.json'}") == infer("uie", TEXT, "--schema", SCHEMA)


def test_what_was_cut_has_a_column(infer: Any) -> None:
    assert "unread characters" in infer("sentiment", "好" * 100)[1]
    assert "unread" not in infer("sentiment", "好")[1]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("pairs", "好"), "input 'text_pair': text-pair-classification takes one for each text, not 0; give --pair"),
        (("ner", "好", "--pair", "坏"), "input 'text_pair': token-classification takes none; leave --pair out"),
        (("uie", "好"), "give --schema"),
        (("uie", "好", "--schema", "{"), "input 'schema', row 0: not JSON"),
        (("uie", "好", "--schema", "@/nowhere"), "input 'schema': /nowhere cannot be read"),
        (("ner", "--input", "/nowhere"), "texts /nowhere: cannot be read"),
        (("nobody", "好"), "pipeline 'nobody' on 127.0.0.1:"),
    ],
)
def test_a_refusal_is_one_line(infer: Any, arguments: tuple[str, ...], line: str) -> None:
    code, out, err = infer(*arguments)
    assert (code, out) == (1, "")
    assert err.startswith("error: ")
    assert line in err
    assert err.count("\n") == 1


def test_an_unreachable_server_is_one_line(infer: Any) -> None:
    code, out, err = infer("ner", "好", address=("--url", "127.0.0.1:9"))
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "server 127.0.0.1:9: does not answer" in err


def test_texts_come_from_one_place(infer: Any) -> None:
    assert infer("ner")[0] == 2
    assert infer("ner", "好", "--input", "-")[0] == 2
