"""Every error that a user may see: each says what failed, on what, and what to do.

A subclass takes facts and composes its message. The command line prints the message on one line and exits with 1;
builtin exceptions are left for bugs of the caller.
"""

from collections.abc import Iterable
from pathlib import Path


class TriremeError(Exception):
    """Root of the tree: anything that Trireme refuses on purpose."""


class MissingLibraryError(TriremeError):
    """A heavy library that this command needs is not installed."""

    def __init__(self, library: str, extra: str) -> None:
        super().__init__(f"this needs {library}, which is not installed: run `pip install 'trireme[{extra}]'`")


class InterpreterError(TriremeError):
    """There is no interpreter with Hugging Face's library, or it could not be made or started."""

    def __init__(self, problem: str, remedy: str = "") -> None:
        usual = "run `trireme hf-environment` once, or name one that has torch and transformers with --python"
        super().__init__(f"{problem}; {remedy or usual}")


class SettingError(TriremeError):
    """An environment variable has a value that means nothing."""

    def __init__(self, variable: str, value: str, remedy: str) -> None:
        super().__init__(f"{variable} is '{value}': {remedy}")


class ControlTokenError(TriremeError):
    """The token that opens the control interface cannot be read or used."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"the control token {problem}: {remedy}")


class AllocatorError(TriremeError):
    """The memory allocator that was chosen is not there."""

    def __init__(self, variable: str, library: str) -> None:
        super().__init__(f"{variable}: there is no library {library}; give its whole path, or nothing for glibc's")


class CheckpointError(TriremeError):
    """A checkpoint cannot be read or is not what it claims to be."""

    def __init__(self, path: Path, problem: str, remedy: str) -> None:
        super().__init__(f"checkpoint {path}: {problem}; {remedy}")


class LabelsError(TriremeError):
    """A file of labels cannot be used for this checkpoint."""

    def __init__(self, path: Path, problem: str) -> None:
        remedy = 'give JSON such as {"labels": ["a", "b"], "thresholds": {"a": 0.4, "b": 0.6}}'
        super().__init__(f"labels {path}: {problem}; {remedy}")


class UnsupportedError(TriremeError):
    """A known thing that is not supported: an architecture, a task, an engine, a precision."""

    def __init__(self, kind: str, name: str, supported: list[str]) -> None:
        super().__init__(f"{kind} '{name}' is not supported; choose one of: {', '.join(sorted(supported))}")


class NameRefusedError(TriremeError):
    """A pipeline cannot have this name."""

    def __init__(self, name: str, problem: str) -> None:
        remedy = "choose another --name: a letter, then up to 63 letters, digits, '_' or '-'"
        super().__init__(f"pipeline name '{name}': {problem}; {remedy}")


class TextFileError(TriremeError):
    """A file of texts cannot be read."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"texts {path}: {problem}; name a UTF-8 file with one text a line")


class ContractError(TriremeError):
    """A release does not fit the inputs, outputs or batching that its pipeline already has."""

    def __init__(self, pipeline: str, difference: str) -> None:
        super().__init__(
            f"pipeline '{pipeline}': the new release does not keep its contract ({difference}); "
            "a model whose inputs or outputs differ is another pipeline: export it under another --name"
        )


class GateError(TriremeError):
    """A gate refused a candidate; nothing was published."""

    def __init__(self, gate: str, reason: str) -> None:
        super().__init__(f"gate '{gate}' refused this candidate: {reason}; nothing was published")
        self.gate = gate
        self.reason = reason


class PlanError(TriremeError):
    """A release's TensorRT plan cannot be built, or may not serve here."""

    def __init__(self, pipeline: str, release: int, problem: str, remedy: str) -> None:
        super().__init__(f"plan of pipeline '{pipeline}' release {release}: {problem}; {remedy}")


class RepositoryError(TriremeError):
    """The model repository on disk is not as it should be."""

    def __init__(self, path: Path, problem: str, remedy: str) -> None:
        super().__init__(f"{path}: {problem}; {remedy}")


class PublishError(TriremeError):
    """A release could not be written; the repository is as it was."""

    def __init__(self, path: Path, cause: OSError) -> None:
        super().__init__(
            f"{path}: could not write the release ({cause.strerror or cause}); the repository is as it was: "
            "free some space or choose another --repository, and export again"
        )


class BusyError(TriremeError):
    """Another command is at work on the same pipeline."""

    def __init__(self, pipeline: str, holder: str, remedy: str = "wait for it to end") -> None:
        super().__init__(f"pipeline '{pipeline}': another command is at work ({holder}); {remedy}")


