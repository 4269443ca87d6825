"""The engine's process as its parent sees it: started, spoken to, and ended."""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

import text_runtime
from text_runtime.generation.messages import Command, Failed, Ready, Report, frame, read_report
from text_runtime.generation.worker import Order

_END_S = 5.0


class EngineError(Exception):
    """The engine does not load, or its process has ended."""


_INTERPRETERS = {"vllm": "TRIREME_VLLM_PYTHON"}
"""Engines that run under an interpreter of their own, and the variable that names it; without it, under this one."""


@dataclass(frozen=True)
class WorkerSpec:
    """What to run: an engine by its name, and its order."""

    order: Order
    engine: str

    def program(self) -> str:
        """The interpreter.

        Raises:
            EngineError: there is none.
        """
        return os.environ.get(_INTERPRETERS.get(self.engine, ""), "") or _interpreter()

    def environment(self) -> dict[str, str]:
        """This process's environment. Another interpreter gets our runtime, and no packages of this one."""
        own = str(Path(text_runtime.__file__).parents[1])
        paths = [path for path in sys.path if path] if self.program() == _interpreter() else [own]
        return os.environ | {"PYTHONPATH": os.pathsep.join(paths)}


class WorkerProcess:
    """A process that runs one engine. Commands may come from any thread; one thread reads the reports.

    Raises:
        EngineError: the engine does not load.
    """

    def __init__(self, spec: WorkerSpec) -> None:
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [spec.program(), "-m", "text_runtime.generation.worker", _json(spec.order)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            env=spec.environment(),
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._commands, self._reports = self._process.stdin, os.fdopen(os.dup(self._process.stdout.fileno()), "rb")
        first = read_report(self._reports)
        if not isinstance(first, Ready):
            self.close()
            reason = first.reason if isinstance(first, Failed) else f"its process ended with {self._process.returncode}"
            raise EngineError(f"the engine does not load: {reason}")

    def send(self, command: Command) -> None:
        """Pass a command on. One to a process that has ended is lost, and `reports` ends."""
        with self._lock:
            try:
                content = memoryview(frame(command))
                while content:
                    content = content[self._commands.write(content) or 0 :]
            except OSError:
                pass

    def reports(self) -> Iterator[Report]:
        """What comes back, until the process ends."""
        while (report := read_report(self._reports)) is not None:
            yield report

    def kill(self) -> None:
        """End it by force, from any thread; `reports` ends with it."""
        self._process.kill()

    def close(self) -> None:
        """End it: by closing its pipe, and by force where it does not heed that. Safe to call twice."""
        self._commands.close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _interpreter() -> str:
    """This Python as a program: inside Triton's stub `sys.executable` names none."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    found = shutil.which(version) or shutil.which("python3")
    if found is None:
        raise EngineError(f"there is no {version} on the PATH to run the engine with")
    return found


def _json(order: Order) -> str:
    return msgspec.json.encode(order).decode()
