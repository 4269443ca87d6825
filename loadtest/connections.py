"""Connections to one server for each protocol, cooperative under gevent."""

from functools import cache

import grpc.experimental.gevent as grpc_gevent

from trireme.client.address import Address
from trireme.client.sync_transports import Transport, sync_transport

PROTOCOLS = ("http", "grpc")


def connect(protocol: str, location: str) -> Transport:
    """A fresh connection to `host:port`.

    Raises:
        AddressError: that is no host and port.
    """
    return sync_transport(address_of(protocol, location))


def address_of(protocol: str, location: str) -> Address:
    """`host:port` as an address; connections to it will wait through gevent.

    Raises:
        AddressError: that is no host and port.
    """
    if protocol == "grpc":
        _make_grpc_cooperative()
    return Address.parse(f"{protocol}://{location.removeprefix(f'{protocol}://')}")


@cache
def _make_grpc_cooperative() -> None:
    """Let gRPC's C core wait through gevent; without it the first call blocks every user. Once a process."""
    grpc_gevent.init_gevent()
