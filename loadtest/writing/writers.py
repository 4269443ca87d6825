"""What is measured: anything that streams an answer to a prompt. Each runs for as long as its block."""

import asyncio
import subprocess
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from itertools import count
from pathlib import Path

import aiohttp
from tokenizers import Tokenizer

from loadtest.processes import running
from text_runtime.encoder.cpu import usable_cores
from text_runtime.generation.files import TOKENIZER_NAME
from text_runtime.generation.messages import Cancel, Start, Step, Tokens
from text_runtime.generation.sampling import SamplingParameters
from text_runtime.generation.worker import Order
from text_runtime.generation.worker_process import WorkerProcess, WorkerSpec
from trireme.client import AsyncClient
from trireme.errors import ServerError
from trireme.machine.free_ports import free_ports

_READY_S = 300.0
_HERE = Path(__file__).parent


class Writer(ABC):
    """Streams answers. `name` is how a report calls it; one that `is_whole` gives nothing before all is written."""

    name: str
    is_whole = False

    @abstractmethod
    def write(self, prompt: str, tokens: int) -> AsyncGenerator[int, None]:
        """One answer of so many tokens, each time the number of tokens that have come. Closing it cancels."""


class TritonWriter(Writer):
    """A release behind Triton, asked over gRPC."""

    name = "Trireme, gRPC"

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def write(self, prompt: str, tokens: int) -> AsyncGenerator[int, None]:
        """See the base class."""
        asked = self._client.stream(prompt, temperature=0, max_tokens=tokens, ignore_eos=True)
        async with aclosing(asked) as stream:
            async for piece in stream:
                yield piece.num_output_tokens


class EngineWriter(Writer):
    """The same release's engine with nothing in front of it: the ceiling."""

    name = "in process"

    def __init__(self, worker: WorkerProcess, tokenizer: Tokenizer) -> None:
        self._worker = worker
        self._tokenizer = tokenizer
        self._numbers = count(1)
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[int, asyncio.Queue[Tokens]] = {}
        threading.Thread(target=self._read, daemon=True).start()

    async def write(self, prompt: str, tokens: int) -> AsyncGenerator[int, None]:
        """See the base class."""
        number = next(self._numbers)
        queue = self._waiting[number] = asyncio.Queue()
        sampling = SamplingParameters(max_tokens=tokens, temperature=0, ignore_eos=True)
        self._worker.send(Start(number, self._tokenizer.encode(prompt).ids, sampling))
        is_ended = False
        try:
            while not is_ended:
                found = await queue.get()
                is_ended = bool(found.finish_reason)
                yield len(found.ids)
        finally:
            del self._waiting[number]
            if not is_ended:
                self._worker.send(Cancel(number))

    def _read(self) -> None:
        for report in self._worker.reports():
            if isinstance(report, Step):
                self._loop.call_soon_threadsafe(self._hand_out, report.tokens)

    def _hand_out(self, tokens: list[Tokens]) -> None:
        for each in tokens:
            if each.sequence in self._waiting:
                self._waiting[each.sequence].put_nowait(each)


class WholeWriter(Writer):
    """A peer that answers `/generate` with `{"tokens": N}` when it has written them all, and cannot be stopped."""

    is_whole = True

    def __init__(self, name: str, session: aiohttp.ClientSession, url: str) -> None:
        self.name = name
        self._session = session
        self._url = url

    async def write(self, prompt: str, tokens: int) -> AsyncGenerator[int, None]:
        """See the base class."""
        body = {"prompt": prompt, "max_tokens": tokens}
        async with self._session.post(self._url, json=body) as answer:
            yield int((await answer.json())["tokens"])


@asynccontextmanager
async def triton_writer(grpc_url: str, pipeline: str) -> AsyncIterator[Writer]:
    """A pipeline that a Triton serves."""
    async with AsyncClient(f"grpc://{grpc_url}", pipeline, timeout_s=600) as client:
        yield TritonWriter(client)


@asynccontextmanager
async def engine_writer(folder: Path, engine: str) -> AsyncIterator[Writer]:
    """The engine of a release, by the folder of its generator."""
    worker = WorkerProcess(WorkerSpec(Order(str(folder), usable_cores(), 1, 64), engine))
    try:
        yield EngineWriter(worker, Tokenizer.from_file(str(folder / TOKENIZER_NAME)))
    finally:
        worker.close()


@asynccontextmanager
async def transformers_writer(python: Path, weights: Path) -> AsyncIterator[Writer]:
    """FastAPI in front of `transformers.generate`, the recipe of many articles, under an interpreter that has both."""
    name = "FastAPI + transformers"
    (port,) = free_ports("127.0.0.1", 1)
    command = [str(python), str(_HERE / "fastapi_transformers.py"), str(weights), str(port)]
    with running(name, command, stdout=sys.stderr) as process:
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None)) as session:
            writer = WholeWriter(name, session, f"http://127.0.0.1:{port}/generate")
            await _ready(name, process, writer)
            yield writer


async def _ready(name: str, process: "subprocess.Popen[bytes]", writer: Writer) -> None:
    """Wait until it writes."""
    ends = time.monotonic() + _READY_S
    while time.monotonic() < ends and process.poll() is None:
        try:
            async for _ in writer.write("Hello", 2):
                pass
        except aiohttp.ClientError:
            await asyncio.sleep(0.5)
        else:
            return
    raise ServerError(name, "is not ready", "look at what it said above")
