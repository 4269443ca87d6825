"""Locust users: one for each protocol, sending one request after the other without a pause."""

import itertools
import time
from typing import ClassVar

from locust import User, constant, task
from locust.exception import StopUser

from loadtest.connections import PROTOCOLS, connect
from loadtest.scenario import AnswerError, Scenario
from loadtest.settings import Settings
from loadtest.texts import draw, read_corpus
from text_runtime.tasks import task as task_named
from trireme.client.exchange import Call, Columns, Reply, Request
from trireme.client.sync_transports import Transport
from trireme.errors import NoTaskError, TriremeError


class LoadPlan:
    """What all users of a run share: settings, texts, and the scenario with its memory of earlier answers.

    Raises:
        TriremeError: a server does not serve the pipeline, it has no task, the corpus gives no texts, or a schema is
            none.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.texts = read_corpus(settings.corpus)
        names = [self._task_name(protocol) for protocol in self.protocols()]
        self.scenario = Scenario(task_named(names[0]), settings.schema)
        self.numbers = itertools.count(settings.seed)

    def protocols(self) -> list[str]:
        """The protocols that have an address."""
        return [protocol for protocol in PROTOCOLS if self.address(protocol)]

    def address(self, protocol: str) -> str:
        """Where a protocol is spoken."""
        address: str = getattr(self.settings, protocol)
        return address

    def connect(self, protocol: str) -> Transport:
        """A fresh connection."""
        return connect(protocol, self.address(protocol))

    def call(self) -> Call:
        """The terms of a call that begins now."""
        return Call(self.settings.pipeline, self.settings.timeout_s)

    def _task_name(self, protocol: str) -> str:
        """Ask a server for the pipeline before any user starts, so that a wrong address is one line."""
        connection = self.connect(protocol)
        try:
            signature = connection.signature(self.call())
        finally:
            connection.close()
        if signature.task_name is None:
            raise NoTaskError(self.settings.pipeline, self.address(protocol), signature.outputs)
        return signature.task_name


class PipelineUser(User):  # type: ignore[misc]
    """Sends requests of one protocol. Connecting and judging stay outside the measured time."""

    abstract = True
    wait_time = constant(0)
    protocol: ClassVar[str]
    transport: Transport | None = None

    def on_start(self) -> None:
        """Connect."""
        self.plan: LoadPlan = self.environment.plan
        texts = self.plan.settings.rows * self.plan.scenario.texts_a_row
        self.requests = draw(self.plan.texts, texts, next(self.plan.numbers))
        self.transport = self.plan.connect(self.protocol)
        try:
            self.transport.signature(self.plan.call())
        except TriremeError as error:
            self._report("connect", 0.0, error)
            raise StopUser from error

    def on_stop(self) -> None:
        """Close the connection, so that the server can stop at once."""
        if self.transport is not None:
            self.transport.close()

    @task  # type: ignore[untyped-decorator]
    def ask(self) -> None:
        """One request and its judgement."""
        assert self.transport is not None
        columns = self.plan.scenario.columns(next(self.requests))
        started = time.perf_counter()
        try:
            answer: Reply | Exception = self.transport.infer(Request(self.plan.call(), columns))
        except Exception as error:  # whatever a client raises is a failed request, never the end of a user
            answer = error
        elapsed_s = time.perf_counter() - started
        self._report(self.plan.settings.pipeline, elapsed_s, self._fault(columns, answer))

    def _fault(self, columns: Columns, answer: Reply | Exception) -> Exception | None:
        if isinstance(answer, Exception):
            return answer
        try:
            self.plan.scenario.judge(columns, answer)
        except AnswerError as error:
            return error
        return None

    def _report(self, name: str, elapsed_s: float, fault: Exception | None) -> None:
        self.environment.events.request.fire(
            request_type=self.protocol,
            name=name,
            response_time=elapsed_s * 1e3,
            response_length=0,
            exception=fault,
            context={},
        )


class HttpUser(PipelineUser):
    """Asks over HTTP."""

    protocol = "http"


class GrpcUser(PipelineUser):
    """Asks over gRPC."""

    protocol = "grpc"


def user_types(plan: LoadPlan) -> list[type[PipelineUser]]:
    """The users whose protocol has an address."""
    return [each for each in (HttpUser, GrpcUser) if each.protocol in plan.protocols()]
