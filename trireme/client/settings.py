"""What a sync and an async client know alike: whom they ask, for how long, how often, and which method fits."""

from dataclasses import dataclass

from text_runtime.tasks import method_name
from trireme.client.address import Address
from trireme.client.exchange import Call, Signature
from trireme.client.retries import Retries
from trireme.errors import NoTaskError, WrongTaskError


@dataclass(frozen=True)
class ClientSettings:
    """A client's settings."""

    address: Address
    pipeline: str
    timeout_s: float
    retries: Retries

    @classmethod
    def of(cls, address: Address | str, pipeline: str, timeout_s: float, retries: Retries | None) -> "ClientSettings":
        """Settings as a user gives them."""
        read = address if isinstance(address, Address) else Address.parse(address)
        return cls(read, pipeline, timeout_s, retries or Retries())

    def call(self, key: str | None = None, timeout_s: float | None = None, prompt: str | None = None) -> Call:
        """The terms of a call that begins now."""
        return Call(self.pipeline, self.timeout_s if timeout_s is None else timeout_s, key, prompt)

    def task_of(self, signature: Signature) -> str:
        """The pipeline's task.

        Raises:
            NoTaskError: the model is no pipeline.
        """
        if signature.task_name is None:
            raise NoTaskError(self.pipeline, self.address.location, signature.outputs)
        return signature.task_name

    def require_task(self, signature: Signature, wanted: str) -> None:
        """Refuse a method whose task is not the pipeline's.

        Raises:
            WrongTaskError: another method fits.
            NoTaskError: the model is no pipeline.
        """
        task_name = self.task_of(signature)
        if task_name != wanted:
            methods = method_name(wanted), method_name(task_name)
            raise WrongTaskError(self.pipeline, self.address.location, task_name, methods)
