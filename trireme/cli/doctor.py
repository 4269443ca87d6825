"""The command that looks at the machine."""

import typer
from rich.table import Table

from trireme.cli.console import stdout


def doctor() -> None:
    """Check what this machine has for converting and serving.

    What is missing is told with what to do about it.
    """
    from trireme.serving.doctor import diagnose

    rows = diagnose()
    table = Table("check", "status", "found", "what to do")
    for row in rows:
        table.add_row(row.name, row.status, row.found, row.remedy)
    stdout.print(table)
    raise typer.Exit(any(row.status == "fail" for row in rows))