class GatewayError(TriremeError):
    """A gateway cannot be started as it is asked to."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"gateway: {problem}; {remedy}")


class PortError(TriremeError):
    """A port that Triton should listen on is taken."""

    def __init__(self, port: int, option: str) -> None:
        super().__init__(f"port {port} is already in use: stop the other server or choose another with {option}")
        self.port = port


class ServerError(TriremeError):
    """A Triton could not be started, reached or kept alive."""

    def __init__(self, server: str, problem: str, remedy: str) -> None:
        super().__init__(f"server {server}: {problem}; {remedy}")


class AddressError(TriremeError):
    """An address names no server that can be asked."""

    def __init__(self, address: str) -> None:
        super().__init__(
            f"address '{address}': write host:port, http://host:port or grpc://host:port; TLS ends in front of Triton"
        )


class InputError(TriremeError):
    """What a pipeline should be asked cannot be sent to it."""

    def __init__(self, name: str, problem: str, remedy: str) -> None:
        super().__init__(f"input '{name}': {problem}; {remedy}")


class InferenceError(TriremeError):
    """A server failed an inference."""

    def __init__(self, pipeline: str, server: str, problem: str) -> None:
        self.problem = problem
        super().__init__(f"pipeline '{pipeline}' on {server}: {problem}")


class RefusedInputError(InferenceError):
    """A server refused what it was asked: an input is missing, malformed or too much."""


class TimedOutError(InferenceError):
    """A call's time was over before its answer came."""

    def __init__(self, pipeline: str, server: str, timeout_s: float) -> None:
        super().__init__(pipeline, server, f"no answer within {timeout_s:g} s; give more time, or fewer texts a call")


class UnknownPipelineError(InferenceError):
    """A server has no pipeline of that name."""

    def __init__(self, pipeline: str, server: str) -> None:
        super().__init__(pipeline, server, "it serves none of that name; check the name, or serve the pipeline first")


class WrongTaskError(InferenceError):
    """A method was called that is not the pipeline's task."""

    def __init__(self, pipeline: str, server: str, task: str, methods: tuple[str, str]) -> None:
        called, fitting = methods
        super().__init__(pipeline, server, f"its task is {task}: call {fitting}(), not {called}()")


class NoTaskError(InferenceError):
    """A served model is not a pipeline of any task."""

    def __init__(self, model: str, server: str, outputs: Iterable[str]) -> None:
        super().__init__(
            model, server, f"its outputs ({', '.join(outputs)}) are no task's; name a pipeline, not a step"
        )


class IntegrityError(TriremeError):
    """A release on disk is not what was published."""

    def __init__(self, pipeline: str, release: int, name: str, problem: str) -> None:
        self.name = name
        self.problem = problem
        super().__init__(
            f"pipeline '{pipeline}' release {release}: {name} {problem} since it was published; "
            "restore the release from where it was built, or export it again"
        )


class UnavailableError(ServerError):
    """A server cannot be reached, or does not serve for now: the request may be sent again."""

    def __init__(self, server: str, reason: str) -> None:
        super().__init__(
            server,
            f"does not answer ({reason.rstrip('.')})",
            "start one with `trireme serve`, or give the address of another",
        )


class SilentServerError(ServerError):
    """A server's control interface cannot be reached, or does not answer in time."""

    def __init__(self, server: str) -> None:
        super().__init__(server, "does not answer", "start it again, then repeat the command")


class ClosedControlError(ServerError):
    """A server's control interface is shut to this token."""

    def __init__(self, server: str) -> None:
        super().__init__(server, "its control interface is closed to you", "give its token in TRIREME_CONTROL_TOKEN")


class LoadError(ServerError):
    """A server refused to load a model."""

    def __init__(self, server: str, model: str, reason: str) -> None:
        super().__init__(server, f"model '{model}' does not load: {reason}", "export the release again")


class FleetError(TriremeError):
    """Some servers could not do what all should have done together."""

    def __init__(self, failures: dict[str, Exception], outcome: str = "") -> None:
        self.failures = failures
        lines = [str(error) for _, error in sorted(failures.items())]
        super().__init__("; ".join([*lines, outcome] if outcome else lines))


class GoldenError(TriremeError):
    """A loaded release does not answer its golden requests as recorded when it was exported."""

    def __init__(self, server: str, model: str, text: str, problem: str) -> None:
        super().__init__(f"server {server}: '{model}' answers the golden text {text[:40]!r} wrongly: {problem}")


class PromotionError(TriremeError):
    """A move between releases that would not be safe, or makes no sense now."""

    def __init__(self, pipeline: str, problem: str, remedy: str) -> None:
        super().__init__(f"pipeline '{pipeline}': {problem}; {remedy}")


class MemoryShortError(TriremeError):
    """A release would not fit beside those that are loaded."""

    def __init__(self, needed_bytes: int, available_bytes: int) -> None:
        super().__init__(
            f"loading this release needs about {needed_bytes >> 20} MiB, {available_bytes >> 20} MiB are free: "
            "retire a release that is no longer needed, or give the server more memory"
        )
