"""Notices a step whose process lives but neither answers nor works, because it is frozen or waits for itself.

Triton fails each request on a frozen process after a second or two, and lets one on a deadlocked process wait for ever;
it does so until somebody ends the process. So every few seconds each pipeline is sent a small request. When it is not
answered, its steps are asked one by one; a process that used no CPU while its own request waited, twice in a row, is
ended, and supervision brings the step back. A step that is only busy uses CPU, and is left alone however long it takes.
What an engine uses in a process of its own counts too.
"""

import logging
import threading
from collections.abc import Iterator

import psutil

from trireme.admin import Administrator
from trireme.serving.process import model_of, stubs_of, version_of
from trireme.serving.triton import Triton

_EVERY_S = 2.0
_DEADLINE_S = 3.0
_IDLE_CPU_S = 0.02
_log = logging.getLogger(__name__)


class HangDetector:
    """Watches a Triton's steps in a thread of its own."""

    def __init__(self, triton: Triton) -> None:
        self._triton = triton
        self._ended = threading.Event()
        self._suspects: set[psutil.Process] = set()

    def start(self) -> None:
        """Begin, for a Triton that is ready."""
        threading.Thread(target=self._watch, name="trireme-hang-detector", daemon=True).start()

    def stop(self) -> None:
        """End: a request under way is not waited for, and nothing is ended any more."""
        self._ended.set()

    def _watch(self) -> None:
        while not self._ended.wait(_EVERY_S):
            try:
                with self._triton.administrator() as admin:
                    self._check(admin)
            except Exception as error:  # whatever it is, nobody else would look
                _log.debug(
                    "the steps could not be asked: %s", error
                )  # Triton is gone or comes back: supervision's matter

    def _check(self, admin: Administrator) -> None:
        models = self._triton.launch.spec.models
        is_well = all(admin.is_answering(model, "", _DEADLINE_S) for model in models)
        found = set() if is_well else self._hung(admin)
        for stub in found & self._suspects:
            if not self._ended.is_set():
                _log.warning("a process of '%s' neither answers nor works: ending it", model_of(stub))
                stub.kill()
        self._suspects = found - self._suspects

    def _hung(self, admin: Administrator) -> set[psutil.Process]:
        found = {stub for stub, cpu_s in self._silent_stubs(admin) if _cpu_s(stub) - cpu_s < _IDLE_CPU_S}
        return found if admin.is_live() else set()  # a Triton that stands still passes nothing on to its steps

    def _silent_stubs(self, admin: Administrator) -> Iterator[tuple[psutil.Process, float]]:
        """The processes of steps that do not answer, each with the CPU time that it had before its step was asked."""
        stubs = stubs_of(self._triton.pid)
        for model, version in sorted({(model_of(stub), version_of(stub)) for stub in stubs}):
            owners = [(stub, _cpu_s(stub)) for stub in stubs if (model_of(stub), version_of(stub)) == (model, version)]
            if model and not admin.is_answering(model, version, _DEADLINE_S):
                yield from owners


def _cpu_s(stub: psutil.Process) -> float:
    """CPU seconds so far, with those of an engine in a process of its own; of one that is gone they do not matter."""
    try:
        return float(sum(sum(each.cpu_times()[:2]) for each in (stub, *stub.children(recursive=True))))
    except psutil.NoSuchProcess:
        return float("inf")
