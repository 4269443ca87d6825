"""Bad input to every command: the right exit code, one line that says what is wrong, and never a traceback."""

import errno
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from converters.precisions import Choice
from converters.spec import LONG_TEXTS, EncoderSpec, ExportSpec
from tests.cli.conftest import Run
from tests.conftest import CHECKPOINT, ROOT, TASK
from tests.small_disk import small_disk
from text_runtime.encoder.engines import engine_names
from text_runtime.tasks import task_names
from trireme.cli import app as cli
from trireme.cli import release_options
from trireme.contract.pipelines import GPU_ENGINES
from trireme.errors import TriremeError

REFUSED, USAGE = 1, 2
HEAVY = ("paddle", "paddlenlp", "onnx", "onnxruntime", "openvino", "tritonclient", "grpc", "torch")
HEAVY += ("numpy", "orjson", "rich.console", "tokenizers", "converters", "trireme.client", "trireme.promotion")
EXPORT = ("export", str(CHECKPOINT), "--task", TASK, "--name", "spare")
COMPARE = ("compare", str(CHECKPOINT), "--evaluate", str(ROOT / "examples/sentiment/test.tsv"))


USAGE_ERRORS = {
    "task": ((*EXPORT, "--task", "ner"), "--task"),
    "engine": ((*EXPORT, "--engine", "steam"), "--engine"),
    "precision": ((*EXPORT, "--precision", "fp31"), "--precision"),
    "method": ((*EXPORT, "--method", "guess"), "--method"),
    "target": ((*EXPORT, "--target", "tpu"), "--target"),
    "long text": ((*EXPORT, "--long-text", "forget"), "--long-text"),
    "source": ((*EXPORT, "--source", "tensorflow"), "--source"),
    "pooling": ((*EXPORT, "--pooling", "median"), "--pooling"),
    "no task": ((*EXPORT, "--task", ""), "--task"),
    "other case": ((*EXPORT, "--target", "CPU"), "--target"),
    "no length": ((*EXPORT, "--max-length", "0"), "--max-length"),
    "negative length": ((*EXPORT, "--max-length", "-1"), "--max-length"),
    "huge length": ((*EXPORT, "--max-length", "99999999999999999999"), "--max-length"),
    "length in words": ((*EXPORT, "--max-length", "many"), "--max-length"),
    "negative instances": ((*EXPORT, "--joined", "-1"), "--joined"),
    "many instances": ((*EXPORT, "--joined", "1000"), "--joined"),
    "share of nothing": ((*EXPORT, "--prune", "0"), "--prune"),
    "share of all": ((*EXPORT, "--prune", "1"), "--prune"),
    "share of NaN": ((*EXPORT, "--prune", "nan"), "--prune"),
    "negative epochs": ((*EXPORT, "--recover-epochs", "-1"), "--recover-epochs"),
    "negative drop": ((*EXPORT, "--max-drop", "-1"), "--max-drop"),
    "drop of NaN": ((*EXPORT, "--max-drop", "nan"), "--max-drop"),
    "compared task": ((*COMPARE, "--task", "ner"), "--task"),
    "compared share": ((*COMPARE, "--prune", "2"), "--prune"),
    "compared without time": ((*COMPARE, "--timeout", "0"), "--timeout"),
    "compared for ever": ((*COMPARE, "--timeout", "inf"), "--timeout"),
    "release 0": (("build-plan", "sentiment", "0"), "release"),
    "no such release": (("stage", "sentiment", "99999999999999999999"), "release"),
    "no space": (("build-plan", "sentiment", "1", "--workspace-gib", "nan"), "--workspace-gib"),
    "http port": (("serve", "--http-port", "99999"), "--http-port"),
    "grpc port": (("serve", "--grpc-port", "-1"), "--grpc-port"),
    "metrics port": (("serve", "--metrics-port", "65536"), "--metrics-port"),
    "percent": (("canary", "sentiment", "2", "--percent", "101"), "--percent"),
    "percent of NaN": (("canary", "sentiment", "2", "--percent", "nan"), "--percent"),
    "negative percent": (("shadow", "sentiment", "2", "--percent", "-1"), "--percent"),
    "seconds": (("shadow", "sentiment", "2", "--seconds", "inf"), "--seconds"),
    "NaN seconds": (("canary", "sentiment", "2", "--seconds", "nan"), "--seconds"),
    "ratio": (("canary", "sentiment", "2", "--max-p99-ratio", "-1"), "--max-p99-ratio"),
    "failure rate": (("canary", "sentiment", "2", "--max-failure-rate", "2"), "--max-failure-rate"),
    "no rounds": (("bench", "sentiment", "--rounds", "0"), "--rounds"),
    "no concurrency": (("bench", "sentiment", "--concurrency", "0"), "--concurrency"),
    "no time": (("bench", "sentiment", "--seconds", "0"), "--seconds"),
    "time-out": (("infer", "sentiment", "x", "--timeout", "nan"), "--timeout"),
    "nothing to ask": (("infer", "sentiment"), "give texts"),
    "ledgers in a file": (("history", "sentiment", "--ledgers", "file"), "--ledgers"),
    "report in a file": (("bench", "sentiment", "--report", "file"), "--report"),
    "comparison in a file": ((*COMPARE, "--report", "file"), "--report"),
    "environment without a folder": (("hf-environment", "file"), "file"),
    "unknown option": (("check", "--colour"), "--colour"),
    "unknown command": (("sail",), "sail"),
}


