"""How a Python backend answers a request that it refuses, or that failed."""

from typing import Any

INVALID, UNAVAILABLE = "invalid request: ", "unavailable: "
"""How the message of a stream's failure begins, since no code comes with it: the caller's fault, or for now."""


def refusal(backend: Any, message: str, code: int) -> Any:
    """An error as a response.

    Args:
        backend: the module `triton_python_backend_utils`.
        message: what the caller is told.
        code: one of `TritonError`'s codes.
    """
    return backend.InferenceResponse(error=backend.TritonError(message, code))


def refusal_of(backend: Any, error: Exception) -> Any:
    """What an exception says, as a response: a ValueError tells of the request, anything else is the engine's."""
    is_callers = isinstance(error, ValueError)
    code = backend.TritonError.INVALID_ARG if is_callers else backend.TritonError.INTERNAL
    return refusal(backend, str(error), code)
