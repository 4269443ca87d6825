"""Runs `trireme export` as a user does, and looks at all that it leaves: lines, files, processes."""

import hashlib
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.parity.answers import NAME

LIMIT_S = 120.0
"""CPU seconds that an export may take."""
_HANGING_S = 400.0
"""Seconds after which one is taken for hanging: neighbours may have the cores."""
_MEMORY_KIB = 16_000_000
_PROGRESS = re.compile(
    r"(loading the|exporting the|building for|gate \w+: |asking |warning: |INFO |WARNING )|.*(it/s|s/it)\]?$|^\s*$"
)
_GRACE_S = 3.0


@dataclass(frozen=True)
class Outcome:
    """What one export did. `before` and `after` list the repository's files with their hashes."""

    status: int | None
    stdout: str
    stderr: str
    cpu_s: float
    repository: Path
    scratch: Path
    before: dict[str, str]
    after: dict[str, str]
    left: list[str]
    processes: list[str]


def export_by_command(place: Path, task: str, python: Path) -> Outcome:
    """Export `place/checkpoint` into a repository that holds something already, with a temporary folder of its own."""
    repository, scratch = place / "repository", place / "tmp"
    scratch.mkdir()
    (repository / "another" / "1").mkdir(parents=True)
    (repository / "another" / "1" / "file").write_bytes(b"precious")
    before, start = _listing(repository), _cpu_s()
    status, stdout, stderr = _run(place, task, python, repository, scratch)
    cpu_s = _cpu_s() - start
    processes = _left_processes(scratch)
    left = sorted(str(path.relative_to(scratch)) for path in scratch.rglob("*"))
    return Outcome(status, stdout, stderr, cpu_s, repository, scratch, before, _listing(repository), left, processes)


def _run(place: Path, task: str, python: Path, repository: Path, scratch: Path) -> tuple[int | None, str, str]:
    own = {"TMPDIR": str(scratch), "COLUMNS": "1000", "TRIREME_HF_PYTHON": str(python), "NO_COLOR": "1"}
    export = ["export", str(place / "checkpoint"), "--task", task, "--name", NAME, "-r", str(repository)]
    pooling = ["--pooling", "mean"] if task == "embedding" and not (place / "checkpoint/modules.json").exists() else []
    limited = ["bash", "-c", f'ulimit -v {_MEMORY_KIB}; exec "$@"', "export"]
    command = [*limited, sys.executable, "-m", "trireme", *export, *pooling]
    with (place / "stdout").open("w+") as stdout, (place / "stderr").open("w+") as stderr:
        process = subprocess.Popen(
            command, stdout=stdout, stderr=stderr, env=os.environ | own, stdin=subprocess.DEVNULL
        )
        try:
            status: int | None = process.wait(_HANGING_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            status = None
    texts = [(place / name).read_text(errors="replace") for name in ("stdout", "stderr")]
    return status, texts[0], texts[1]


def _cpu_s() -> float:
    """CPU seconds of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _listing(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
        for path in sorted(folder.rglob("*"))
    }


def _left_processes(scratch: Path) -> list[str]:
    """Commands of processes that the export started and left; they are ended."""
    end = time.monotonic() + _GRACE_S
    while (found := list(_with_scratch(scratch))) and time.monotonic() < end:
        time.sleep(0.2)
    for pid, _ in found:
        os.kill(pid, signal.SIGKILL)
    return [command for _, command in found]


def _with_scratch(scratch: Path) -> Iterator[tuple[int, str]]:
    for path in Path("/proc").glob("[0-9]*"):
        try:
            environment = (path / "environ").read_bytes().split(b"\0")
            if f"TMPDIR={scratch}".encode() in environment:
                yield int(path.name), (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue


def unlawful(outcome: Outcome) -> Iterator[str]:
    """What an export must never do, whatever the folder."""
    yield from _lines(outcome)
    if outcome.left:
        yield f"left in the temporary folder: {outcome.left[:3]}"
    if outcome.processes:
        yield f"left processes: {outcome.processes}"
    kept = {name: digest for name, digest in outcome.after.items() if name in outcome.before}
    if kept != outcome.before or (outcome.status and outcome.after != outcome.before):
        yield f"changed the repository: {sorted(set(outcome.after) ^ set(outcome.before))[:3]}"


def _lines(outcome: Outcome) -> Iterator[str]:
    both = outcome.stdout + outcome.stderr
    if outcome.status is None:
        yield f"not done after {_HANGING_S:.0f} s"
        return
    if outcome.cpu_s > LIMIT_S:
        yield f"took {outcome.cpu_s:.0f} CPU seconds"
    if "Traceback" in both:
        yield f"a traceback: {both.strip().splitlines()[-1][:300]}"
        return
    if outcome.status not in (0, 1):
        yield f"exit status {outcome.status}: {both[-300:]!r}"
        return
    said = [line for line in outcome.stderr.splitlines() if not _PROGRESS.match(line)]
    if outcome.status == 0 and said:
        yield f"unexpected lines: {said[:3]}"
    if outcome.status == 1 and (len(said) != 1 or not said[0].startswith("error:")):
        yield f"not one line of error: {said[:4]}"
    if outcome.status == 1 and str(outcome.scratch) in both:
        yield f"a temporary path: {said[0]}"
