"""One server as promotion meets it: administered over gRPC, and asked as its clients ask it."""

from text_runtime.probe import GENERATION_PROBE
from text_runtime.tasks.text_generation import Generation, piece_of, whole
from trireme.admin import Administrator, Endpoint
from trireme.client.exchange import Call, Columns, Reply, Request
from trireme.client.sync_streams import GrpcStreams
from trireme.client.sync_transports import GrpcTransport
from trireme.client.wires import release_of
from trireme.machine.grpc_streams import Inputs
from trireme.promotion.disk import PipelineDisk

_INFER_S = 10.0
_WRITE_S = 60.0


class Replica(Administrator):
    """Looks into one Triton, loads and unloads its models, and asks them. Close it after use."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self._data = GrpcTransport(endpoint.grpc)
        self._streams = GrpcStreams(endpoint.grpc)

    def close(self) -> None:
        """Close the connections."""
        self._data.close()
        self._streams.close()
        super().close()

    def answering_release(self, disk: PipelineDisk) -> int | None:
        """The release that answers the pipeline's probe; None where a canary's router does not say.

        Raises:
            TriremeError: the server does not answer, or the pipeline fails the request.
        """
        if not disk.is_streamed:
            return self.infer(disk.pipeline, disk.probe()).release
        return self.write(disk.pipeline, GENERATION_PROBE).release

    def write(self, model: str, inputs: Inputs) -> Generation:
        """Ask a pipeline that writes, without trying again; gives its whole answer.

        Raises:
            TriremeError: the server does not answer, or the pipeline fails the request.
        """
        responses = self._streams.stream(Call(model, _WRITE_S), inputs)
        return whole([piece_of(fields, release_of(fields["model_version"])) for fields in responses])

    def infer(self, model: str, columns: Columns, key: str | None = None) -> Reply:
        """Ask a pipeline, as its clients do and without trying again: one text a row in every input.

        Raises:
            TriremeError: the server does not answer, or the pipeline fails the request.
        """
        return self._data.infer(Request(Call(model, _INFER_S, key), columns))
