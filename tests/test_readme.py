"""The commands and examples of the README and of the guides for a newcomer, as they stand."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.documents import README, blocks, command_lines, programs
from trireme.errors import PortError
from trireme.serving import Server, ServerSpec, start

CLIENT = ROOT / "docs" / "client.md"
SERVING = ROOT / "docs" / "serving.md"
TUTORIAL = ROOT / "docs" / "first-pipeline.md"
GOOD, BAD = "物流很快，质量也好", "用了两天就坏了"


@pytest.fixture(scope="module")
def served_as_the_readme_says(repository: Path) -> Iterator[Server]:
    """A Triton on the default ports."""
    try:
        server = start(ServerSpec(repository))
    except PortError as error:
        pytest.skip(str(error))
    with server:
        yield server


def run(command: list[str], **variables: str) -> str:
    """Run a command in the project's folder; gives its stdout."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "COLUMNS": "200"} | variables
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=240)
    assert result.returncode == 0, result.stderr
    return result.stdout


def labels_in(printed: str) -> list[str]:
    """The labels in what a command printed, in order."""
    return re.findall(r"\b(?:positive|negative)\b", printed)


@pytest.mark.xdist_group("default ports")
@pytest.mark.usefixtures("served_as_the_readme_says")
class TestExamples:
    """Examples that ask a running server."""

    @pytest.mark.parametrize(
        "program",
        list(dict.fromkeys([*programs(README), *programs(TUTORIAL), *programs(CLIENT)])),
        ids=["client", "async", "http", "grpc"],
    )
    def test_a_python_example_prints_the_label_of_each_review(self, program: str) -> None:
        assert labels_in(run([sys.executable, "-c", program])) == ["positive", "negative"]

    def test_the_client_prints_a_score_and_the_release_beside_each_label(self) -> None:
        lines = run([sys.executable, "-c", programs(README)[0]]).splitlines()
        for line, label in zip(lines, ("positive", "negative"), strict=True):
            named, score, release = line.split()
            assert (named, release) == (label, "1")
            assert 0.5 < float(score) <= 1

    def test_the_curl_example_answers_the_label_of_each_review_and_names_the_release(self) -> None:
        (block,) = blocks(README, "bash")
        answer = json.loads(run(["bash", "-c", block.text]))
        outputs = {output["name"]: output["data"] for output in answer["outputs"]}
        assert outputs["label"] == ["positive", "negative"]
        assert outputs["truncated_chars"] == [0, 0]
        assert (answer["model_name"], answer["model_version"]) == ("sentiment", "1")

    def test_the_infer_example_prints_each_review_with_its_label(self) -> None:
        (line,) = command_lines(README, "trireme infer ")
        printed = run(shlex.split(line))
        rows = [row for row in printed.splitlines() if labels_in(row)]
        assert [text in row for text, row in zip((GOOD, BAD), rows, strict=True)] == [True, True]
        assert labels_in(printed) == ["positive", "negative"]
        assert "release 1" in printed


def test_every_make_target_and_trireme_command_in_the_readme_exists() -> None:
    text = README.read_text(encoding="utf-8")
    for target in re.findall(r"^\$ make (\S+)", text, flags=re.MULTILINE):
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    for command in set(re.findall(r"trireme ([a-z-]+)", text)):
        run(["trireme", command, "--help"])


def test_the_readme_names_every_folder_that_is_there() -> None:
    folders = {path.parent.name for path in ROOT.glob("*/__init__.py")} | {"deploy", "model_repository"}
    for folder in folders - {"tests", "examples"}:
        assert f"`{folder}/`" in README.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "line", [line for path in (README, SERVING) for line in command_lines(path, "trireme export ")]
)
def test_an_export_example_publishes_a_release(line: str, tmp_path: Path) -> None:
    printed = run([*shlex.split(line), "--repository", str(tmp_path / "models")])
    assert re.search(r"^\w+ release 1: .* gates passed$", printed, flags=re.MULTILINE)


# What each command of the tutorial tells its reader, in the order of the tutorial.
TOLD = (
    ("trireme releases sentiment", r"│ 1 +│ current .*\n│ 2 "),
    ("trireme stage sentiment 2", r"sentiment is at release 1 \(loaded: 1, 2\)"),
    ("trireme shadow sentiment 2", r"^\d+ of \d+ texts compared, agreement \d+\.\d+%"),
    ("trireme canary sentiment 2", r"sentiment is at release 1, 10% to release 2"),
    ("trireme status sentiment", r"the repository says release 1, 10% to release 2"),
    ("trireme promote sentiment 2", r"sentiment is at release 2"),
    ("trireme rollback sentiment", r"sentiment is at release 1"),
    ("trireme promote sentiment 2", r"sentiment is at release 2"),
    ("trireme retire sentiment 1", r"sentiment is at release 2 \(loaded: 2\)"),
    ("trireme history sentiment", r"stage(.|\n)*canary(.|\n)*promote(.|\n)*rollback(.|\n)*promote(.|\n)*retire"),
)


def test_the_tutorial_moves_a_pipeline_to_its_second_release(repository: Path, tmp_path: Path) -> None:
    models = shutil.copytree(repository, tmp_path / "models")
    moves = [line for line in command_lines(TUTORIAL, "trireme ") if " sentiment" in line]
    moves = [line for line in moves if line.split()[1] not in ("export", "infer")]
    with start(ServerSpec(models, 0, 0, 0)):
        for line, (beginning, told) in zip(moves, TOLD, strict=True):
            assert line.startswith(beginning)
            printed = run(shlex.split(line), TRIREME_REPOSITORY=str(models))
            assert re.search(told, printed, flags=re.MULTILINE), printed
