"""The command that turns a causal language model into a release that writes."""

from pathlib import Path
from typing import Annotated, Any

import typer

from converters.generation.precisions import METHODS
from converters.generation.spec import CACHE_PRECISIONS, ENGINES, INFERENCE_PRECISIONS, PRECISIONS, GenerationSpec
from trireme.cli.console import REPOSITORY, RepositoryOption, progress_on_stderr, say_release
from trireme.cli.release_options import PythonPath, WaitS
from trireme.cli.signatures import REQUIRED, made_of, option
from trireme.cli.words import one_of

Model = Annotated[Path, typer.Argument(help="A GGUF file, or a folder that `save_pretrained` wrote.")]
Name = Annotated[str, typer.Option(help="The pipeline's name, as clients will call it.")]
Engine = Annotated[str, one_of(ENGINES, "What runs the model.")]
Method = Annotated[
    str | None,
    one_of(METHODS, "How int4 weights are found by looking at real texts.", show_default="without texts"),
]
Calibration = Annotated[
    Path | None,
    typer.Option(
        help="A few hundred real texts, one a line, that a --method looks at. The gates read others.",
        exists=True,
        dir_okay=False,
    ),
]
Precision = Annotated[
    str | None,
    one_of(PRECISIONS, "Of the weights.", show_default="what a GGUF file has, and fp32 for other checkpoints"),
]
InferencePrecision = Annotated[
    str | None, one_of(INFERENCE_PRECISIONS, "What the engine computes in.", show_default="f32; vLLM: as the weights")
]
CachePrecision = Annotated[
    str | None, one_of(CACHE_PRECISIONS, "What the KV cache is kept in.", show_default="u8; vLLM: as the weights")
]
DynamicQuantization = Annotated[
    bool,
    typer.Option(
        help="Round activations to int8 on the fly where weights are int8 or int4, which is about twice as fast. "
        "Without it, and with a KV cache of f32, a seed draws the same text whatever else is asked."
    ),
]
PromptLookup = Annotated[
    int,
    typer.Option(
        min=0,
        max=16,
        help="Guess up to so many tokens at a time from what stands in the text already, and prove them in one step: "
        "for summaries, edits and answers that quote. Refused where it makes your --corpus slower; 0 guesses none.",
    ),
]
ContextLength = Annotated[
    int | None,
    typer.Option(min=2, max=10_000_000, help="Most tokens of a prompt and its answer; by default the model's."),
]
MaxPerplexity = Annotated[
    float, typer.Option(min=0, max=1000, help="Per cent by which it may read real text worse than its source.")
]
Corpus = Annotated[
    Path | None, typer.Option(help="Your own real texts to read, a paragraph a line.", exists=True, dir_okay=False)
]


_OPTIONS = (
    option("checkpoint", Model, REQUIRED),
    option("name", Name, REQUIRED),
    option("repository", RepositoryOption, REPOSITORY),
    option("engine", Engine, ENGINES[0]),
    option("precision", Precision),
    option("inference_precision", InferencePrecision),
    option("cache_precision", CachePrecision),
    option("dynamic_quantization", DynamicQuantization, True),
    option("prompt_lookup", PromptLookup, 0),
    option("method", Method),
    option("calibration", Calibration),
    option("context_length", ContextLength),
    option("max_perplexity", MaxPerplexity, 1.0),
    option("corpus", Corpus),
    option("python", PythonPath),
)


def _spec(max_perplexity: float, **values: Any) -> GenerationSpec:
    return GenerationSpec(**values, max_perplexity_percent=max_perplexity)


@made_of(_spec, _OPTIONS)
def export_llm(spec: GenerationSpec, wait: WaitS = 0.0) -> None:
    """Export a causal language model as the next release of a pipeline that writes.

    The release is converted, held against the source's own library on token ids, chat template, greedy answers and
    real text, and published only if every gate passes.

    Example: `trireme export-llm SmolLM2-135M-Instruct.Q4_1.gguf --name writer`, or of a folder:
    `trireme export-llm ./my-llama --name writer --precision int4 --method awq --calibration texts.txt`
    """
    from converters.generation.export import export_generation
    from trireme.contract.naming import require_free_name
    from trireme.contract.repository import Repository

    Repository(spec.repository).require_writable()
    require_free_name(spec.repository, spec.name)
    with progress_on_stderr("exporting") as progress:
        say_release(export_generation(spec, progress, wait))
