"""Notices what Triton 2.51 does not: a dead Python stub is neither restarted nor reported, and health stays green."""

import logging
import threading
import time

from trireme.admin import Administrator
from trireme.errors import ServerError, SilentServerError
from trireme.serving.backoff import Backoff
from trireme.serving.triton import Triton

_POLL_S = 0.2
_STOP_TIMEOUT_S = 2.0
_FAILED_STARTS_MAX = 5
_TRITON = "Triton"
_log = logging.getLogger(__name__)


class Supervisor:
    """Watches a Triton and its stubs in a thread of its own, and brings back what died.

    A model that lost a stub stays suspect until it has all of them again, however often one dies meanwhile.
    """

    def __init__(self, triton: Triton) -> None:
        self._triton = triton
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="trireme-supervisor", daemon=True)
        self._seen: dict[int, str] = {}
        self._retired: dict[int, float] = {}
        self._suspects: set[str] = set()
        self._backoff = Backoff()
        self._failed_starts = 0
        self.failure: ServerError | None = None

    def start(self) -> None:
        """Begin to watch a Triton that is ready."""
        self._begin_afresh()
        self._thread.start()

    def stop(self) -> None:
        """End watching. A load that is under way may still be waited for by the thread: see `join`."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(_STOP_TIMEOUT_S)

    def join(self) -> None:
        """Wait for the thread, once Triton is gone and whatever it waited for has failed."""
        if self._thread.is_alive():
            self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(_POLL_S) and self.failure is None:
            try:
                self._look()
            except Exception as error:  # whatever it is, nobody else would watch
                if not self._ended.is_set():
                    _log.warning("supervision: %s; looking again", error)

    def _begin_afresh(self) -> None:
        self._seen = self._triton.stubs()
        self._retired.clear()
        # One may have died since the last probe: all are looked at once.
        self._suspects = {*self._triton.launch.spec.steps, *self._triton.launch.spec.models}

    def _look(self) -> None:
        if not self._triton.is_running():
            self._begin_again("Triton died")
            return
        living = self._triton.stubs()
        self._suspects |= {model for pid, model in self._seen.items() if pid not in living}
        self._seen = living
        self._end_retired(living)
        if self._suspects:
            self._examine_suspects()

    def _examine_suspects(self) -> None:
        try:
            with self._triton.administrator() as admin:
                for model in sorted(self._suspects):
                    self._examine(admin, model)
        except SilentServerError:
            if self._ended.is_set():
                raise
            if self._triton.is_running():
                self._begin_again("Triton's control interface does not answer")

    def _examine(self, admin: Administrator, model: str) -> None:
        if self._is_whole(admin, model):
            self._suspects.discard(model)
        elif self._backoff.is_due(model):
            self._backoff.count(model)
            self._reload(admin, model)

    def _is_whole(self, admin: Administrator, model: str) -> bool:
        versions = admin.ready_versions(model)
        if not versions:
            return True  # an ordinary unload took the stub away
        config = admin.config(model)
        if config.backend not in self._triton.launch.python_backends:
            return True  # it runs in Triton itself; or it was a canary's router, and is an ensemble again
        instances = sum(group.count for group in config.instance_group) or 1
        living = [pid for pid, owner in self._triton.stubs().items() if owner == model and pid not in self._retired]
        return len(living) >= len(versions) * instances

    def _reload(self, admin: Administrator, model: str) -> None:
        """It stays suspect until the next look finds it whole, as its new stubs may die too.

        Stubs that it still has belong to the instances that the reload replaces, and no longer count.
        """
        _log.warning("a process of '%s' died: loading the model again", model)
        begin = time.monotonic()
        replaced = [pid for pid, owner in self._triton.stubs().items() if owner == model]
        admin.reload(model)
        self._retired |= dict.fromkeys(replaced, time.monotonic() + self._triton.launch.drain_timeout_s)
        _log.warning("'%s' is back after %.1f s", model, time.monotonic() - begin)

    def _end_retired(self, living: dict[int, str]) -> None:
        """Kill replaced stubs that stay: an instance that lost a request never unloads, and its twins with it."""
        self._retired = {pid: deadline for pid, deadline in self._retired.items() if pid in living}
        for pid in [pid for pid, deadline in self._retired.items() if time.monotonic() > deadline]:
            _log.warning("ending process %d of '%s', which was replaced", pid, living[pid])
            self._triton.kill_stub(pid)

    def _begin_again(self, reason: str) -> None:
        if not self._backoff.is_due(_TRITON):
            return
        self._backoff.count(_TRITON)
        _log.error("%s: starting it again", reason)
        try:
            self._triton.begin_again(self._ended.is_set)
        except ServerError as error:
            self._count_failed_start(error)
            return
        self._failed_starts = 0
        _log.warning("Triton is back")
        self._begin_afresh()

    def _count_failed_start(self, error: ServerError) -> None:
        if self._ended.is_set():
            return
        self._failed_starts += 1
        _log.error("%s (start %d of %d)", error, self._failed_starts, _FAILED_STARTS_MAX)
        if self._failed_starts == _FAILED_STARTS_MAX:
            self.failure = error
