"""Whether the servers of this machine let their clients send data through system shared memory."""

from collections.abc import Iterator

import tritonclient.grpc as triton_grpc
from tritonclient.utils import InferenceServerException

from trireme.machine.channels import OWN_CHANNEL
from trireme.machine.local_servers import local_servers
from trireme.serving.finding import OK, WARN, Finding

_NAME = "shared memory for data"
_SHUT = "restricted"
_ASK_TIMEOUT_S = 5.0


def data_regions() -> Iterator[Finding]:
    """One finding for each local server, asked without its token, as its clients are."""
    servers = local_servers()
    if not servers:
        yield Finding(_NAME, OK, "no server runs here; shut unless it is started with --shared-memory")
    for server in servers:
        yield _finding(server.grpc)


def _finding(grpc_url: str) -> Finding:
    try:
        with triton_grpc.InferenceServerClient(grpc_url, channel_args=OWN_CHANNEL) as client:
            client.get_system_shared_memory_status(client_timeout=_ASK_TIMEOUT_S)
    except InferenceServerException as error:
        if _SHUT in str(error.message()):
            return Finding(_NAME, OK, f"shut on {grpc_url}; `trireme serve --shared-memory` opens it")
        return Finding(_NAME, WARN, f"{grpc_url} does not answer", "look at it with `trireme status`")
    remedy = "let only clients that trust each other reach it, or serve without --shared-memory"
    return Finding(_NAME, WARN, f"open on {grpc_url}", remedy)
