"""`trireme infer` of a pipeline that writes: each prompt's answer, printed as it comes."""

import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trireme.cli.signatures import made_of, option
from trireme.errors import InputError

if TYPE_CHECKING:
    from text_runtime.tasks.text_generation import Message
    from trireme.client import Client


@dataclass(frozen=True)
class WritingOptions:
    """What the command line says of a pipeline that writes. `sampling` has vLLM's names."""

    is_chat: bool = False
    system: str = ""
    sampling: dict[str, Any] = field(default_factory=dict)
    schema: str = ""
    key: str | None = None

    def require_none(self, task_name: str) -> None:
        """Refuse what is said that only a pipeline that writes understands.

        Raises:
            InputError: something is.
        """
        if self.is_chat or self.system or self.sampling:
            raise InputError("options", f"{task_name} writes nothing", "leave those of text generation out")


_CHAT = Annotated[bool, typer.Option("--chat", help="Text generation: each text is a user's turn.")]
_SYSTEM = Annotated[str, typer.Option(help="Text generation: what the system says before; means --chat.")]
_OPTIONS = (
    option("chat", _CHAT, False),
    option("system", _SYSTEM, ""),
    option("max_tokens", Annotated[int | None, typer.Option(min=1, help="Text generation: most tokens of an answer.")]),
    option(
        "temperature",
        Annotated[
            float | None, typer.Option(min=0, max=10, help="Text generation: 0 takes the likeliest token each time.")
        ],
    ),
    option("seed", Annotated[int | None, typer.Option(min=0, help="Text generation: draws the same answer again.")]),
    option("stop", Annotated[list[str] | None, typer.Option(help="Text generation: a text that ends an answer.")]),
)


def _options(chat: bool, system: str, **sampling: Any) -> WritingOptions:
    return WritingOptions(chat, system, {name: value for name, value in sampling.items() if value is not None})


with_writing_options = made_of(_options, _OPTIONS, are_last=True)
"""Gives a command the options of pipelines that write, and hands it the `WritingOptions` that they make."""


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
