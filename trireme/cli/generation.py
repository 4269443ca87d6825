"""The command that turns a causal language model into a release that writes."""

from pathlib import Path
from typing import Annotated

import typer

from converters.generation.spec import CACHE_PRECISIONS, ENGINES, INFERENCE_PRECISIONS, PRECISIONS, GenerationSpec
from trireme.cli.console import REPOSITORY, RepositoryOption, progress_on_stderr, stderr, stdout
from trireme.cli.release_options import PythonPath, WaitS
from trireme.cli.words import one_of


def export_llm(
    checkpoint: Annotated[Path, typer.Argument(help="A GGUF file, or a folder that `save_pretrained` wrote.")],
    name: Annotated[str, typer.Option(help="The pipeline's name, as clients will call it.")],
    repository: RepositoryOption = REPOSITORY,
    engine: Annotated[str, one_of(ENGINES, "What runs the model.")] = ENGINES[0],
    precision: Annotated[
        str | None,
        one_of(PRECISIONS, "Of the weights.", show_default="what a GGUF file has, and fp32 for other checkpoints"),
    ] = None,
    inference_precision: Annotated[str, one_of(INFERENCE_PRECISIONS, "What the engine computes in.")] = "f32",
    cache_precision: Annotated[str, one_of(CACHE_PRECISIONS, "What the KV cache is kept in.")] = "u8",
    context_length: Annotated[
        int | None,
        typer.Option(min=2, max=10_000_000, help="Most tokens of a prompt and its answer; by default the model's."),
    ] = None,
    max_perplexity: Annotated[
        float, typer.Option(min=0, max=1000, help="Per cent by which it may read real text worse than its source.")
    ] = 1.0,
    corpus: Annotated[
        Path | None, typer.Option(help="Your own real texts to read, a paragraph a line.", exists=True, dir_okay=False)
    ] = None,
    python: PythonPath = None,
    wait: WaitS = 0.0,
) -> None:
    """Export a causal language model as the next release of a pipeline that writes.

    The release is converted, held against the source's own library on token ids, chat template, greedy answers and
    real text, and published only if every gate passes.

    Example: `trireme export-llm SmolLM2-135M-Instruct.Q4_1.gguf --name writer`
    """
    from converters.generation.export import export_generation
    from trireme.contract.naming import require_free_name
    from trireme.contract.repository import Repository

    spec = GenerationSpec(
        checkpoint=checkpoint,
        name=name,
        repository=repository,
        engine=engine,
        precision=precision,
        inference_precision=inference_precision,
        cache_precision=cache_precision,
        context_length=context_length,
        max_perplexity_percent=max_perplexity,
        corpus=corpus,
        python=python,
    )
    Repository(repository).require_writable()
    require_free_name(repository, name)
    with progress_on_stderr("exporting") as progress:
        manifest = export_generation(spec, progress, wait)
    for warning in manifest.generator.warnings:
        stderr.print(f"warning: {warning}", style="yellow", soft_wrap=True)
    facts = f"{manifest.generator.engine} {manifest.generator.precision}"
    stdout.print(f"{name} release {manifest.release}: {facts}, {len(manifest.gates)} gates passed", soft_wrap=True)
