"""The command that looks through a model repository."""

from pathlib import Path
from typing import Annotated, Any

import typer

from trireme.cli.console import REPOSITORY, stderr, stdout

_ASSUMED = {
    True: "assumed: Triton completes configs, its default; --no-auto-complete judges for one that does not",
    False: "assumed: Triton is started with --disable-auto-complete-config; --auto-complete judges for one without",
}
_WORDS = {"fail": "error", "warn": "warning"}


def check(
    repository: Annotated[
        Path, typer.Argument(help="Any Triton model repository.", envvar="TRIREME_REPOSITORY")
    ] = REPOSITORY,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list of the findings.")] = False,
    auto_complete: Annotated[
        bool | None,
        typer.Option(
            help="Whether Triton will complete configs from the models. By default it will, as Triton does, unless "
            "the repository holds a pipeline of Trireme's: those servers are told not to.",
        ),
    ] = None,
) -> None:
    """Look through a Triton model repository for faults.

    Whoever wrote it, they are found before Triton meets it. Prints one line for each finding: how bad, where, what, and
    how to mend it. Nothing is changed. Exit code 1 where anything is an error: the model would not load, or answer
    wrongly.
    """
    from trireme.serving.check import check_repository, is_completed_by_its_server

    is_completed = is_completed_by_its_server(repository) if auto_complete is None else auto_complete
    findings = check_repository(repository, is_completed)
    if as_json:
        stdout.print_json(data=[_as_json(finding) for finding in findings])
    else:
        lines = [_line(**_as_json(finding)) for finding in findings] or ["no findings"]
        stdout.print("\n".join(lines), markup=False, highlight=False, soft_wrap=True)
    stderr.print(_ASSUMED[is_completed], highlight=False, soft_wrap=True)
    raise typer.Exit(any(finding.status == "fail" for finding in findings))


def _as_json(finding: Any) -> dict[str, str]:
    """A `trireme.serving.finding.Finding` as others read it."""
    return {
        "severity": _WORDS[finding.status],
        "where": finding.name,
        "found": finding.found,
        "fix": finding.remedy,
        "check": finding.check,
    }


def _line(severity: str, where: str, found: str, fix: str, check: str) -> str:
    return f"{severity}: {where}: {found}; fix: {fix} [{check}]"
