"""Reads the parameters of a model and of a request as Triton hands them to a Python backend."""

from typing import Any

import orjson

_PROMPT_NAME = "prompt_name"


def integers(model_config: str, names: tuple[str, ...]) -> dict[str, int]:
    """Those of `names` that the config sets, as integers.

    Args:
        model_config: the config as JSON, as in `args["model_config"]`.
        names: parameters that may be set.

    Raises:
        ValueError: one of them is not an integer.
    """
    block: dict[str, Any] = orjson.loads(model_config).get("parameters", {})
    return {name: _integer(name, block[name]["string_value"]) for name in names if name in block}


def prompt_name(parameters: str) -> str | None:
    """The prompt that a request names in its own parameters; None where it names none.

    Args:
        parameters: JSON, as `InferenceRequest.parameters()` gives it.
    """
    if _PROMPT_NAME not in parameters:
        return None
    found = orjson.loads(parameters).get(_PROMPT_NAME)
    return None if found is None else str(found)


def _integer(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise ValueError(f"parameter '{name}' must be an integer, not '{text}'") from error
