"""A repository of two small releases, made once, and a real Triton on a copy of it for each test that moves it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import once
from tests.promotion.releases import NAME, make_repository
from trireme.promotion.spec import PromotionSpec
from trireme.serving import Server, ServerSpec, start


@pytest.fixture(scope="session")
def releases(shared_folder: Path) -> Path:
    """The repository that copies are made of. Never change it."""
    return once(shared_folder / "promotion-releases", make_repository)


@pytest.fixture
def model_repository(releases: Path, tmp_path: Path) -> Path:
    """A copy to change: release 1 pinned, release 2 beside it on disk."""
    return Path(shutil.copytree(releases, tmp_path / "model_repository"))


@pytest.fixture
def joined_repository(shared_folder: Path, tmp_path: Path) -> Path:
    """The same with the steps joined."""
    made = once(shared_folder / "promotion-joined", lambda folder: make_repository(folder, instances=2))
    return Path(shutil.copytree(made, tmp_path / "joined_repository"))


@pytest.fixture
def server(model_repository: Path) -> Iterator[Server]:
    """A Triton on that copy."""
    with start(ServerSpec(model_repository, 0, 0, 0)) as running:
        yield running


@pytest.fixture
def spec(model_repository: Path, server: Server) -> PromotionSpec:
    """The pipeline on that Triton; its token comes from the server's state file."""
    return PromotionSpec(NAME, model_repository, (server.grpc_url,))
