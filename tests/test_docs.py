"""The documentation against the project: commands parse, links resolve, nothing that is registered is left out."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from tests.conftest import ROOT
from tests.documents import CHINESE_README, DECISIONS, DOCUMENTS, GUIDES, README, blocks, command_lines, prose
from trireme import errors
from trireme.cli.app import app

_MAX_README_LINES = 150
_OPTIONS_OF_OTHERS = {
    "--cpus",
    "--disable-auto-complete-config",
    "--memory",
    "--record",
    "--rehearse",
    "--shm-size",
    "--user",
}
"""Options in the prose that belong to Docker, Triton, or scripts of the tests and the example."""
_ROOT: Any = typer.main.get_command(app)
_CONTEXT: Any = _ROOT.make_context("trireme", ["doctor"])
_COMMANDS: dict[str, Any] = {name: _ROOT.resolve_command(_CONTEXT, [name])[1] for name in _ROOT.list_commands(_CONTEXT)}
_ids = {"ids": lambda value: str(value.relative_to(ROOT)) if isinstance(value, Path) else str(value)}


def trireme_commands() -> Iterator[tuple[Path, str]]:
    """Every `trireme ...` that a reader is told to type, also behind a pipe, with the document that says so."""
    for document in DOCUMENTS:
        for line in command_lines(document):
            yield from ((document, part.strip()) for part in line.split(" | ") if part.strip().startswith("trireme "))


def options_of(command: Any) -> set[str]:
    """What may stand behind a command."""
    return {option for each in command.params for option in (*each.opts, *each.secondary_opts)}


@pytest.mark.parametrize(("document", "line"), trireme_commands(), **_ids)
def test_a_command_parses_against_the_real_command_line(document: Path, line: str) -> None:
    _, name, *arguments = shlex.split(re.sub(r" > \S+$", "", line))
    assert name in _COMMANDS, f"{document.name}: there is no `trireme {name}`"
    try:
        _COMMANDS[name].make_context(name, arguments)
    except Exception as error:
        pytest.fail(f"{document.name}: `{line}`: {error}")


def test_every_command_of_the_command_line_stands_in_a_guide() -> None:
    told = {line.split()[1] for _, line in trireme_commands()}
    told |= {name for guide in GUIDES for name in re.findall(r"`trireme ([a-z-]+)", prose(guide))}
    assert sorted(set(_COMMANDS) - told) == []


def test_every_command_and_option_in_the_prose_exists() -> None:
    assert [fault for document in DOCUMENTS for fault in faults_of_spans(document)] == []


def faults_of_spans(document: Path) -> Iterator[str]:
    """Inline code that names a command or an option that is not there."""
    known = set().union(*(options_of(command) for command in _COMMANDS.values())) | _OPTIONS_OF_OTHERS
    for span in (" ".join(found.split()) for found in re.findall(r"`([^`]+)`", prose(document))):
        named, option = re.match(r"trireme ([a-z-]+)", span), re.match(r"--[a-z][a-z0-9-]*", span)
        if named and named[1] not in _COMMANDS:
            yield f"{document.name}: there is no `{span}`"
        elif named and (unknown := set(re.findall(r" (--[a-z-]+)", span)) - options_of(_COMMANDS[named[1]])):
            yield f"{document.name}: `{span}` has {unknown}"
        elif option and option[0] not in known:
            yield f"{document.name}: no command has `{span}`"


def test_every_make_target_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    typed = [line.split()[1] for document in DOCUMENTS for line in command_lines(document, "make ")]
    named = [target for document in DOCUMENTS for target in re.findall(r"`make ([a-z-]+)`", prose(document))]
    assert {"demo", "test"} <= set(typed)
    assert [target for target in (*typed, *named) if not re.search(rf"^{target}:", makefile, re.MULTILINE)] == []


def test_every_relative_link_and_picture_is_there() -> None:
    assert [fault for document in DOCUMENTS for fault in faults_of_links(document)] == []


def faults_of_links(document: Path) -> Iterator[str]:
    """Links to files or headings of ours that are not there."""
    text = prose(document)
    targets = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'(?:src|srcset)="([^"]+)"', text)
    for target in (each for each in targets if not each.startswith(("http://", "https://"))):
        path, _, anchor = target.partition("#")
        found = (document.parent / path).resolve() if path else document
        if not found.exists() or (anchor and anchor not in anchors_of(found)):
            yield f"{document.name} links to {target}"


def anchors_of(document: Path) -> set[str]:
    """The anchors that GitHub makes of a document's headings."""
    headings = re.findall(r"^#+ (.*)$", prose(document), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", [README, CHINESE_README], **_ids)
def test_a_readme_can_be_read_at_one_sitting(document: Path) -> None:
    assert len(document.read_text(encoding="utf-8").splitlines()) < _MAX_README_LINES


def test_the_chinese_readme_has_the_commands_and_figures_of_the_english_one() -> None:
    assert blocks(CHINESE_README) == blocks(README)
    assert figures_of(CHINESE_README) == figures_of(README)


def figures_of(document: Path) -> list[list[str]]:
    """The figures of a document's tables, row by row, without the words."""
    rows = [line.split("|") for line in prose(document).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row if re.fullmatch(r" *\d+ *", cell)] for row in rows]


@pytest.mark.parametrize("readme", [README, CHINESE_README], **_ids)
def test_a_readme_links_every_guide(readme: Path) -> None:
    text = readme.read_text(encoding="utf-8")
    assert [guide.name for guide in GUIDES if f"](docs/{guide.name})" not in text] == []


def test_decisions_are_numbered_without_gaps_and_the_index_names_each() -> None:
    index = (ROOT / "docs" / "decisions" / "README.md").read_text(encoding="utf-8")
    for number, path in enumerate(DECISIONS, start=1):
        title = path.read_text(encoding="utf-8").splitlines()[0]
        assert path.name.startswith(f"{number:04}-")
        assert title.startswith(f"# {number}. ")
        assert f"| {number} | [{title.split('. ', 1)[1]}]({path.name}) |" in index


def test_a_decision_says_what_and_why() -> None:
    for path in DECISIONS:
        headings = re.findall(r"^## (.*)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert headings[:2] == ["Decision", "Why"], path.name
        assert set(headings[2:]) <= {"What was tried", "What follows"}, path.name


def test_troubleshooting_has_a_remedy_for_every_error_that_a_user_sees() -> None:
    text = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    kinds = {name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Exception)}
    told = set(re.findall(r"^\| `(\w+Error)` \|", text, flags=re.MULTILINE))
    assert told == kinds - {"TriremeError"}
