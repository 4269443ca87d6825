"""How an answer is to be chosen: the caller's `sampling_parameters`, spelt as vLLM spells them."""

from collections.abc import Mapping
from typing import Any

import msgspec

_MOST_STOPS = 16


class SamplingParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What decides which tokens an answer has, and where it ends.

    A `temperature` of 0 takes the likeliest token each time. Without a `seed` each answer is drawn anew; with one it is
    to be the same again. `top_k` below 1 means all tokens. `stop` are texts that end an answer and are not part of
    it. With `logprobs` above 0 each message tells the log-probability of its tokens. Special tokens in a prompt, such
    as `<|im_end|>`, are plain text unless `parse_special_tokens` says otherwise.
    """

    max_tokens: int = 256
    min_tokens: int = 0
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = -1
    min_p: float = 0.0
    seed: int | None = None
    stop: list[str] = []
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    repetition_penalty: float = 1.0
    ignore_eos: bool = False
    logprobs: int = 0
    parse_special_tokens: bool = False

    def __post_init__(self) -> None:
        for name, is_right, wanted in (
            ("max_tokens", self.max_tokens >= 1, "1 or more"),
            ("min_tokens", 0 <= self.min_tokens <= self.max_tokens, "from 0 to max_tokens"),
            ("temperature", 0 <= self.temperature <= 10, "from 0 to 10"),
            ("top_p", 0 < self.top_p <= 1, "above 0, and 1 at most"),
            ("min_p", 0 <= self.min_p <= 1, "from 0 to 1"),
            ("seed", self.seed is None or 0 <= self.seed < 1 << 64, "a whole number from 0 on"),
            ("presence_penalty", -2 <= self.presence_penalty <= 2, "from -2 to 2"),
            ("frequency_penalty", -2 <= self.frequency_penalty <= 2, "from -2 to 2"),
            ("repetition_penalty", 0 < self.repetition_penalty <= 10, "above 0, and 10 at most"),
            ("logprobs", 0 <= self.logprobs <= 1, "0 or 1"),
            ("stop", len(self.stop) <= _MOST_STOPS and all(self.stop), f"up to {_MOST_STOPS} texts, none empty"),
        ):
            if not is_right:
                raise ValueError(f"{name} must be {wanted}")


SAMPLING_NAMES = frozenset(SamplingParameters.__struct_fields__)


def read_sampling(text: str, others: Mapping[str, Any]) -> SamplingParameters:
    """Parse the input `sampling_parameters`, a JSON object, or nothing.

    Args:
        text: the JSON. Numbers may be written as texts, as clients of vLLM's backend do.
        others: the request's own parameters; those that are named as sampling parameters count where the JSON does not
            say otherwise, since some clients send them so.

    Raises:
        ValueError: it is no such object, or a value cannot be.
    """
    try:
        given = msgspec.json.decode(text, type=dict[str, Any]) if text.strip() else {}
        known = {name: value for name, value in others.items() if name in SAMPLING_NAMES}
        return msgspec.convert(_with_list(known | given), SamplingParameters, strict=False)
    except msgspec.MsgspecError as error:
        raise ValueError(f"input 'sampling_parameters': {_reason(error)}") from error


def _with_list(given: dict[str, Any]) -> dict[str, Any]:
    """`stop` may be one text."""
    stop = given.get("stop")
    if stop is None:
        given.pop("stop", None)
    return given | {"stop": [stop]} if isinstance(stop, str) else given


def _reason(error: Exception) -> str:
    message = str(error)
    if "unknown field" in message:
        return f"{message}; known are {', '.join(sorted(SAMPLING_NAMES))}"
    return message
