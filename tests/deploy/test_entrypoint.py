"""What the launcher passes to `tritonserver`, recorded by a stand-in on PATH: our program, not Triton."""

import ctypes.util
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from trireme.contract.families import all_layouts
from trireme.machine.allocator import with_allocator
from trireme.machine.free_ports import free_ports
from trireme.serving.launch import LATENCY_SUMMARIES

TOKEN = "an_operator-token-of-enough-length"
CONTROL = "model-repository,model-config,shared-memory,trace,logging:trireme-control-token="


@dataclass(frozen=True)
class Stage:
    """A model repository and a `tritonserver` that writes down its arguments and environment."""

    folder: Path

    def add(self, *models: str) -> None:
        """Add empty models."""
        for model in models:
            (self.folder / "models" / model).mkdir(parents=True)
            (self.folder / "models" / model / "config.pbtxt").touch()

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run the launcher; it ends with the stand-in, which ends at once."""
        fixed = {
            "PATH": f"{self.folder}/bin:{os.environ['PATH']}",
            "MODEL_REPOSITORY": f"{self.folder}/models",
            "TRIREME_HEALTH_ADDRESS": f"127.0.0.1:{free_ports('127.0.0.1', 1)[0]}",
        }
        command = [sys.executable, "-m", "trireme.serving", *arguments]
        return subprocess.run(command, env=fixed | environment, capture_output=True, text=True, timeout=60, check=False)

    def recorded(self, name: str) -> list[str]:
        """Lines that the stand-in wrote down."""
        return (self.folder / name).read_text().splitlines()

    def values(self, flag: str) -> list[str]:
        """The values of a flag that `tritonserver` received."""
        return [line.partition("=")[2] for line in self.recorded("argv") if line.startswith(f"{flag}=")]


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """An empty repository and the stand-in."""
    server = tmp_path / "bin" / "tritonserver"
    server.parent.mkdir()
    server.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/argv\nenv > {tmp_path}/env\n')
    server.chmod(0o755)
    (tmp_path / "models").mkdir()
    return Stage(tmp_path)


def test_every_pipeline_is_loaded_and_no_step(stage: Stage) -> None:
    stage.add("sentiment", "sentiment_tokenizer", "sentiment_encoder", "sentiment_postprocess")
    stage.add("my_encoder", "my_encoder_tokenizer", ".partial-new")
    stage.add("topics", "topics_joined")
    assert stage.run().returncode == 0
    assert stage.values("--load-model") == ["my_encoder", "sentiment", "topics"]


def test_every_kind_of_step_is_known(stage: Stage) -> None:
    steps = {step for layout in all_layouts() for step in layout.steps}
    stage.add("sentiment", *(step.model_name("sentiment") for step in steps))
    assert stage.run().returncode == 0
    assert stage.values("--load-model") == ["sentiment"]


def test_named_pipelines_are_the_only_ones_loaded(stage: Stage) -> None:
    stage.add("sentiment", "topics", "spam")
    assert stage.run(TRIREME_PIPELINES="spam  topics").returncode == 0
    assert stage.values("--load-model") == ["spam", "topics"]


def test_an_empty_repository_is_refused(stage: Stage) -> None:
    finished = stage.run()
    assert finished.returncode == 1
    assert "no pipeline in" in finished.stderr
    assert not (stage.folder / "argv").exists()


def test_a_missing_repository_is_refused(stage: Stage) -> None:
    finished = stage.run(MODEL_REPOSITORY=f"{stage.folder}/nowhere")
    assert finished.returncode == 1
    assert "no pipeline in" in finished.stderr


def test_control_is_explicit_and_readiness_lenient(stage: Stage) -> None:
    stage.add("sentiment")
    stage.run("--log-verbose=1")
    argv = stage.recorded("argv")
    for flag in ("--model-control-mode=explicit", "--strict-readiness=false", "--exit-on-error=false"):
        assert flag in argv
    assert argv[-1] == "--log-verbose=1"


def test_latencies_are_summarized_as_on_a_laptop_unless_they_are_not_wanted(stage: Stage) -> None:
    stage.add("sentiment")
    stage.run()
    assert stage.values("--metrics-config") == [f"{name}={value}" for name, value in LATENCY_SUMMARIES.items()]
    stage.run(TRIREME_LATENCY_SUMMARIES="false")
    assert "summary_latencies=false" in stage.values("--metrics-config")


def test_shared_memory_is_shut_unless_the_environment_opens_it(stage: Stage) -> None:
    stage.add("sentiment")
    for flag in ("--grpc-restricted-protocol", "--http-restricted-api"):
        stage.run()
        assert stage.values(flag)[0].startswith("model-repository,model-config,shared-memory,trace,logging:")
        stage.run(TRIREME_SHARED_MEMORY="true")
        assert stage.values(flag)[0].startswith("model-repository,model-config,trace,logging:")


def test_what_says_neither_that_shared_memory_is_open_nor_shut_is_refused(stage: Stage) -> None:
    stage.add("sentiment")
    result = stage.run(TRIREME_SHARED_MEMORY="yes")
    assert (result.returncode, len(result.stderr.splitlines())) == (1, 1)
    assert "TRIREME_SHARED_MEMORY is 'yes': say true or false" in result.stderr


def preloaded(stage: Stage, **environment: str) -> list[str]:
    """What the launcher has the loader preload."""
    stage.run(**environment)
    found = [line.partition("=")[2] for line in stage.recorded("env") if line.startswith("LD_PRELOAD=")]
    return found[0].split(":") if found else []


def test_the_allocator_is_preloaded_where_it_is_and_after_what_is_already(stage: Stage) -> None:
    stage.add("sentiment")
    allocator = with_allocator({})["LD_PRELOAD"]
    assert preloaded(stage) == [allocator]
    assert preloaded(stage, TRIREME_ALLOCATOR=allocator) == [allocator]
    libc = ctypes.util.find_library("c") or ""
    assert preloaded(stage, TRIREME_ALLOCATOR=allocator, LD_PRELOAD=libc) == [libc, allocator]
    assert preloaded(stage, TRIREME_ALLOCATOR="") == []


def test_an_allocator_that_is_not_there_is_refused(stage: Stage) -> None:
    stage.add("sentiment")
    finished = stage.run(TRIREME_ALLOCATOR="/no/such.so")
    assert finished.returncode == 1
    assert "TRIREME_ALLOCATOR: there is no library /no/such.so" in finished.stderr


@pytest.mark.parametrize("flag", ["--grpc-restricted-protocol", "--http-restricted-api"])
def test_the_token_guards_control_on_both_protocols(stage: Stage, flag: str) -> None:
    stage.add("sentiment")
    stage.run(TRIREME_CONTROL_TOKEN=TOKEN)
    assert stage.values(flag) == [CONTROL + TOKEN]


def test_the_token_does_not_reach_the_models_environment(stage: Stage) -> None:
    stage.add("sentiment")
    stage.run(TRIREME_CONTROL_TOKEN=TOKEN)
    assert TOKEN not in "\n".join(stage.recorded("env"))


def test_a_token_file_goes_before_the_environment(stage: Stage) -> None:
    stage.add("sentiment")
    (stage.folder / "token").write_text("from_a_file_0123456789\r\n")
    stage.run(TRIREME_CONTROL_TOKEN=TOKEN, TRIREME_CONTROL_TOKEN_FILE=f"{stage.folder}/token")
    assert stage.values("--grpc-restricted-protocol") == [f"{CONTROL}from_a_file_0123456789"]


def test_without_a_token_control_is_shut_with_one_that_nobody_knows(stage: Stage) -> None:
    stage.add("sentiment")
    seen = set()
    for _ in range(2):
        finished = stage.run(TRIREME_CONTROL_TOKEN_FILE="/dev/null")
        assert "control APIs are shut" in finished.stderr
        (value,) = stage.values("--http-restricted-api")
        seen.add(value.removeprefix(CONTROL))
    assert len(seen) == 2
    assert {len(token) for token in seen} == {64}


@pytest.mark.parametrize("token", ["short", "with,a,comma,0123456789", "with a blank 0123456789"])
def test_a_token_that_would_weaken_the_flag_is_refused(stage: Stage, token: str) -> None:
    stage.add("sentiment")
    finished = stage.run(TRIREME_CONTROL_TOKEN=token)
    assert finished.returncode == 1
    assert "control token must be 16 or more" in finished.stderr
    assert not (stage.folder / "argv").exists()


def test_a_token_file_that_cannot_be_read_is_a_refusal_and_not_no_token(stage: Stage) -> None:
    stage.add("sentiment")
    (stage.folder / "token").mkdir()
    finished = stage.run(TRIREME_CONTROL_TOKEN=TOKEN, TRIREME_CONTROL_TOKEN_FILE=f"{stage.folder}/token")
    assert (finished.returncode, len(finished.stderr.splitlines())) == (1, 1)
    assert f"the control token cannot be read from {stage.folder}/token (Is a directory)" in finished.stderr
    assert not (stage.folder / "argv").exists()


def test_the_exit_code_is_tritons_own(stage: Stage) -> None:
    stage.add("sentiment")
    (stage.folder / "bin" / "tritonserver").write_text("#!/bin/sh\nexit 7\n")
    finished = stage.run()
    assert finished.returncode == 7
    assert "Triton ended with exit code 7" in finished.stderr


@pytest.mark.parametrize(
    ("variable", "value", "remedy"),
    [
        ("TRIREME_EXIT_TIMEOUT_S", "soon", "give a positive number of seconds"),
        ("TRIREME_HEALTH_ADDRESS", "8080", "give a host and a port"),
        ("TRIREME_LATENCY_SUMMARIES", "no", "say true or false"),
    ],
)
def test_a_setting_that_means_nothing_is_refused(stage: Stage, variable: str, value: str, remedy: str) -> None:
    stage.add("sentiment")
    finished = stage.run(**{variable: value})
    assert (finished.returncode, len(finished.stderr.splitlines())) == (1, 1)
    assert f"{variable} is '{value}': {remedy}" in finished.stderr
