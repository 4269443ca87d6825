"""Conversations to prompts, by the release's chat template, in a sandbox: a template is the checkpoint's, not ours."""

import json
from datetime import datetime
from typing import Any

import jinja2
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

_MOST_MESSAGES = 10_000
_ROLES = frozenset({"system", "user", "assistant", "tool", "developer"})


class ChatTemplate:
    """A release's chat template.

    Args:
        template: Jinja, as Hugging Face writes it.
        special_tokens: `bos_token`, `eos_token` and others that the template may name.

    Raises:
        ValueError: it is no template.
    """

    def __init__(self, template: str, special_tokens: dict[str, str]) -> None:
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols], autoescape=False
        )
        environment.filters["tojson"] = _to_json
        environment.globals["raise_exception"] = _refuse
        environment.globals["strftime_now"] = lambda form: datetime.now().strftime(form)
        self._special_tokens = special_tokens
        try:
            self._template = environment.from_string(template)
        except jinja2.TemplateError as error:
            raise ValueError(f"the chat template cannot be read: {error}") from error

    def render(self, messages: list[dict[str, Any]]) -> str:
        """The prompt for an answer to a conversation.

        Raises:
            ValueError: the template refuses the conversation.
        """
        try:
            return self._template.render(messages=messages, add_generation_prompt=True, **self._special_tokens)
        except (jinja2.TemplateError, TypeError, KeyError) as error:
            raise ValueError(f"input 'messages': the model's chat template refuses them: {error}") from error


def read_messages(text: str) -> list[dict[str, Any]]:
    """Parse the input `messages`: a JSON list of objects with `role` and `content`.

    A content may also be a list of parts `{"type": "text", "text": ...}`, which are joined.

    Raises:
        ValueError: it is something else.
    """
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ValueError(f"input 'messages' is not JSON: {error}") from error
    if not isinstance(found, list) or not 0 < len(found) <= _MOST_MESSAGES:
        raise ValueError(f"input 'messages' must be a list of 1 to {_MOST_MESSAGES} messages")
    return [_message(index, message) for index, message in enumerate(found)]


def _message(index: int, message: Any) -> dict[str, Any]:
    if not isinstance(message, dict) or message.get("role") not in _ROLES:
        raise ValueError(f"input 'messages', message {index}: its role must be one of {', '.join(sorted(_ROLES))}")
    content = message.get("content")
    if isinstance(content, list) and all(isinstance(part, dict) and part.get("type") == "text" for part in content):
        content = "".join(str(part.get("text", "")) for part in content)
    if not isinstance(content, str):
        raise ValueError(f"input 'messages', message {index}: its content must be a text")
    return {**message, "content": content}


def _to_json(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _refuse(message: str) -> None:
    raise jinja2.TemplateError(message)
