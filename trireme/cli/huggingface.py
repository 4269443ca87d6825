"""The command that makes the environment in which Hugging Face folders are loaded."""

from pathlib import Path
from typing import Annotated

import typer

from trireme.cli.console import progress_on_stderr, stdout


def hf_environment(
    folder: Annotated[
        Path | None,
        typer.Option(
            help="Where it goes; by default `trireme/huggingface` among your user's data.",
            envvar="TRIREME_HF_ENVIRONMENT",
        ),
    ] = None,
    torch_index: Annotated[
        str | None,
        typer.Option(
            help="A package index with CPU builds of torch, a tenth of the usual download: "
            "`https://download.pytorch.org/whl/cpu`. By default pip's own index."
        ),
    ] = None,
) -> None:
    """Make an environment with torch and transformers, once.

    It has sentence-transformers too, all in pinned versions. `trireme export` loads Hugging Face folders in it, so that
    their own library exports and judges them. It needs some minutes, and 1 GB with a CPU build of torch. Your own
    environment does as well: `trireme export --python PATH`.
    """
    from converters.huggingface.environment import environment_folder, make_environment

    with progress_on_stderr("installing") as progress:
        python = make_environment(folder or environment_folder(), torch_index, progress)
    stdout.print(str(python), soft_wrap=True, highlight=False)
