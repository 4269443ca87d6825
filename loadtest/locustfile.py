"""The same users with Locust's own command line and pages: `locust -f loadtest/locustfile.py --pipeline sentiment`.

Every option can also come from the environment, as TRIREME_LOADTEST_PIPELINE and so on.
"""

import argparse
import sys
from dataclasses import fields
from typing import Any

from locust import events

from loadtest.settings import Settings
from loadtest.users import GrpcUser, HttpUser, LoadPlan
from trireme.errors import TriremeError

__all__ = ["GrpcUser", "HttpUser"]


@events.init_command_line_parser.add_listener  # type: ignore[untyped-decorator]
def add_options(parser: argparse.ArgumentParser, **_: Any) -> None:
    """One option for each setting. configargparse, which Locust uses, reads the environment variables."""
    add: Any = parser.add_argument
    for each in fields(Settings):
        add(
            f"--{each.name.replace('_', '-')}",
            type=type(each.default),
            default=each.default,
            env_var=f"TRIREME_LOADTEST_{each.name.upper()}",
            help=f"Load test setting {each.name}.",
        )


@events.init.add_listener  # type: ignore[untyped-decorator]
def make_plan(environment: Any, **_: Any) -> None:
    """Make the run's plan, or end with one line that says why there is none."""
    try:
        environment.plan = LoadPlan(Settings.from_options(environment.parsed_options))
    except (TriremeError, ValueError) as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(1)
    unused = {each for each in environment.user_classes if each.protocol not in environment.plan.protocols()}
    environment.user_classes = [each for each in environment.user_classes if each not in unused]
