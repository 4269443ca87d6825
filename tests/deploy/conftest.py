"""Containers for the tests of this room."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.container import CLASSIFIER, Container, running, write_pipeline


@pytest.fixture
def container(tmp_path: Path) -> Iterator[Container]:
    """The launcher started with a control token over the pipeline `parity`, ready."""
    write_pipeline(tmp_path / "models", "parity")
    yield from running(tmp_path)


@pytest.fixture
def partly_broken_container(tmp_path: Path) -> Iterator[Container]:
    """As `container`, with a pipeline `nan` that answers NaN and a pipeline `broken` that cannot load."""
    write_pipeline(tmp_path / "models", "parity")
    write_pipeline(tmp_path / "models", "nan", CLASSIFIER.replace("0.9", "np.nan"))
    write_pipeline(tmp_path / "models", "broken", "raise ValueError('broken on purpose')")
    yield from running(tmp_path)
