"""The examples of docs/tasks.md, as they stand, against pipelines of those names."""

import re
from typing import Any

import pytest

from tests.conftest import ROOT
from text_runtime.tasks import method_name, task, task_names
from trireme.serving import Server

pytestmark = pytest.mark.xdist_group("tasks")
DOCUMENT = (ROOT / "docs/tasks.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", DOCUMENT, flags=re.DOTALL)


@pytest.mark.parametrize("program", EXAMPLES, ids=lambda program: re.findall(r"client\.(\w+)\(", program)[0])
def test_an_example_runs(tasks_server: Server, program: str, capsys: Any) -> None:
    program = program.replace("127.0.0.1:8000", tasks_server.http_url).replace("127.0.0.1:8001", tasks_server.grpc_url)
    exec(compile(program, "docs/tasks.md", "exec"), {})
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("name", task_names())
def test_every_task_stands_in_the_table_with_its_method_and_outputs(name: str) -> None:
    (row,) = re.findall(rf"^\| `{name}` \|.*$", DOCUMENT, flags=re.MULTILINE)
    assert f"`{method_name(name)}(" in row
    if name != "text-pair-classification":
        assert all(f"`{tensor.name}`" in row for tensor in task(name).outputs(2))
    assert any(f"client.{method_name(name)}(" in program for program in EXAMPLES)
