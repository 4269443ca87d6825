"""`trireme infer` of a pipeline that writes: each prompt's answer, printed as it comes."""

import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from trireme.errors import InputError

if TYPE_CHECKING:
    from text_runtime.tasks.text_generation import Message
    from trireme.client import Client


@dataclass(frozen=True)
class WritingOptions:
    """What the command line says of a pipeline that writes. `sampling` has vLLM's names."""

    is_chat: bool = False
    system: str = ""
    schema: str = ""
    key: str | None = None
    sampling: dict[str, Any] = field(default_factory=dict)

    @property
    def is_given(self) -> bool:
        """Whether anything is said that only such a pipeline understands."""
        return self.is_chat or bool(self.system or self.sampling)


def print_answers(client: "Client", prompts: Sequence[str], options: WritingOptions, is_json: bool) -> None:
    """Ask each prompt and print its answer: as it comes, or as an object a line when it is whole."""
    import orjson

    for prompt in prompts:
        asked = dict(schema=_schema(options.schema), key=options.key, **options.sampling)
        if is_json:
            answer = client.generate(_prompt(prompt, options), **asked)
            line = {"prompt": prompt} | vars(answer)
            sys.stdout.buffer.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
            continue
        with closing(client.stream(_prompt(prompt, options), **asked)) as pieces:
            for piece in pieces:
                sys.stdout.write(piece.text)
                sys.stdout.flush()
        sys.stdout.write("\n")
    sys.stdout.flush()


def _prompt(text: str, options: WritingOptions) -> "str | Sequence[Message]":
    if not (options.is_chat or options.system):
        return text
    system = [{"role": "system", "content": options.system}] if options.system else []
    return [*system, {"role": "user", "content": text}]


def _schema(text: str) -> dict[str, Any] | None:
    import orjson

    if not text:
        return None
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise InputError("schema", f"is not JSON ({error})", "give a JSON schema") from error
    if not isinstance(found, dict):
        raise InputError("schema", "is no JSON object", "give a JSON schema")
    return found
