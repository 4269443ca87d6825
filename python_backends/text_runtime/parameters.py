"""Reads a model's `parameters` block as Triton hands it to a Python backend."""

from typing import Any

import orjson


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


def _integer(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise ValueError(f"parameter '{name}' must be an integer, not '{text}'") from error
