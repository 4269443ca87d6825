"""Whether the servers of this machine let their clients send data through system shared memory."""

from collections.abc import Iterator

from trireme.admin import Administrator, Deadlines, Endpoint
from trireme.errors import ClosedControlError, ServerError
from trireme.machine.local_servers import local_servers
from trireme.serving.finding import OK, WARN, Finding

_NAME = "shared memory for data"
_DEADLINES = Deadlines(ask_s=5.0)


def data_regions() -> Iterator[Finding]:
    """One finding for each local server, asked without its token, as its clients are."""
    servers = local_servers()
    if not servers:
        yield Finding(_NAME, OK, "no server runs here; shut unless it is started with --shared-memory")
    for server in servers:
        yield _finding(server.grpc)


def _finding(grpc_url: str) -> Finding:
    try:
        with Administrator(Endpoint(grpc_url), _DEADLINES) as stranger:
            stranger.shared_memory_regions()
    except ClosedControlError:
        return Finding(_NAME, OK, f"shut on {grpc_url}; `trireme serve --shared-memory` opens it")
    except ServerError:
        return Finding(_NAME, WARN, f"{grpc_url} does not answer", "look at it with `trireme status`")
    remedy = "let only clients that trust each other reach it, or serve without --shared-memory"
    return Finding(_NAME, WARN, f"open on {grpc_url}", remedy)
