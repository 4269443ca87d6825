"""How answers look in OpenAI's two routes of completions: whole as choices, and in streams as choices of chunks."""

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from text_runtime.tasks.text_generation import Generation, Piece, TokenLogprob


@dataclass
class CompletionForm:
    """The form of `/v1/completions`. `echoed` are the prompts that stand before the answers; empty for none."""

    model: str
    answers_a_prompt: int
    echoed: Sequence[str] = ()
    created: int = field(default_factory=lambda: int(time.time()))
    id: str = field(init=False)
    prefix = "cmpl"
    kind = "text_completion"
    chunk_kind = kind

    def __post_init__(self) -> None:
        self.id = f"{self.prefix}-{uuid.uuid4().hex[:24]}"

    def whole(self, index: int, answer: Generation) -> dict[str, Any]:
        """A whole answer as a choice."""
        return _choice(index, answer.finish_reason, _flat(answer.logprobs), text=self._echo(index) + answer.text)

    def begin(self, index: int) -> list[dict[str, Any]]:
        """What a stream tells of an answer before its first piece."""
        echo = self._echo(index)
        return [_choice(index, None, None, text=echo)] if echo else []

    def piece(self, index: int, piece: Piece) -> dict[str, Any]:
        """A piece as a choice of a chunk."""
        return _choice(index, piece.finish_reason or None, _flat(piece.logprobs), text=piece.text)

    def content(self, choices: list[dict[str, Any]], is_chunk: bool, **more: Any) -> dict[str, Any]:
        """The object around choices."""
        kind = self.chunk_kind if is_chunk else self.kind
        head = {"id": self.id, "object": kind, "created": self.created, "model": self.model}
        return {**head, "choices": choices, **more}

    def usage(self, prompted: Sequence[Piece], completion_tokens: int) -> dict[str, int]:
        """Tokens of all prompts, each counted once, and of all answers; each of `prompted` knows its prompt's."""
        prompt = sum(piece.num_input_tokens for piece in prompted[:: self.answers_a_prompt])
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt + completion_tokens,
        }

    def _echo(self, index: int) -> str:
        return self.echoed[index // self.answers_a_prompt] if self.echoed else ""


class ChatForm(CompletionForm):
    """The form of `/v1/chat/completions`."""

    prefix = "chatcmpl"
    kind = "chat.completion"
    chunk_kind = "chat.completion.chunk"

    def whole(self, index: int, answer: Generation) -> dict[str, Any]:
        """See the base class."""
        message = {"role": "assistant", "content": answer.text, "refusal": None}
        return _choice(index, answer.finish_reason, _nested(answer.logprobs), message=message)

    def begin(self, index: int) -> list[dict[str, Any]]:
        """See the base class."""
        return [_choice(index, None, None, delta={"role": "assistant", "content": ""})]

    def piece(self, index: int, piece: Piece) -> dict[str, Any]:
        """See the base class."""
        delta = {"content": piece.text}
        return _choice(index, piece.finish_reason or None, _nested(piece.logprobs), delta=delta)


def _choice(index: int, finish_reason: str | None, logprobs: Any, **content: Any) -> dict[str, Any]:
    return {"index": index, **content, "logprobs": logprobs, "finish_reason": finish_reason}


def _flat(logprobs: Sequence[TokenLogprob]) -> dict[str, Any] | None:
    """Log-probabilities as completions tell them."""
    if not logprobs:
        return None
    tokens = [each.token for each in logprobs]
    places = [sum(map(len, tokens[:index])) for index in range(len(tokens))]
    values = [each.logprob for each in logprobs]
    tops = [{each.token: each.logprob} for each in logprobs]
    return {"tokens": tokens, "token_logprobs": values, "top_logprobs": tops, "text_offset": places}


def _nested(logprobs: Sequence[TokenLogprob]) -> dict[str, Any] | None:
    """Log-probabilities as chats tell them."""
    return {"content": [_told(each) for each in logprobs]} if logprobs else None


def _told(each: TokenLogprob) -> dict[str, Any]:
    return {
        "token": each.token,
        "logprob": each.logprob,
        "bytes": list(each.token.encode()),
        "top_logprobs": [],
    }
