"""CONTRIBUTING's worked example of adding a task, held against the code."""

import re

from tests.conftest import ROOT

ROOMS = ("trireme", "converters", "python_backends", "loadtest", "docker")
MOST_MODULES = 6
"""Modules outside tests that know reranking; a task that stands in more has no home."""
SECTION = re.findall(
    r"^## Adding a task.*?(?=^## )",
    (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"),
    flags=re.MULTILINE | re.DOTALL,
)[0]


def test_the_worked_example_names_every_module_that_knows_the_task() -> None:
    named = {path.removeprefix("text_runtime/") for path in re.findall(r"`([\w/]+\.(?:py|md))`", SECTION)}
    knowing = [
        path.relative_to(ROOT).as_posix()
        for room in ROOMS
        for path in (ROOT / room).rglob("*.py")
        if "rerank" in path.read_text(encoding="utf-8").lower() and path.name != "__init__.py"
    ]
    assert "python_backends/text_runtime/tasks/reranking.py" in knowing
    assert len(knowing) <= MOST_MODULES, knowing
    assert [path for path in knowing if path.removeprefix("python_backends/text_runtime/") not in named] == []


def test_a_registration_is_one_line_and_its_import() -> None:
    registry = ROOT / "python_backends/text_runtime/tasks/__init__.py"
    lines = registry.read_text(encoding="utf-8").splitlines()
    assert sum("Reranking" in line for line in lines) == 2


def test_every_file_that_the_worked_example_names_is_there() -> None:
    for path in re.findall(r"`([\w/]+\.(?:py|md))`", SECTION):
        assert any(
            (folder / path).is_file()
            for folder in (ROOT, ROOT / "python_backends", ROOT / "python_backends/text_runtime")
        )
