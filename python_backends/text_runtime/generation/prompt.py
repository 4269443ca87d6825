"""Prompts to token ids: a text as it is, or a conversation through the chat template.

Words that are special tokens, such as `<|im_end|>`, are control only where the template wrote them, or where the caller
asks for it. In what a user wrote they are plain text, or a text could end the user's turn and speak as the system.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from text_runtime.facts import GeneratorFacts
from text_runtime.generation.chat import ChatTemplate, read_messages
from text_runtime.generation.files import SPECIAL_TOKENS_NAME, TEMPLATE_NAME, TOKENIZER_NAME
from text_runtime.generation.sampling import SamplingParameters

_MARKS = range(0xE000, 0xF900)
"""A private area of Unicode: two of its characters stand around a user's special tokens while the template renders, and
always such as the conversation does not have itself."""


@dataclass(frozen=True)
class Prompt:
    """A prompt as the model reads it, and as it was written."""

    ids: list[int]
    text: str


class PromptReader:
    """Reads requests of one release.

    Args:
        folder: the release's folder of the generator.
        facts: what the manifest tells of the generator.

    Raises:
        ValueError: the tokenizer or the chat template cannot be read.
    """

    def __init__(self, folder: Path, facts: GeneratorFacts) -> None:
        self.tokenizer = Tokenizer.from_file(str(folder / TOKENIZER_NAME))
        self._plain = Tokenizer.from_file(str(folder / TOKENIZER_NAME))
        self._plain.encode_special_tokens = True
        self._facts = facts
        words = [token.content for token in self.tokenizer.get_added_tokens_decoder().values() if token.special]
        self._special = re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True)))) if words else None
        template = (folder / TEMPLATE_NAME).read_text(encoding="utf-8")
        named: dict[str, str] = json.loads((folder / SPECIAL_TOKENS_NAME).read_text(encoding="utf-8"))
        self._template = ChatTemplate(template, named) if template else None

    def read_text(self, text: str, sampling: SamplingParameters) -> Prompt:
        """A text to be continued.

        Raises:
            ValueError: it is empty, or too long.
        """
        return self._checked(Prompt(self.encode(text, sampling.parse_special_tokens), text), sampling)

    def encode(self, text: str, parse_special_tokens: bool) -> list[int]:
        """The token ids that a text to be continued has, however many; none where it has nothing to read."""
        ids = self._ids(text) if parse_special_tokens else self._plain_ids(text)
        begin = self._facts.begin_id
        return ids if begin is None or not ids else [begin, *ids]

    def read_chat(self, messages: str, sampling: SamplingParameters) -> Prompt:
        """A conversation, as JSON, to be answered.

        Raises:
            ValueError: it is none, the release has no chat template or its template refuses it, or it is too long.
        """
        if self._template is None:
            raise ValueError("input 'messages': this model has no chat template; send 'text_input' instead")
        conversation = read_messages(messages)
        special = self._special
        if special is None or sampling.parse_special_tokens or not any(map(special.search, _contents(conversation))):
            text = self._template.render(conversation)
            return self._checked(Prompt(self._ids(text), text), sampling)
        begin, end = _free_marks(conversation)
        marked = [
            {**message, "content": special.sub(lambda found: f"{begin}{found[0]}{end}", message["content"])}
            for message in conversation
        ]
        rendered = self._template.render(marked)
        ids = self._marked_ids(rendered, begin, end)
        return self._checked(Prompt(ids, rendered.replace(begin, "").replace(end, "")), sampling)

    def render(self, messages: Sequence[Mapping[str, str]]) -> str:
        """The prompt that the release's chat template makes of a conversation.

        Raises:
            ValueError: it has none, or its template refuses the conversation.
        """
        if self._template is None:
            raise ValueError("this model has no chat template")
        return self._template.render([dict(message) for message in messages])

    def texts_of(self, ids: Sequence[int]) -> list[str]:
        """Each token as a text of its own."""
        return [self.tokenizer.decode([token], skip_special_tokens=False) for token in ids]

    def _checked(self, prompt: Prompt, sampling: SamplingParameters) -> Prompt:
        """The prompt, where the model can take it and answer."""
        tokens, room = len(prompt.ids), self._facts.context_length
        if not tokens:
            raise ValueError("input 'text_input' is empty: there is nothing to continue")
        if tokens + sampling.min_tokens >= room:
            raise ValueError(f"the prompt has {tokens} tokens; the model takes {room}, prompt and answer together")
        wrong = next((token for token in prompt.ids if not 0 <= token < self._facts.token_rows), None)
        if wrong is not None:
            raise ValueError(f"the prompt has a token {wrong}, and the model no row for it")
        return prompt

    def most_tokens(self, prompt: Prompt, sampling: SamplingParameters) -> int:
        """How many tokens an answer may have: what the caller asks for, as far as the context has room."""
        return min(sampling.max_tokens, self._facts.context_length - len(prompt.ids))

    def _ids(self, text: str) -> list[int]:
        return list(self.tokenizer.encode(text, add_special_tokens=False).ids)

    def _plain_ids(self, text: str) -> list[int]:
        return list(self._plain.encode(text, add_special_tokens=False).ids)

    def _marked_ids(self, rendered: str, begin: str, end: str) -> list[int]:
        """What stands between marks as plain text, and all else with its special tokens."""
        ids: list[int] = []
        for index, part in enumerate(re.split(f"[{begin}{end}]", rendered)):
            ids += (self._plain_ids if index % 2 else self._ids)(part)
        return ids


def _contents(conversation: list[dict[str, Any]]) -> list[str]:
    return [message["content"] for message in conversation]


def _free_marks(conversation: list[dict[str, Any]]) -> tuple[str, str]:
    """Two characters that no message has."""
    taken = set("".join(_contents(conversation)))
    free = (mark for code in _MARKS if (mark := chr(code)) not in taken)
    return next(free), next(free)
