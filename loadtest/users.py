"""Locust users: one for each protocol, sending one request after the other without a pause."""

import itertools
from collections.abc import Iterator
from typing import ClassVar

from locust import User, constant, task
from locust.exception import StopUser

from loadtest.connections import PROTOCOLS, connect
from loadtest.scenario import Scenario
from loadtest.sessions import RowsSession, Sample, Session, WritingSession
from loadtest.settings import Settings
from loadtest.texts import draw, read_corpus
from text_runtime.tasks import task as task_named
from text_runtime.tasks import text_generation
from trireme.client.exchange import Call
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
        name = [self._task_name(protocol) for protocol in self.protocols()][0]
        self.is_writing = name == text_generation.NAME
        self._scenario = None if self.is_writing else Scenario(task_named(name), settings.schema)
        self._numbers = itertools.count(settings.seed)

    def protocols(self) -> list[str]:
        """The protocols that have an address."""
        return [protocol for protocol in PROTOCOLS if getattr(self.settings, protocol)]

    def session(self, protocol: str) -> Session:
        """A fresh connection, and the way to ask over it."""
        if self._scenario is None:
            return WritingSession(self.settings, protocol)
        return RowsSession(self.settings, protocol, self._scenario)

    def requests(self) -> Iterator[list[str]]:
        """The texts of one user's requests, without an end."""
        texts = self.settings.rows * self._scenario.texts_a_row if self._scenario else 1
        return draw(self.texts, texts, next(self._numbers))

    def name_of(self, sample: Sample) -> str:
        """What a sample is counted as."""
        return f"{self.settings.pipeline} {sample.part}".rstrip()

    def _task_name(self, protocol: str) -> str:
        """Ask a server for the pipeline before any user starts, so that a wrong address is one line."""
        address: str = getattr(self.settings, protocol)
        connection = connect(protocol, address)
        try:
            signature = connection.signature(Call(self.settings.pipeline, self.settings.timeout_s))
        finally:
            connection.close()
        if signature.task_name is None:
            raise NoTaskError(self.settings.pipeline, address, signature.outputs)
        return signature.task_name


class PipelineUser(User):  # type: ignore[misc]
    """Sends requests of one protocol."""

    abstract = True
    wait_time = constant(0)
    protocol: ClassVar[str]
    session: Session | None = None

    def on_start(self) -> None:
        """Connect."""
        self.plan: LoadPlan = self.environment.plan
        self.requests = self.plan.requests()
        self.session = self.plan.session(self.protocol)
        try:
            self.session.open()
        except TriremeError as error:
            self._report("connect", Sample(0.0, error))
            raise StopUser from error

    def on_stop(self) -> None:
        """Close the connection."""
        if self.session is not None:
            self.session.close()

    @task  # type: ignore[untyped-decorator]
    def ask(self) -> None:
        """One request and its judgement."""
        assert self.session is not None
        for sample in self.session.ask(next(self.requests)):
            self._report(self.plan.name_of(sample), sample)

    def _report(self, name: str, sample: Sample) -> None:
        self.environment.events.request.fire(
            request_type=self.protocol,
            name=name,
            response_time=sample.elapsed_s * 1e3,
            response_length=sample.tokens,
            exception=sample.fault,
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
