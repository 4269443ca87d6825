"""text-generation: a prompt or a conversation goes in, and text comes out as it is written.

It is the generation family's task. The others answer a row with a row; this one answers a request with a stream, so a
client has its own way to ask it.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from text_runtime.generation.tensors import (
    EXCLUDE_INPUT,
    FINISH_REASON,
    LOGPROBS,
    MESSAGES,
    NUM_INPUT_TOKENS,
    NUM_OUTPUT_TOKENS,
    RESPONSE_FORMAT,
    SAMPLING_PARAMETERS,
    STREAM,
    TEXT_INPUT,
    TEXT_OUTPUT,
)

NAME = "text-generation"
METHOD = "generate"
"""The clients' method that asks it; `stream` does so piece by piece."""

Whole = TypeVar("Whole")
Pieces = TypeVar("Pieces")

Message = Mapping[str, str]
"""One turn of a conversation: its `role` and its `content`."""


@dataclass(frozen=True)
class TokenLogprob:
    """A token of an answer, and the logarithm of its probability."""

    token: str
    logprob: float


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A part of an answer. `finish_reason` is `stop` or `length` in the last one, and empty before.

    `release` is the release that writes; None where a canary's router does not say.
    """

    text: str
    finish_reason: str
    num_input_tokens: int
    num_output_tokens: int
    release: int | None
    logprobs: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Generation(Piece):
    """A whole answer."""


@dataclass(frozen=True)
class Writing:
    """What one call asks for. `inputs` are texts and truths by the names of the pipeline's inputs."""

    inputs: dict[str, str | bool]
    key: str | None = None
    timeout_s: float | None = None


class WritingMethods(ABC, Generic[Whole, Pieces]):
    """The task as two methods of a client; what they give is an async client's to be awaited or iterated as such."""

    @abstractmethod
    def write_whole(self, asked: Writing) -> Whole:
        """Ask, and give the answer when it is whole."""

    @abstractmethod
    def write_pieces(self, asked: Writing) -> Pieces:
        """Ask, and give the answer's pieces as they come."""

    def generate(
        self,
        prompt: str | Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        key: str | None = None,
        timeout_s: float | None = None,
        **sampling: Any,
    ) -> Whole:
        """The whole answer to a prompt (text-generation): a text to continue, or the messages of a conversation.

        `schema` is a JSON schema that the answer meets. `sampling` are vLLM's names, such as `max_tokens`,
        `temperature`, `seed` and `stop`; see `SamplingParameters`.
        """
        return self.write_whole(Writing(_inputs(prompt, schema, sampling, is_streamed=False), key, timeout_s))

    def stream(
        self,
        prompt: str | Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        key: str | None = None,
        timeout_s: float | None = None,
        **sampling: Any,
    ) -> Pieces:
        """The answer to a prompt as it is written; otherwise as `generate`.

        Closing the iterator cancels it. Leave an async client's early in `contextlib.aclosing`.
        """
        return self.write_pieces(Writing(_inputs(prompt, schema, sampling, is_streamed=True), key, timeout_s))


def _inputs(
    prompt: str | Sequence[Message], schema: Mapping[str, Any] | None, sampling: Mapping[str, Any], is_streamed: bool
) -> dict[str, str | bool]:
    inputs: dict[str, str | bool] = {
        STREAM.name: is_streamed,
        EXCLUDE_INPUT.name: True,
        SAMPLING_PARAMETERS.name: json.dumps(dict(sampling), ensure_ascii=False),
    }
    if isinstance(prompt, str):
        inputs[TEXT_INPUT.name] = prompt
    elif isinstance(prompt, Mapping):
        raise ValueError("a conversation is a list of messages, and this is one message: put it into a list")
    else:
        inputs[MESSAGES.name] = json.dumps([dict(message) for message in prompt], ensure_ascii=False)
    if schema is not None:
        inputs[RESPONSE_FORMAT.name] = json.dumps({"type": "json_schema", "json_schema": {"schema": dict(schema)}})
    return inputs


def piece_of(fields: Mapping[str, Any], release: int | None) -> Piece:
    """A response's outputs, each a text or a number, as a piece."""
    told = json.loads(fields.get(LOGPROBS.name) or "[]")
    return Piece(
        text=fields[TEXT_OUTPUT.name],
        finish_reason=fields[FINISH_REASON.name],
        num_input_tokens=int(fields[NUM_INPUT_TOKENS.name]),
        num_output_tokens=int(fields[NUM_OUTPUT_TOKENS.name]),
        release=release,
        logprobs=tuple(TokenLogprob(each["token"], each["logprob"]) for each in told),
    )


def whole(pieces: Sequence[Piece]) -> Generation:
    """The answer that pieces make together.

    Raises:
        ValueError: there are none.
    """
    if not pieces:
        raise ValueError("an answer has at least one piece")
    last = pieces[-1]
    return Generation(
        text="".join(piece.text for piece in pieces),
        finish_reason=last.finish_reason,
        num_input_tokens=last.num_input_tokens,
        num_output_tokens=sum(piece.num_output_tokens for piece in pieces),
        release=last.release,
        logprobs=tuple(each for piece in pieces for each in piece.logprobs),
    )


def agreement(ours: str, theirs: str) -> float:
    """How far two greedy answers are the same, from 0 to 1: the share of words before the first that differs.

    What follows a different word is another text, and says nothing.
    """
    one, other = ours.split(), theirs.split()
    pairs = zip(one, other, strict=False)
    same = next((place for place, pair in enumerate(pairs) if pair[0] != pair[1]), min(len(one), len(other)))
    return same / max(len(one), len(other), 1) if one or other else 1.0
