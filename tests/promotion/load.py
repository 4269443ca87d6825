"""Clients at full speed over HTTP and gRPC, in processes of their own, that check each answer against both releases."""

import http.client
import itertools
import json
import multiprocessing
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Event
from pathlib import Path

import numpy as np

from tests.promotion.releases import NAME
from text_runtime.golden import GoldenRequests, read_golden
from trireme.admin import Endpoint
from trireme.contract.repository import ROUTER_VERSION
from trireme.promotion.replica import Replica

# A fork of this process would inherit gRPC's locks as other threads hold them, and might hang.
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload([__name__])
_THREADS = 4
_TOLERANCE = 1e-3
Ask = Callable[[str, str | None], tuple[int, str, list[float]]]
"""A text and a key in; the version that the answer names, its label and its scores out."""


@dataclass(frozen=True)
class Answer:
    """One request: when it ended, its seconds, and the release whose whole answer it is; 0 for any error or mixture."""

    ended: float
    seconds: float
    release: int
    problem: str = ""
    key: str | None = None


@dataclass
class Load:
    """Clients until the block ends. Each process holds four threads of one protocol; `keys` of callers, 0 for none."""

    http_urls: Sequence[str]
    grpc_urls: Sequence[str]
    goldens: dict[int, GoldenRequests]
    http_clients: int = 16
    grpc_clients: int = 16
    keys: int = 0
    answers: list[Answer] = field(default_factory=list)

    def __enter__(self) -> "Load":
        self._ended = _context.Event()
        plan = (("http", self.http_urls, self.http_clients), ("grpc", self.grpc_urls, self.grpc_clients))
        self._started = [
            self._start(kind, urls[index % len(urls)])
            for kind, urls, clients in plan
            for index in range(clients // _THREADS)
        ]
        for _, connection in self._started:
            connection.recv()
        return self

    def _start(self, kind: str, url: str) -> tuple[BaseProcess, Connection]:
        ours, theirs = _context.Pipe()
        callers = [f"user-{number}" for number in range(self.keys)] or [None]
        process = _context.Process(target=_work, args=(_Client(kind, url, self.goldens, callers), self._ended, theirs))
        process.start()
        theirs.close()  # so that a process that dies is noticed
        return process, ours

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for process, connection in self._started:
            self.answers += connection.recv()
            process.join()

    @property
    def failures(self) -> list[Answer]:
        """Answers that are no release's."""
        return [answer for answer in self.answers if answer.release == 0]

    def between(self, start: float, end: float) -> list[Answer]:
        """Answers that came within a span of `time.monotonic`."""
        return [answer for answer in self.answers if start <= answer.ended <= end]


def goldens_of(root: Path) -> dict[int, GoldenRequests]:
    """What each release answers."""
    return {int(path.parent.name): read_golden(path.parent) for path in (root / NAME).glob("*/golden.json")}


def percentile_ms(answers: Sequence[Answer], share: float) -> float:
    """A percentile of the seconds, in milliseconds."""
    return float(np.percentile([answer.seconds for answer in answers], share * 100) * 1000) if answers else 0.0


@dataclass(frozen=True)
class _Client:
    """What a client asks, where, and in whose name."""

    kind: str
    url: str
    goldens: dict[int, GoldenRequests]
    callers: Sequence[str | None]

    def connect(self) -> Ask:
        """A way to ask."""
        return _http(self.url) if self.kind == "http" else _grpc(self.url)


def _work(client: _Client, ended: Event, results: Connection) -> None:
    """Says when it begins, and gives its answers when it ends."""
    answers: list[Answer] = []
    threads = [threading.Thread(target=_ask_until, args=(ended, client, answers)) for _ in range(_THREADS)]
    for thread in threads:
        thread.start()
    results.send("begun")
    for thread in threads:
        thread.join()
    results.send(answers)


def _ask_until(ended: Event, client: _Client, answers: list[Answer]) -> None:
    ask, texts = client.connect(), next(iter(client.goldens.values())).columns["text"]
    for turn in itertools.count():
        if ended.is_set():
            return
        text, caller = turn % len(texts), client.callers[turn % len(client.callers)]
        started = time.monotonic()
        try:
            release, problem = _judge(client.goldens, text, *ask(texts[text], caller))
        except Exception as error:  # whatever goes wrong is a failed request
            release, problem = 0, f"{client.kind}: {error!r}"
            ask = client.connect()
        now = time.monotonic()
        answers.append(Answer(now, now - started, release, problem, caller))
        if problem:
            time.sleep(0.05)


def _judge(
    goldens: dict[int, GoldenRequests], turn: int, version: int, label: str, scores: list[float]
) -> tuple[int, str]:
    for release, golden in goldens.items():
        wanted = golden.outputs["label"][turn][0], golden.outputs["scores"][turn]
        if label == wanted[0] and np.allclose(scores, wanted[1], atol=_TOLERANCE):
            is_named = version in (release, ROUTER_VERSION)
            return (release, "") if is_named else (0, f"release {release} answered, the answer says {version}")
    return 0, f"{label} {scores} is no release's answer"


def _http(url: str) -> Ask:
    connection = http.client.HTTPConnection(url, timeout=30)

    def ask(text: str, key: str | None) -> tuple[int, str, list[float]]:
        tensor = {"name": "text", "shape": [1, 1], "datatype": "BYTES", "data": [text]}
        body = {"inputs": [tensor], "parameters": {} if key is None else {"key": key}}
        connection.request("POST", f"/v2/models/{NAME}/infer", json.dumps(body))
        answer = json.loads(connection.getresponse().read())
        if "error" in answer:
            raise RuntimeError(answer["error"])
        outputs = {output["name"]: output["data"] for output in answer["outputs"]}
        return int(answer["model_version"]), outputs["label"][0], outputs["scores"]

    return ask


def _grpc(url: str) -> Ask:
    control = Replica(Endpoint(url, "", ""))

    def ask(text: str, key: str | None) -> tuple[int, str, list[float]]:
        answered = control.infer(NAME, {"text": [text]}, key)
        return (
            answered.release or ROUTER_VERSION,
            answered.outputs["label"][0, 0].decode(),
            answered.outputs["scores"][0].tolist(),
        )

    return ask
