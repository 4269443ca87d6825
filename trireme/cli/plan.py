"""The command that builds a TensorRT plan."""

from pathlib import Path
from typing import Annotated

import typer

from trireme.cli.console import MAX_RELEASE, REPOSITORY, RepositoryOption, progress_on_stderr, stdout


def build_plan(
    name: Annotated[str, typer.Argument(help="The pipeline's name.")],
    release: Annotated[int, typer.Argument(help="The release's number.", min=1, max=MAX_RELEASE)],
    repository: RepositoryOption = REPOSITORY,
    corpus: Annotated[Path | None, typer.Option(help="Your own texts, one a line, to judge the plan on.")] = None,
    timings: Annotated[
        Path,
        typer.Option(
            help="TensorRT's timing cache; kept, so that the next build is shorter.", envvar="TRIREME_TIMINGS"
        ),
    ] = Path("build/tensorrt-timings"),
    workspace_gib: Annotated[
        float, typer.Option(help="GPU memory that TensorRT may try kernels in.", min=0.1, max=1024)
    ] = 4.0,
    wait: Annotated[
        float, typer.Option(help="Seconds to wait for another command that builds the pipeline.", min=0, max=1_000_000)
    ] = 0.0,
) -> None:
    """Build the TensorRT plan of a release of target gpu.

    Build it on the machine that will serve it: a plan fits one kind of card, driver and TensorRT.
    The plan is compared with ONNX Runtime for every length bucket, from one row to a full batch, and put beside the
    release's graph only if it passes. It needs TensorRT and a GPU: run it in the serving image.

    Example: `docker compose run --rm build-plan sentiment 1`
    """
    from converters.plans import PlanSpec
    from converters.plans import build_plan as run

    spec = PlanSpec(repository, name, release, timings, workspace_gib, corpus)
    with progress_on_stderr("building") as progress:
        facts = run(spec, progress, wait)
    line = f"{name} release {release}: plan for {facts.machine.gpu} of {len(facts.profiles)} profiles"
    stdout.print(f"{line}, {len(facts.gates)} gates passed", soft_wrap=True)
