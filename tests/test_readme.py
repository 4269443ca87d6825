"""The README's commands and examples, as they stand."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from trireme.errors import PortError
from trireme.serving import Server, ServerSpec, start

README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The README's fenced blocks of a language."""
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


@pytest.fixture(scope="module")
def served_as_the_readme_says(repository: Path) -> Iterator[Server]:
    """A Triton on the default ports."""
    try:
        server = start(ServerSpec(repository))
    except PortError as error:
        pytest.skip(str(error))
    with server:
        yield server


def run(command: list[str]) -> str:
    """Run a command in the project's folder; gives its stdout."""
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.xdist_group("default ports")
@pytest.mark.usefixtures("served_as_the_readme_says")
class TestExamples:
    """Examples that ask a running server."""

    @pytest.mark.parametrize("program", blocks("python"), ids=["client", "http", "grpc"])
    def test_a_python_example_prints_two_labels(self, program: str) -> None:
        printed = run([sys.executable, "-c", program])
        assert printed.count("tive") == 2

    def test_the_curl_example_answers_two_labels(self) -> None:
        (command,) = blocks("bash")
        assert run(["bash", "-c", command]).count("tive") == 2

    def test_the_infer_example_answers_two_labels(self) -> None:
        (line,) = re.findall(r"^\$ (trireme infer .*)$", README, flags=re.MULTILINE)
        assert run(shlex.split(line)).count("tive") == 2


def test_every_make_target_and_trireme_command_in_the_readme_exists() -> None:
    for target in re.findall(r"^\$ make (\S+)", README, flags=re.MULTILINE):
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    for command in set(re.findall(r"trireme ([a-z-]+)", README)):
        run(["trireme", command, "--help"])


def test_the_readme_names_every_folder_that_is_there() -> None:
    folders = {path.parent.name for path in ROOT.glob("*/__init__.py")} | {"deploy", "model_repository"}
    for folder in folders - {"tests", "examples"}:
        assert f"`{folder}/`" in README


@pytest.mark.parametrize("line", re.findall(r"^\$ (trireme export .*)$", README, flags=re.MULTILINE))
def test_an_export_example_publishes_a_release(line: str, tmp_path: Path) -> None:
    printed = run([*shlex.split(line), "--repository", str(tmp_path / "models")])
    assert re.search(r"^\w+ release 1: .* gates passed$", printed, flags=re.MULTILINE)
