"""One server as promotion meets it: administered over gRPC, and asked as its clients ask it."""

from trireme.admin import Administrator, Endpoint
from trireme.client.exchange import Call, Columns, Reply, Request
from trireme.client.sync_transports import GrpcTransport

_INFER_S = 10.0


class Replica(Administrator):
    """Looks into one Triton, loads and unloads its models, and asks them. Close it after use."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self._data = GrpcTransport(endpoint.grpc)

    def close(self) -> None:
        """Close the connections."""
        self._data.close()
        super().close()

    def infer(self, model: str, columns: Columns, key: str | None = None) -> Reply:
        """Ask a pipeline, as its clients do and without trying again: one text a row in every input.

        Raises:
            TriremeError: the server does not answer, or the pipeline fails the request.
        """
        return self._data.infer(Request(Call(model, _INFER_S, key), columns))
