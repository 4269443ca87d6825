"""The command that asks a served pipeline, whatever its task."""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trireme.cli.console import stdout
from trireme.cli.writing import WritingOptions, print_answers, with_writing_options
from trireme.errors import InputError
from trireme.text_files import read_lines

if TYPE_CHECKING:
    from text_runtime.tasks import Answer, Asked, Columns
    from trireme.client import Client
    from trireme.client.address import Address
    from trireme.client.exchange import Outputs

    Ask = Callable[[Columns], Outputs]

Pipeline = Annotated[str, typer.Argument(help="The pipeline's name.")]
Texts = Annotated[list[str] | None, typer.Argument(help="Texts, unless --input gives them.")]
Pair = Annotated[
    list[str] | None, typer.Option(help="Pair tasks: the second text; one for each text, or several for one text.")
]
SchemaText = Annotated[
    str,
    typer.Option(
        help="Information extraction: what is asked, text generation: what the answer must be; JSON or @FILE."
    ),
]
Input = Annotated[Path | None, typer.Option(help="A file with one text a line; '-' reads stdin.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object a text, in order.")]
Url = Annotated[str, typer.Option(help="HTTP address of the server.")]
Grpc = Annotated[str | None, typer.Option(help="gRPC address of the server; takes the place of --url.")]
Prompt = Annotated[str | None, typer.Option(help="Embeddings: which of the release's prompts, by its name.")]
Key = Annotated[str | None, typer.Option(help="A user's key: during a canary it always meets one release.")]
Timeout = Annotated[float, typer.Option(min=0.001, max=1_000_000, help="Seconds that a request of 64 texts may take.")]


@with_writing_options
def infer(
    writing: WritingOptions,
    pipeline: Pipeline,
    texts: Texts = None,
    pair: Pair = None,
    schema: SchemaText = "",
    input: Input = None,
    json: Json = False,
    url: Url = "127.0.0.1:8000",
    grpc: Grpc = None,
    prompt: Prompt = None,
    key: Key = None,
    timeout: Timeout = 30.0,
) -> None:
    """Ask a pipeline, and print the answer for each text. The server says what the pipeline's task is.

    Examples, one for each kind of task:

    `trireme infer sentiment "物流很快，质量也好" "用了两天就坏了"`

    `trireme infer ner --input sentences.txt --json > entities.jsonl`

    `trireme infer same-meaning "怎么退款" --pair "如何申请退款"`

    `trireme infer passages "怎么退款" --pair "七天内可退" --pair "快递三天到"`

    `trireme infer uie "小米成立于2010年" --schema '[{"公司": ["成立时间"]}]'`

    `cat texts.txt | trireme infer embedder --input - --json --grpc 127.0.0.1:8001`

    `trireme infer writer --chat "Name three rivers" --max-tokens 60`
    """
    from trireme.client import Client

    asked = _Asked(_texts(texts or [], input), pair or [], _schema(schema), prompt, key, json)
    with Client(_address(url, grpc), pipeline, timeout) as client:
        _answer(client, asked, writing)


@dataclass(frozen=True)
class _Asked:
    """What is asked of a pipeline, whatever its task, and how the answers are printed."""

    texts: Sequence[str]
    pairs: Sequence[str]
    schema: str
    prompt: str | None
    key: str | None
    is_json: bool


def _answer(client: "Client", asked: _Asked, writing: WritingOptions) -> None:
    from text_runtime.tasks.text_generation import NAME

    task_name = client.task_name()
    if task_name == NAME:
        _require_no_rows(asked)
        print_answers(client, asked.texts, replace(writing, schema=asked.schema, key=asked.key), asked.is_json)
        return
    writing.require_none(task_name)
    ask = partial(client.infer, prompt=asked.prompt, key=asked.key)
    (_print_lines if asked.is_json else _print_view)(task_name, _columns(task_name, asked), ask)


def _address(url: str, grpc: str | None) -> "Address":
    from trireme.client.address import Address

    return Address.parse(f"grpc://{grpc.removeprefix('grpc://')}" if grpc else url)


def _require_no_rows(asked: _Asked) -> None:
    """Refuse what only a task of rows understands."""
    for option, given in (("--pair", asked.pairs), ("--prompt", asked.prompt)):
        if given:
            raise InputError(option, "a pipeline that writes takes none", f"leave {option} out")


def _texts(given: Sequence[str], path: Path | None) -> Sequence[str]:
    if bool(given) == bool(path):
        raise typer.BadParameter("give texts, or --input with a file of them")
    return given if path is None else read_lines(path)


def _columns(task_name: str, asked: _Asked) -> "Columns":
    """What the task takes, no more and no less."""
    from text_runtime.tasks import task
    from text_runtime.tensors import SCHEMA, TEXT, TEXT_PAIR

    texts, pairs = asked.texts, asked.pairs
    repeated = list(texts) * len(pairs) if len(texts) == 1 and pairs else list(texts)
    given = {TEXT.name: repeated, TEXT_PAIR.name: list(pairs)}
    given[SCHEMA.name] = [asked.schema] * len(repeated) if asked.schema else []
    wanted = [tensor.name for tensor in task(task_name).inputs]
    for name, option in ((TEXT_PAIR.name, "--pair"), (SCHEMA.name, "--schema")):
        if name in wanted and len(given[name]) != len(repeated):
            raise InputError(name, f"{task_name} takes one for each text, not {len(given[name])}", f"give {option}")
        if name not in wanted and given[name]:
            raise InputError(name, f"{task_name} takes none", f"leave {option} out")
    return {name: given[name] for name in wanted}


def _schema(given: str) -> str:
    if not given.startswith("@"):
        return given
    try:
        return Path(given[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("schema", f"{given[1:]} cannot be read ({error})", "name a file of JSON") from error


def _print_lines(task_name: str, columns: "Columns", ask: "Ask") -> None:
    """Line by line as answers come, so that a long file's first answers can be used before its last are there."""
    import orjson

    from text_runtime.tensors import SCHEMA

    for asked, answer in _answers(task_name, columns, ask):
        texts = {name: text for name, text in asked.items() if name != SCHEMA.name}
        line = orjson.dumps(texts | vars(answer), option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE)
        sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()


def _print_view(task_name: str, columns: "Columns", ask: "Ask") -> None:
    from text_runtime.tasks import task
    from trireme.client.answers import answers_view

    asked, answers = zip(*_answers(task_name, columns, ask), strict=True)
    stdout.print(answers_view(task(task_name), asked, answers))


def _answers(task_name: str, columns: "Columns", ask: "Ask") -> "Iterator[tuple[Asked, Answer]]":
    """Each row and its answer, asked request by request: the time-out is a request's, however long the file."""
    from text_runtime.tasks import columns_of, rows_of, task
    from trireme.contract.pipelines import MAX_BATCH_SIZE

    chosen, rows = task(task_name), rows_of(columns)
    for start in range(0, len(rows), MAX_BATCH_SIZE):
        asked = rows[start : start + MAX_BATCH_SIZE]
        outputs = ask(columns_of(asked))
        yield from zip(asked, chosen.answers(outputs), strict=True)
