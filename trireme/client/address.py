"""Where a Triton answers, and by which protocol."""

import re
from dataclasses import dataclass

from trireme.errors import AddressError

_HOST_AND_PORT = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^/:\s]+):(\d{1,5})", re.ASCII)
_LAST_PORT = 65535
_SCHEMES = {"http": False, "grpc": True}


@dataclass(frozen=True)
class Address:
    """`location` is host and port, `127.0.0.1:8000`."""

    location: str
    is_grpc: bool = False

    def __post_init__(self) -> None:
        found = _HOST_AND_PORT.fullmatch(self.location)
        if not found or not 1 <= int(found[2]) <= _LAST_PORT:
            raise AddressError(self.location)

    @classmethod
    def parse(cls, url: str) -> "Address":
        """Read `http://host:port`, `grpc://host:port`, or `host:port`, which is HTTP.

        Raises:
            AddressError: another scheme, or no host and port.
        """
        scheme, separator, location = url.rpartition("://")
        if separator and scheme not in _SCHEMES:
            raise AddressError(url)
        return cls(location.rstrip("/"), _SCHEMES.get(scheme, False))
