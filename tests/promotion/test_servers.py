"""A name that stands for all replicas, as the system's own resolver answers."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.promotion.releases import NAME
from trireme.errors import ServerError
from trireme.promotion.layout import Traffic
from trireme.promotion.overview import servers_of
from trireme.promotion.servers import find_targets
from trireme.promotion.spec import PromotionSpec
from trireme.serving import ServerSpec, start

REPLICAS = ("127.0.0.1", "127.0.0.2")
_WITH_HOSTS = 'mount --bind "$0" /etc/hosts && exec "$@"'


@pytest.fixture
def in_a_world_of_replicas(tmp_path: Path) -> list[str]:
    """A command's beginning: in its mount namespace `replicas.test` has two addresses."""
    hosts = tmp_path / "hosts"
    hosts.write_text("".join(f"{address} replicas.test\n" for address in REPLICAS))
    beginning = ["unshare", "-rm", "sh", "-c", _WITH_HOSTS, str(hosts)]
    if subprocess.run([*beginning, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no mount namespace can be made here")
    return beginning


def test_a_name_with_several_addresses_moves_every_replica(
    model_repository: Path, in_a_world_of_replicas: list[str]
) -> None:
    with start(ServerSpec(model_repository, 0, 0, 0, host=REPLICAS[0])) as first:
        port = int(first.grpc_url.rpartition(":")[2])
        with start(ServerSpec(model_repository, 0, port, 0, host=REPLICAS[1])):
            arguments = ["promote", NAME, "2", "-s", f"replicas.test:{port}", "-r", str(model_repository)]
            command = [*in_a_world_of_replicas, sys.executable, "-m", "trireme", *arguments]
            ended = subprocess.run(command, capture_output=True, text=True, check=False)
            assert "on 2 server(s)" in ended.stdout, ended.stderr
            rows = servers_of(PromotionSpec(NAME, model_repository))
            assert [row.server for row in rows] == [f"{address}:{port}" for address in REPLICAS]
            assert {row.traffic for row in rows} == {Traffic(2)}


@pytest.mark.parametrize(
    ("server", "address"),
    [("127.0.0.1", "127.0.0.1:8001"), ("localhost:9", "127.0.0.1:9"), ("[::1]:9", "[::1]:9")],
    ids=["no port", "both families", "IPv6 alone"],
)
def test_a_server_is_named_once(server: str, address: str, tmp_path: Path) -> None:
    assert [target.grpc for target in find_targets([server, server], tmp_path)] == [address]


@pytest.mark.parametrize("server", ["no.such.host.invalid:8001", "localhost:http"])
def test_a_name_that_cannot_be_resolved_is_said(server: str, tmp_path: Path) -> None:
    with pytest.raises(ServerError, match="resolved"):
        find_targets([server], tmp_path)
