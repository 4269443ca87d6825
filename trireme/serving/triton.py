"""One Triton through all its lives: started, started again after it died, and ended."""

import logging
import subprocess
import time
from collections.abc import Callable

import psutil

from trireme.admin import Administrator, Deadlines
from trireme.errors import ServerError
from trireme.serving.draining import shut
from trireme.serving.launch import Launch
from trireme.serving.process import drain, end, model_of, spawn, stubs_of

_DEADLINES = Deadlines(ask_s=5.0, load_s=300.0, unload_s=5.0)
_log = logging.getLogger(__name__)


class Triton:
    """The process behind a launch. What belongs to it on disk is removed by `end`.

    `exit_code` is what the last process that ended gave, negative for a signal; None before one did.
    """

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.exit_code: int | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._is_ready = False

    @property
    def pid(self) -> int:
        """Its process id.

        Raises:
            ServerError: it was not started, or was stopped.
        """
        if self._process is None:
            raise ServerError(self.launch.grpc_url, "it is not running", "start it")
        return self._process.pid

    def begin(self, is_cancelled: Callable[[], bool] = lambda: False) -> None:
        """Start it, and wait until it is ready.

        Raises:
            ServerError: it does not get ready, or was cancelled. It may still run.
        """
        where = f" (its log: {self.launch.log})" if self.launch.log else ""
        _log.info("starting Triton: %s%s", ", ".join(self.launch.spec.names), where)
        self._process = spawn(self.launch)
        try:
            with self.administrator() as admin:
                self.launch.wait(self._process, admin, is_cancelled)
        except ServerError:
            if self.launch.log:
                _log.debug("%s", self.launch.log.read_text(errors="replace"))
            raise
        self._is_ready = True

    def end(self) -> None:
        """End it, drained if it was serving, with its stubs and their shared memory. Safe to call twice."""
        if self._process is not None and self._is_ready and self.is_running():
            deadline = time.monotonic() + self.launch.drain_timeout_s
            self._shut_pipelines(deadline)
            drain(self._process, deadline, self.launch.idle_s)
        self._kill()
        self.launch.withdraw()

    def _shut_pipelines(self, deadline: float) -> None:
        names = self.launch.spec.names
        sides = [model for model in self.launch.spec.models if model not in names]
        with self.administrator() as admin:
            shut(admin, names, deadline)
            shut(admin, sides, deadline)  # not before: a canary's router asks them

    def begin_again(self, is_cancelled: Callable[[], bool]) -> None:
        """Clear away one that died or hangs, and start it afresh on the same ports.

        Raises:
            ServerError: it does not get ready, or was cancelled. It does not run then.
        """
        self._kill()
        if is_cancelled():
            return
        try:
            self.begin(is_cancelled)
        except ServerError:
            self._kill()  # a Triton without its pipelines would go on running
            raise

    def _kill(self) -> None:
        if self._process is not None:
            self.exit_code = end(self._process, self.launch)
        self._process, self._is_ready = None, False

    @property
    def running_pid(self) -> int | None:
        """The process id while the process lives."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def is_running(self) -> bool:
        """Whether the process lives."""
        return self.running_pid is not None

    def stubs(self) -> dict[int, str]:
        """The living stubs by pid, with the model that each serves."""
        return {stub.pid: model for stub in self._stubs() if (model := model_of(stub))}

    def kill_stub(self, pid: int) -> None:
        """Kill one of its stubs; nothing happens if it is gone."""
        for stub in self._stubs():
            if stub.pid == pid:
                stub.kill()

    def _stubs(self) -> list[psutil.Process]:
        return stubs_of(self._process.pid) if self._process is not None else []

    def administrator(self) -> Administrator:
        """A new connection to its control interface."""
        return Administrator(self.launch.endpoint, _DEADLINES)
