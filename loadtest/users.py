"""Locust users: one for each protocol, sending one request after the other without a pause."""

import itertools
import time
from typing import ClassVar

from locust import User, constant, task
from locust.exception import StopUser

from loadtest.scenarios import AnswerError, Scenario, Tensors, detect, scenario
from loadtest.settings import Settings
from loadtest.texts import draw, read_corpus
from loadtest.transports import GrpcTransport, HttpTransport, Transport
from trireme.errors import TriremeError, UnsupportedError


class Plan:
    """What all users of a run share: settings, texts, and the scenario with its memory of earlier answers.

    Raises:
        TriremeError: a server does not serve the pipeline, it has no scenario, or the corpus gives no texts.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.texts = read_corpus(settings.corpus)
        self.inputs, self.outputs = self._survey()
        self.scenario = self._scenario()
        self.numbers = itertools.count(settings.seed)

    def transports(self) -> list[type[Transport]]:
        """The protocols that have an address."""
        return [each for each in (HttpTransport, GrpcTransport) if self.address(each)]

    def address(self, transport: type[Transport]) -> str:
        """Where a protocol is spoken."""
        address: str = getattr(self.settings, transport.protocol)
        return address.removeprefix("http://").removeprefix("grpc://")

    def connect(self, transport: type[Transport]) -> Transport:
        """A fresh connection."""
        return transport(self.address(transport), self.settings.timeout_s)

    def _survey(self) -> tuple[list[str], list[str]]:
        """Ask every server for the pipeline before any user starts, so that a wrong address is one line."""
        found: tuple[list[str], list[str]] = ([], [])
        for transport in self.transports():
            connection = self.connect(transport)
            try:
                found = connection.tensors(self.settings.pipeline)
            finally:
                connection.close()
        return found

    def _scenario(self) -> Scenario:
        name = self.settings.task or detect(self.inputs, self.outputs)
        if name is None:
            raise UnsupportedError("load test for outputs", ", ".join(self.outputs), ["--task"])
        return scenario(name)


class PipelineUser(User):  # type: ignore[misc]
    """Sends requests of one protocol. Connecting and serializing stay outside the measured time."""

    abstract = True
    wait_time = constant(0)
    transport_type: ClassVar[type[Transport]]
    transport: Transport | None = None

    def on_start(self) -> None:
        """Connect."""
        self.plan: Plan = self.environment.plan
        self.requests = draw(self.plan.texts, self.plan.settings.rows, next(self.plan.numbers))
        self.transport = self.plan.connect(self.transport_type)
        try:
            self.transport.tensors(self.plan.settings.pipeline)
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
        texts = next(self.requests)
        inputs = self.transport.prepare(self.plan.scenario.inputs(texts))
        started = time.perf_counter()
        fault: Exception | None = None
        answer: Tensors = {}
        try:
            answer = self.transport.infer(self.plan.settings.pipeline, inputs, self.plan.outputs)
        except Exception as error:  # whatever a client raises is a failed request, never the end of a user
            fault = error
        elapsed_s = time.perf_counter() - started
        self._report(self.plan.settings.pipeline, elapsed_s, fault or self._fault(texts, answer))

    def _fault(self, texts: list[str], answer: Tensors) -> Exception | None:
        try:
            self.plan.scenario.judge(texts, answer)
        except AnswerError as error:
            return error
        return None

    def _report(self, name: str, elapsed_s: float, fault: Exception | None) -> None:
        self.environment.events.request.fire(
            request_type=self.transport_type.protocol,
            name=name,
            response_time=elapsed_s * 1e3,
            response_length=0,
            exception=fault,
            context={},
        )


class HttpUser(PipelineUser):
    """Asks over HTTP."""

    transport_type = HttpTransport


class GrpcUser(PipelineUser):
    """Asks over gRPC."""

    transport_type = GrpcTransport


def user_types(plan: Plan) -> list[type[PipelineUser]]:
    """The users whose protocol has an address."""
    return [each for each in (HttpUser, GrpcUser) if each.transport_type in plan.transports()]
