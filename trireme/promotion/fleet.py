"""All servers of a pipeline, asked and moved at the same time."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import TypeVar

from trireme.admin import Endpoint
from trireme.errors import FleetError, TriremeError
from trireme.promotion.replica import Replica

Result = TypeVar("Result")


class Fleet:
    """Servers that share one model repository. Use it as a context manager."""

    def __init__(self, targets: Sequence[Endpoint]) -> None:
        self.targets = tuple(targets)
        self.lost: dict[str, Exception] = {}
        self._replicas = [Replica(target) for target in targets]
        self._pool = ThreadPoolExecutor(max(1, len(targets)))

    def __enter__(self) -> "Fleet":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(wait=kind is None, cancel_futures=True)
        for replica in self._replicas:
            replica.close()

    @property
    def addresses(self) -> list[str]:
        """Where the servers are controlled."""
        return [target.grpc for target in self.targets]

    def each(self, action: Callable[[Replica], Result]) -> list[Result]:
        """Do something on all servers at once, and wait for every one of them.

        Raises:
            FleetError: some server failed; the others have done it.
        """
        results, failures = self._run(self._replicas, action)
        if failures:
            raise FleetError(failures)
        return results

    def each_living(self, action: Callable[[Replica], Result]) -> list[Result]:
        """The same, but a server that fails is put into `lost`, passed over from then on, and holds up no other."""
        living = [replica for replica in self._replicas if replica.endpoint.grpc not in self.lost]
        results, failures = self._run(living, action)
        self.lost |= failures
        return results

    def _run(
        self, replicas: Sequence[Replica], action: Callable[[Replica], Result]
    ) -> tuple[list[Result], dict[str, Exception]]:
        futures = {replica.endpoint.grpc: self._pool.submit(action, replica) for replica in replicas}
        results: list[Result] = []
        failures: dict[str, Exception] = {}
        for address, future in futures.items():
            try:
                results.append(future.result())
            except TriremeError as error:
                failures[address] = error
        return results, failures
