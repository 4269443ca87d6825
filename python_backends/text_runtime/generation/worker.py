"""The engine's own process: takes commands between its steps, and reports what each step gave.

It is a process of its own because an engine holds Python's lock while it computes: the step that speaks with Triton
stays awake, sends while the next tokens are computed, and outlives an engine that crashes. It ends with its parent,
whose end closes the pipe; amid a step the kernel ends it.
"""

import contextlib
import ctypes
import os
import select
import signal
import sys
from pathlib import Path
from typing import BinaryIO

import msgspec

from text_runtime.generation.engines import EngineSettings, Generator, last_line, load_generator
from text_runtime.generation.messages import (
    Command,
    CommandReader,
    Failed,
    Load,
    Ready,
    Report,
    Score,
    Start,
    Step,
    Tokens,
    frame,
)
from text_runtime.manifest import GenerationManifest, read_manifest

_READ_BYTES = 1 << 20
_SET_PARENT_DEATH_SIGNAL = 1
"""`PR_SET_PDEATHSIG` of Linux's prctl(2)."""


class Order(msgspec.Struct, frozen=True):
    """What the process is told on its command line, as JSON: a release's folder, and its share of the machine."""

    folder: str
    threads: int
    cache_gib: int
    max_sequences: int


def main(arguments: list[str]) -> int:
    """Serve until the pipe closes; gives the exit code."""
    _end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which drains
    commands, reports = os.fdopen(os.dup(0), "rb", 0), os.fdopen(os.dup(1), "wb", 0)
    os.dup2(2, 1)  # what libraries print is no report
    order = msgspec.json.decode(arguments[1], type=Order)
    try:
        generator = load_generator(_settings(order))
    except Exception as error:  # each engine has exceptions of its own
        _report(reports, Failed(str(error).strip() or type(error).__name__))
        return 1
    _report(reports, Ready())
    with contextlib.suppress(BrokenPipeError):  # the parent has gone
        try:
            _serve(generator, commands, reports)
        except RuntimeError as error:  # after which an engine cannot be used any more
            _report(reports, Failed(last_line(error)))
            return 1
    return 0


def _end_with_parent() -> None:
    """Have the kernel kill this process when the thread that started it ends, which outlives it otherwise."""
    ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)


def _settings(order: Order) -> EngineSettings:
    folder = Path(order.folder)
    manifest = read_manifest(folder)
    if not isinstance(manifest, GenerationManifest):
        raise ValueError(f"{order.folder} holds a release of the {manifest.family} family")
    return EngineSettings(folder, manifest.generator, order.threads, order.cache_gib, order.max_sequences)


def _serve(generator: Generator, commands: BinaryIO, reports: BinaryIO) -> None:
    reader, last = CommandReader(), Load()
    while True:
        refused: list[Tokens] = []
        while select.select([commands], [], [], None if generator.is_idle and not refused else 0)[0]:
            content = os.read(commands.fileno(), _READ_BYTES)
            if not content:
                return
            for command in reader.feed(content):
                refused += _obey(generator, command)
        tokens = refused + ([] if generator.is_idle else generator.step())
        load = generator.load
        if tokens or load != last:
            _report(reports, Step(tokens, load))
        last = load


def _obey(generator: Generator, command: Command) -> list[Tokens]:
    """Do what is told; gives what can be answered at once: a refusal, or a text's log-probabilities."""
    try:
        if isinstance(command, Start):
            generator.start(command)
        elif isinstance(command, Score):
            return [Tokens(command.sequence, logprobs=generator.score(command.ids), finish_reason="stop")]
        else:
            generator.cancel(command.sequence)
    except ValueError as error:
        return [Tokens(command.sequence, error=str(error))]
    return []


def _report(reports: BinaryIO, report: Report) -> None:
    content = memoryview(frame(report))
    while content:
        content = content[reports.write(content) :]


if __name__ == "__main__":
    sys.exit(main(sys.argv))
