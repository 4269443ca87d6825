"""Runs Locust inside this process, without its pages, for a fixed time."""

import time
from dataclasses import dataclass
from typing import Any

import gevent
from locust.env import Environment
from locust.event import Events

from loadtest.report import Report, Row, failures_of, row_of, writing_of
from loadtest.sessions import BETWEEN_TOKENS, FIRST_TOKEN
from loadtest.settings import Settings
from loadtest.users import LoadPlan, user_types


@dataclass(frozen=True)
class Load:
    """How many users ask at once, shared evenly between the protocols, and for how long."""

    users: int = 16
    seconds: float = 20.0

    def __post_init__(self) -> None:
        if self.users < 1 or self.seconds <= 0:
            raise ValueError(f"{self.users} users for {self.seconds} s are no load")


def run(settings: Settings, load: Load) -> Report:
    """Put a pipeline under load. The process must be patched by gevent first.

    Raises:
        TriremeError: a server does not serve the pipeline, or there are no texts.
    """
    plan = LoadPlan(settings)
    types = user_types(plan)
    environment: Any = Environment(user_classes=types, events=Events(), stop_timeout=settings.timeout_s)
    environment.plan = plan
    seconds = _drive(environment, Load(max(load.users, len(types)), load.seconds))
    rows = [_row(environment.stats, plan, each.protocol, seconds) for each in types]
    return Report(settings.pipeline, load.users, seconds, rows, failures_of(environment.stats.errors))


def _row(stats: Any, plan: LoadPlan, protocol: str, seconds: float) -> Row:
    pipeline = plan.settings.pipeline
    entry = stats.get(pipeline, protocol)
    writing = None
    if plan.is_writing:
        first, between = (stats.get(f"{pipeline} {part}", protocol) for part in (FIRST_TOKEN, BETWEEN_TOKENS))
        writing = writing_of(entry, first, between, seconds)
    return row_of(entry, protocol, plan.settings.rows, seconds, writing)


def _drive(environment: Any, load: Load) -> float:
    """Start all users at once, stop them after the time, and give the seconds that passed."""
    runner = environment.create_local_runner()
    started = time.perf_counter()
    runner.start(load.users, spawn_rate=load.users)
    gevent.sleep(load.seconds)
    runner.stop()
    seconds = time.perf_counter() - started
    runner.quit()
    return seconds