@pytest.mark.parametrize(("arguments", "option"), USAGE_ERRORS.values(), ids=USAGE_ERRORS)
def test_what_no_option_may_be_is_a_usage_error_that_names_the_option(
    run: Run, arguments: tuple[str, ...], option: str
) -> None:
    result = run(*arguments)
    assert (result.code, result.stdout) == (USAGE, "")
    assert option in result.stderr
    assert not Path("models").exists()


FILES = {"missing": "nowhere", "folder": ".", "dangling": "dangling", "not UTF-8": "broken.txt", "empty": "empty.txt"}
REFUSALS = {
    **{f"labels: {kind}": ((*EXPORT, "--labels", path), f"labels {path}: ") for kind, path in FILES.items()},
    **{f"corpus: {kind}": ((*EXPORT, "--corpus", path), path) for kind, path in FILES.items()},
    **{
        f"calibration: {kind}": ((*EXPORT, "--precision", "int8", "--method", "static", "--calibration", path), path)
        for kind, path in FILES.items()
    },
    **{f"evaluation: {kind}": ((*EXPORT, "--evaluate", path), path) for kind, path in FILES.items()},
    **{
        f"input: {kind}": (("infer", "x", "--input", path, "--url", "127.0.0.1:1"), "error: ")
        for kind, path in FILES.items()
    },
    **{f"bench: {kind}": (("bench", "x", "--corpus", path), f"texts {path}: ") for kind, path in FILES.items()},
    **{
        f"checkpoint: {kind}": (("export", path, "--task", TASK, "--name", "spare"), f"checkpoint {path}: ")
        for kind, path in {**FILES, "file": "file", "pipe": "pipe"}.items()
    },
    **{
        f"name: {name}": (("export", str(CHECKPOINT), "--task", TASK, "--name", name), f"pipeline name '{name}': ")
        for name in ("1bad", "a b", "a/b", "a.b", "", "é", "x" * 65, "a_tokenizer", "a_encoder", "a_joined", "a_v2")
    },
    "repository in a file": ((*EXPORT, "-r", "file"), "file: "),
    "repository below a file": ((*EXPORT, "-r", "file/models"), "file is no folder"),
    "repository through nothing": ((*EXPORT, "-r", "dangling"), "dangling is no folder"),
    "server of nothing": (("serve",), "no such model repository"),
    "server of a file": (("serve", "-r", "file"), "no such model repository"),
    "check of a file": (("check", "file"), "no such model repository"),
    "releases of nothing": (("releases", "sentiment"), "holds no pipeline 'sentiment'"),
    "history of a file": (("history", "sentiment", "-r", "file"), "holds no pipeline"),
    "plan of nothing": (("build-plan", "sentiment", "1"), "error: "),
    "no server": (("infer", "x", "好", "--url", "127.0.0.1:1"), "does not answer"),
    "address with colons": (("infer", "x", "好", "--url", "a:b:c"), "address 'a:b:c'"),
    "no address": (("infer", "x", "好", "--url", "https://a"), "address"),
    "port of no server": (("infer", "x", "好", "--url", "127.0.0.1:99999"), "error: "),
}


@pytest.mark.parametrize(("arguments", "words"), REFUSALS.values(), ids=REFUSALS)
def test_what_cannot_be_used_is_refused_in_one_line(run: Run, arguments: tuple[str, ...], words: str) -> None:
    result = run(*arguments)
    assert (result.code, result.stdout) == (REFUSED, "")
    *progress, line = result.stderr.splitlines()
    assert line.startswith("error: "), progress
    assert words in line
    assert not Path("models").exists()


def test_help_lists_the_words_of_every_registry(run: Run) -> None:
    printed = "".join(run("export", "--help").stdout.split())  # Lines are broken at hyphens too.
    for word in (*task_names(), *engine_names(), *GPU_ENGINES, "fp16", "int4", "weight-only", "window", "huggingface"):
        assert word in printed


@pytest.mark.parametrize("way", LONG_TEXTS)
def test_every_way_with_long_texts_is_one_that_an_export_knows(way: str) -> None:
    assert ExportSpec(CHECKPOINT, TASK, "spare", Path("models"), long_text=way).long_text == way


