"""Notices what Triton 2.51 does not: a dead Python stub is neither restarted nor reported, and health stays green."""

import logging
import threading
from collections.abc import Callable

import psutil

from serving.control import Control
from serving.process import model_of, stubs_of

_POLL_S = 0.2
_log = logging.getLogger(__name__)


class Supervisor:
    """Watches a Triton's stubs in a thread of its own, and brings back what died."""

    def __init__(
        self, pid: Callable[[], int], open_control: Callable[[], Control], restart: Callable[[], None]
    ) -> None:
        self._pid = pid
        self._open_control = open_control
        self._restart = restart
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="trireme-supervisor", daemon=True)
        self._alive: dict[int, str] = {}

    def start(self) -> None:
        """Begin to watch."""
        self._alive = self._stubs()
        self._thread.start()

    def stop(self) -> None:
        """End watching; when this returns, nothing is being restored any more."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(_POLL_S):
            try:
                self._look()
            except Exception as error:  # whatever it is, nobody else would watch
                _log.warning("supervision: %s; looking again", error)

    def _look(self) -> None:
        if not psutil.pid_exists(self._pid()) or psutil.Process(self._pid()).status() == psutil.STATUS_ZOMBIE:
            _log.error("Triton died: starting it again")
            self._restart()
            self._alive = self._stubs()
            return
        now = self._stubs()
        lost = {model for pid, model in self._alive.items() if pid not in now}
        self._alive = now
        if lost:
            self._restore(lost)

    def _restore(self, models: set[str]) -> None:
        with self._open_control() as control:
            loaded = {row["name"] for row in control.index() if row.get("state") == "READY"}
            for model in models & loaded:
                if control.is_ensemble(model) or self._has_all_stubs(control, model):
                    continue  # an ordinary unload, or the end of a canary, took the stub away
                _log.warning("a process of '%s' died: loading the model again", model)
                control.reload(model)
                _log.warning("'%s' is back", model)
        self._alive = self._stubs()

    def _has_all_stubs(self, control: Control, model: str) -> bool:
        ready = [row for row in control.index() if row["name"] == model and row.get("state") == "READY"]
        return list(self._stubs().values()).count(model) >= len(ready)

    def _stubs(self) -> dict[int, str]:
        """Stubs by pid with the model each serves: `.../sentiment_encoder/1/model.py` is the first argument."""
        models = {stub.pid: model_of(stub) for stub in stubs_of(self._pid())}
        return {pid: model for pid, model in models.items() if model}
