"""The command that turns a checkpoint into a release."""

from typing import TYPE_CHECKING

from trireme.cli.console import progress_on_stderr, say_release, stdout
from trireme.cli.described import command_for, described_by, save_spec
from trireme.cli.release_options import OPTIONS, WaitS, WriteSpec

if TYPE_CHECKING:
    from converters.spec import ExportSpec


@described_by(OPTIONS, required=("checkpoint", "task", "name"))
def export(spec: "ExportSpec", write_spec: WriteSpec = None, wait: WaitS = 0.0) -> None:
    """Export a checkpoint as the next release of a pipeline.

    The release is converted, compared with the source model on generated strings and your texts, and published only
    if every gate passes. The first release of a pipeline is pinned; later ones wait to be promoted.

    Example: `trireme export examples/sentiment/checkpoint --task text-classification --name sentiment`
    """
    from converters.export import export as run
    from trireme.contract.naming import require_free_name
    from trireme.contract.repository import Repository

    Repository(spec.repository).require_writable()
    require_free_name(spec.repository, spec.name)
    if write_spec:
        save_spec(spec, write_spec)
        stdout.print(command_for(spec), soft_wrap=True, highlight=False)
        return
    with progress_on_stderr("exporting") as progress:
        say_release(run(spec, progress, wait))