@pytest.mark.parametrize("choice", release_options.REGISTERED, ids=str)
def test_every_registered_precision_can_be_asked_for(choice: Choice) -> None:
    target = "gpu" if choice.engine == "tensorrt" else "cpu"
    words = {"calibration": Path("texts.txt"), "target": target}
    assert EncoderSpec(choice.engine, choice.precision, choice.method or None, **words).choice == choice


def test_the_first_help_waits_for_no_library_of_a_command() -> None:
    program = (
        "import sys; sys.argv = ['trireme', '--help']\n"
        "import atexit, trireme.cli.app as app\n"
        f"atexit.register(lambda: print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr))\n"
        "app.main()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"
    assert all(command in done.stdout for command in cli.COMMANDS)


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_the_list_of_commands_says_of_each_what_its_own_help_says(run: Run, command: str) -> None:
    _, sentence = cli.COMMANDS[command]
    printed = " ".join(run(command, "--help").stdout.split())
    assert f"{command} " in printed
    assert sentence in printed


def test_a_misspelt_command_is_told_the_right_one(run: Run) -> None:
    assert "Did you mean 'export', 'export-llm'?" in run("exprt").stderr


def test_a_model_of_somebody_elses_is_not_written_into(run: Run, tmp_path: Path) -> None:
    config = tmp_path / "models/spare_encoder/config.pbtxt"
    config.parent.mkdir(parents=True)
    config.write_text('backend: "python"', encoding="utf-8")
    result = run(*EXPORT)
    assert result.code == REFUSED
    assert "spare_encoder is a model that Trireme did not write" in result.stderr
    assert [path.name for path in (tmp_path / "models").rglob("*")] == ["spare_encoder", "config.pbtxt"]


MOVES = {
    "texts nowhere": (("shadow", "sentiment", "1", "--texts", "nowhere"), "texts nowhere: cannot be read"),
    "texts in a folder": (("shadow", "sentiment", "1", "--texts", "."), "texts .: cannot be read"),
    "server with colons": (("status", "sentiment", "-s", "a:b:c"), "server a:b:c: cannot be resolved"),
    "server that is none": (("stage", "sentiment", "2", "-s", "127.0.0.1:1"), "server 127.0.0.1:1: does not answer"),
    "release that is none": (("build-plan", "sentiment", "9"), "there is no such release"),
    "pipeline that is none": (("releases", "nothing"), "holds no pipeline 'nothing'"),
    "pipeline to serve": (("serve", "--pipeline", "nothing"), "nothing/config.pbtxt: not found"),
    "pipeline to measure": (("bench", "nothing", "--corpus", "file"), "nothing/config.pbtxt: not found"),
}


@pytest.mark.parametrize(("arguments", "words"), MOVES.values(), ids=MOVES)
def test_a_move_that_cannot_be_is_refused_in_one_line(
    run: Run, repository: Path, tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    shutil.copytree(repository, tmp_path / "models")
    result = run(*arguments)
    assert result.code == REFUSED
    assert words in result.stderr.splitlines()[-1]


UNEXPECTED = {
    "full disk": (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "a/b"), 1, "error: a/b: No space left on device\n"),
    "no file": (OSError("the cable is out"), 1, "error: the cable is out\n"),
    "memory": (MemoryError(), 1, "error: there is not enough memory: end other programs, or give this one more\n"),
    "lines": (TriremeError("one\ntwo"), 1, "error: one two\n"),
    "interrupt": (KeyboardInterrupt(), 130, ""),
}


@pytest.mark.parametrize(("error", "code", "line"), UNEXPECTED.values(), ids=UNEXPECTED)
def test_what_nobody_caught_still_ends_in_one_line(
    run: Run, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, line: str
) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr("trireme.serving.doctor.diagnose", fail)
    result = run("doctor")
    assert (result.code, result.stderr) == (code, line)


def test_a_full_disk_is_told_in_one_line(tmp_path: Path) -> None:
    with small_disk(tmp_path, 1) as disk:
        command = [sys.executable, "-m", "trireme", *EXPORT, "-r", str(disk / "models")]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
        assert list(disk.iterdir()) == []
    assert done.returncode == REFUSED
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("error: ")
    assert "No space left on device" in done.stderr.splitlines()[-1]


def test_ctrl_c_ends_a_command_without_a_traceback() -> None:
    command = [sys.executable, "-m", "trireme", *COMPARE]
    # What a shell runs in the background ignores Ctrl-C, and so would what it starts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert running.stderr is not None
    first = running.stderr.readline()
    running.send_signal(signal.SIGINT)
    rest = running.stderr.read()
    assert running.wait(timeout=60) == 130
    assert "Traceback" not in first + rest
