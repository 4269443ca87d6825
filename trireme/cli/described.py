"""Options and a spec file become one `ExportSpec`, and a spec becomes the command that asks for it."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from converters.schema import Document, from_document, read_document, to_document, write_document
from converters.spec import ExportSpec
from trireme.cli.release_options import OPTIONS, Checkpoint, From, SpecOption
from trireme.cli.signatures import option, own_parameters, with_parameters

UNNAMED = "NAME"
"""Stands in a printed command for the name that nobody has given yet."""
_WITH_OTHERS = ("evaluation.path", "pruning.share")
"""Without these the options beside them would say nothing."""
_NOTHING: Mapping[str, str] = {}
_FIRST = (SpecOption("checkpoint", Checkpoint, "checkpoint"),)


def described_by(
    options: Sequence[SpecOption], required: Sequence[str], usual: Mapping[str, str] = _NOTHING
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command these options and `--from`, and hand it the `ExportSpec` that they describe.

    Args:
        options: the spec's options that the command takes.
        required: places in the spec for which an option or the file must have a value.
        usual: values of the spec that stand where neither has one.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own, taken = own_parameters(command), (*_FIRST, *options)
        spec_file = option("spec_file", From)
        parameters = [*(option(each.name, each.annotation) for each in taken), spec_file, *own]

        def run(spec_file: Path | None, **values: Any) -> None:
            given = {each.place: values.pop(each.name) for each in taken}
            command(_spec(_document(spec_file, given), required, usual, spec_file), **values)

        return with_parameters(run, command, parameters)

    return decorate


def command_for(spec: ExportSpec) -> str:
    """The command that exports what a spec describes."""
    document = to_document(spec)
    words = [word for each in OPTIONS for word in _words(each, _value(document, each.place))]
    return f"trireme export {shlex.join([str(spec.checkpoint), *words])}"


def save_spec(spec: ExportSpec, path: Path) -> None:
    """Write a spec for `--from`; a name that nobody has given is left for the command line to say."""
    document = {name: value for name, value in to_document(spec).items() if (name, value) != ("name", UNNAMED)}
    write_document(document, path)


def _document(path: Path | None, given: Mapping[str, Any]) -> Document:
    """What the file says, and over it what the options say, by their places."""
    document = read_document(path) if path else {}
    for place, value in given.items():
        if value is not None:
            _put(document, place, value)
    return document


def _spec(document: Document, required: Sequence[str], usual: Mapping[str, str], path: Path | None) -> ExportSpec:
    flags = {each.place: each.flag for each in OPTIONS} | {"checkpoint": "CHECKPOINT"}
    halves = (place for place in _WITH_OTHERS if document.get(place.split(".")[0]))
    if missing := [flags[place] for place in (*required, *halves) if _value(document, place) is None]:
        raise typer.BadParameter(f"give {', '.join(missing)}, or a spec file that says it with --from")
    whole = {"name": UNNAMED, **usual, **document}
    return from_document(whole, ExportSpec, f"spec {path}" if path else "options")


def _put(document: Document, place: str, value: Any) -> None:
    """Set what stands at a place; a part of the spec that is not there yet is made."""
    part, _, name = place.rpartition(".")
    if not part:
        document[name] = value
    elif isinstance(inner := document.get(part) or {}, dict):  # else the spec is refused for what stands there
        document[part] = inner | {name: value}


def _value(document: Document, place: str) -> Any:
    part, _, name = place.rpartition(".")
    inner = document.get(part) if part else document
    return inner.get(name) if isinstance(inner, dict) else None


def _words(asked: SpecOption, value: Any) -> list[str]:
    if isinstance(value, bool):
        return [asked.flag if value else f"--no-{asked.name}"]
    return [] if value is None else [asked.flag, str(value)]
