"""The smallest real row of every input: what readiness, promotion and the container's health check send.

It needs the standard library only: a health check runs every few seconds and must not load numpy for it.
"""

from collections.abc import Iterable

TEXTS = {"text": "你好", "text_pair": "您好", "schema": '["时间"]'}
"""A text by input name."""

GENERATION_PROBE: dict[str, str | bool] = {
    "text_input": "Hello",
    "stream": True,
    "sampling_parameters": '{"max_tokens": 1, "temperature": 0}',
}
"""The same for a pipeline that writes: one token."""


def probe_of(inputs: Iterable[str]) -> dict[str, str]:
    """A row of a pipeline that takes these inputs; one that is not ours may have others."""
    return {name: TEXTS.get(name, TEXTS["text"]) for name in inputs}
