"""The worker as a process: calls out as lines of JSON, results back, and errors as ours."""

import json
import os
import subprocess
import tempfile
import threading
import weakref
from pathlib import Path
from typing import Any

import numpy as np

from converters.huggingface.environment import PACKAGES, TORCH
from trireme.errors import CheckpointError, InterpreterError

_WORKER = Path(__file__).parent / "worker"
_OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "PYTHONDONTWRITEBYTECODE": "1",
    "CUDA_VISIBLE_DEVICES": "",
}
_NOT_THEIRS = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "LD_PRELOAD")
_END_S = 5.0


class Worker:
    """One worker and the folder that it has opened. Every call raises `CheckpointError` for what the folder refuses.

    Raises:
        InterpreterError: the interpreter does not start, or lacks a library.
    """

    def __init__(self, python: Path, folder: Path) -> None:
        self._python = python
        self._folder = folder.absolute()
        self._lock = threading.Lock()
        self._scratch = tempfile.TemporaryDirectory(prefix="trireme-worker-")  # libraries leave caches in theirs
        self._log = Path(self._scratch.name) / "log"
        try:
            self._process = _start(python, self._log)
        except OSError as error:
            raise InterpreterError(f"{python} does not start ({error.strerror or error})") from error
        self._end = weakref.finalize(self, _stop, self._process, self._scratch)
        self.versions: dict[str, str] = self.call("versions")

    def call(self, name: str, **arguments: Any) -> Any:
        """Ask, and wait for the result.

        Raises:
            CheckpointError: the folder is refused, or the library fails with it.
            InterpreterError: the interpreter lacks a library.
        """
        with self._lock:
            answer = self._exchange(json.dumps({"call": name, "arguments": arguments}))
        if answer is None:
            raise self._death(name)
        if "missing" in answer:
            raise InterpreterError(f"{self._python} has no {answer['missing']}", _install_command(self._python))
        if "refused" in answer:
            raise CheckpointError(self._folder, answer["refused"]["problem"], answer["refused"]["remedy"])
        if "failed" in answer:
            problem = f"its own library fails with it ({answer['failed']})"
            raise CheckpointError(self._folder, problem, "try the versions that trained it, with --python")
        return _decoded(answer["value"])

    def close(self) -> None:
        """End the process."""
        self._end()

    def _exchange(self, line: str) -> dict[str, Any] | None:
        """The answer to a line; None where the process has died."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except OSError:
            return None
        answer = self._process.stdout.readline()
        return json.loads(answer) if answer else None

    def _death(self, call: str) -> Exception:
        status = self._process.wait()
        lines = [line for line in self._log.read_text(errors="replace").splitlines() if line.strip()]
        reason = f": {lines[-1].strip()}" if lines else ""
        if call == "versions":
            return InterpreterError(f"{self._python} ended with status {status}{reason}")
        hint = "there may be too little memory" if status == -9 else "try another version with --python"
        return CheckpointError(self._folder, f"the interpreter ended with status {status} in '{call}'{reason}", hint)


def _start(python: Path, log: Path) -> "subprocess.Popen[str]":
    kept = {name: value for name, value in os.environ.items() if name not in _NOT_THEIRS}
    with log.open("wb") as stream:
        return subprocess.Popen(
            [str(python), str(_WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stream,
            text=True,
            encoding="utf-8",
            cwd="/",  # nothing that lies about in a working directory is imported
            env=kept | _OFFLINE | {"TMPDIR": str(log.parent)},
        )


def _stop(process: "subprocess.Popen[str]", scratch: "tempfile.TemporaryDirectory[str]") -> None:
    """Its input ends, and so does it; what is in the middle of a call is killed after a while."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    try:
        process.wait(_END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    scratch.cleanup()


def _install_command(python: Path) -> str:
    packages = " ".join(f"'{package}'" for package in (TORCH, *PACKAGES))
    return f"run `{python} -m pip install {packages}`, or `trireme hf-environment` for an environment of its own"


def _decoded(value: Any) -> Any:
    """A result with its array as numpy's."""
    if not (isinstance(value, dict) and value.keys() == {"npy"}):
        return value
    path = Path(value["npy"])
    array = np.load(path, allow_pickle=False)
    path.unlink()
    return array
