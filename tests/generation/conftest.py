"""What tests of pipelines that write share."""

from pathlib import Path

import pytest

_TIMEOUT_S = 900
"""The first test waits for the export of two releases, and on a busy machine beside other exports."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give every test of this room its time."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.timeout(_TIMEOUT_S))
