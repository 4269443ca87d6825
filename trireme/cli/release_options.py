"""What a user may say about a release, each option once: `export` takes them, and `compare` those that it shares.

None of them has a default of its own, so that what is given wins over a spec file; `show_default` tells the spec's.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from converters.precisions import registered
from converters.sources import Pooling, source_kinds
from converters.spec import LONG_TEXTS
from converters.targets import TARGETS
from text_runtime.tasks import task_names
from trireme.cli.words import one_of

REGISTERED = registered()
_ENGINES = list(dict.fromkeys(choice.engine for choice in REGISTERED))
_PRECISIONS = list(dict.fromkeys(choice.precision for choice in REGISTERED))
_METHODS = list(dict.fromkeys(choice.method for choice in REGISTERED if choice.method))
_POOLINGS = [pooling.value for pooling in Pooling]

Checkpoint = Annotated[
    Path | None, typer.Argument(help="Folder that `save_pretrained` wrote, or with an exported graph.")
]
From = Annotated[
    Path | None,
    typer.Option(
        "--from",
        help="A spec file, as `trireme export --write-spec` and `trireme compare` write them. Options, and the "
        "variables that stand for them, win over it.",
    ),
]
_TASK = "What the pipeline does."
USUAL_TASK = "text-classification"
Task = Annotated[str | None, one_of(task_names(), _TASK)]
ComparedTask = Annotated[str | None, one_of(task_names(), _TASK, show_default=USUAL_TASK)]
Name = Annotated[str | None, typer.Option(help="The pipeline's name, as clients will call it.")]
Repository = Annotated[
    Path | None,
    typer.Option(
        "--repository", "-r", help="The model repository.", envvar="TRIREME_REPOSITORY", show_default="model_repository"
    ),
]
Target = Annotated[str | None, one_of(TARGETS, "Where it is served.", show_default="cpu")]
Engine = Annotated[
    str | None,
    one_of(
        _ENGINES,
        "What runs the encoder; by default `onnxruntime` on cpu, which has `openvino` and `paddle` too, and "
        "`tensorrt` on gpu, which has `onnxruntime` too.",
    ),
]
Precision = Annotated[
    str | None,
    one_of(_PRECISIONS, "`fp16` is for gpu, `bf16` for openvino and paddle, `int4` for cpu.", show_default="fp32"),
]
Method = Annotated[str | None, one_of(_METHODS, "Of int8 and int4; what the engine has.")]
MaxLength = Annotated[
    int | None, typer.Option(help="Longest text in tokens; by default the model's limit.", min=1, max=1_000_000)
]
Corpus = Annotated[Path | None, typer.Option(help="Your own texts, one a line, for the gates to compare on.")]
Instances = Annotated[
    int | None,
    typer.Option(
        "--joined",
        help="Join the three steps in one model that runs in so many processes (as many as cores, up to a few): a "
        "small model then answers nearly twice as many texts. 0 keeps them apart.",
        min=0,
        max=64,
        show_default="0",
    ),
]
LabelFile = Annotated[Path | None, typer.Option(help="JSON with the words, thresholds or aggregation of the labels.")]
LongText = Annotated[
    str | None,
    one_of(
        LONG_TEXTS,
        "What becomes of longer texts: their end is cut off, or they are read in windows.",
        show_default="truncate",
    ),
]
Source = Annotated[str | None, one_of(source_kinds(), "What wrote the checkpoint; by default found by looking.")]
PythonPath = Annotated[
    Path | None,
    typer.Option(
        help="The interpreter whose torch and transformers load a Hugging Face folder, such as that of your training "
        "environment: the very versions that trained it. By default the one that `trireme hf-environment` made.",
        envvar="TRIREME_HF_PYTHON",
    ),
]
PromptName = Annotated[
    str | None, typer.Option(help="Of embeddings: which of the checkpoint's prompts goes in front of every text.")
]
PoolingName = Annotated[str | None, one_of(_POOLINGS, "Of embeddings; by default what the checkpoint says.")]
Normalize = Annotated[
    bool | None, typer.Option(help="Whether embeddings have length 1; by default what the checkpoint says.")
]
CalibrationFile = Annotated[
    Path | None,
    typer.Option(help="Real texts, one a line (pairs: a tab between), for static int8 and for pruning."),
]
EvaluationFile = Annotated[
    Path | None,
    typer.Option(help="Labelled texts (.tsv with a header, or CoNLL): adds the task's metric as a gate."),
]
MaxDrop = Annotated[
    float | None, typer.Option(help="Points of the metric that may be lost.", min=0, max=100, show_default="0.5")
]
_LEAST_SHARE, _MOST_SHARE = 0.01, 0.99
Share = Annotated[
    float | None,
    typer.Option(
        help="Share of attention heads and neurons to keep, for example 0.75.", min=_LEAST_SHARE, max=_MOST_SHARE
    ),
]
Shares = Annotated[
    list[float] | None,
    typer.Option(
        help="Also try the model pruned to this share; may be given again.", min=_LEAST_SHARE, max=_MOST_SHARE
    ),
]
RecoverEpochs = Annotated[
    int | None,
    typer.Option(
        help="Passes over the calibration texts in which a pruned model learns from the original.",
        min=0,
        max=1000,
        show_default="0",
    ),
]
Only = Annotated[
    list[str] | None, typer.Option(help="Only candidates whose name holds this: `openvino`, `int8 static`.")
]
WaitS = Annotated[
    float, typer.Option(help="Seconds to wait for another command that builds the pipeline.", min=0, max=1_000_000)
]
TimeoutS = Annotated[float, typer.Option(help="Seconds that one candidate may take.", min=1, max=1_000_000)]
ReportFolder = Annotated[Path, typer.Option(help="Folder for the JSON, Markdown and HTML report.", file_okay=False)]
WriteSpec = Annotated[
    Path | None,
    typer.Option(
        help="Only write down what is asked for, as a file for --from; nothing is exported.",
        dir_okay=False,
    ),
]


@dataclass(frozen=True)
class SpecOption:
    """An option of a spec: its parameter's name and annotation, and where in a spec its value stands."""

    name: str
    annotation: Any
    place: str

    @property
    def flag(self) -> str:
        """How it is written on the command line."""
        return f"--{self.name.replace('_', '-')}"


_ENCODER = (
    SpecOption("target", Target, "encoder.target"),
    SpecOption("engine", Engine, "encoder.engine"),
    SpecOption("precision", Precision, "encoder.precision"),
    SpecOption("method", Method, "encoder.method"),
)
_SHARED = (
    SpecOption("task", Task, "task"),
    SpecOption("name", Name, "name"),
    SpecOption("repository", Repository, "repository"),
    SpecOption("max_length", MaxLength, "max_length"),
    SpecOption("corpus", Corpus, "corpus"),
    SpecOption("labels", LabelFile, "labels"),
    SpecOption("long_text", LongText, "long_text"),
    SpecOption("source", Source, "source.kind"),
    SpecOption("python", PythonPath, "source.python"),
    SpecOption("pooling", PoolingName, "source.pooling"),
    SpecOption("prompt", PromptName, "source.prompt"),
    SpecOption("normalize", Normalize, "normalize"),
    SpecOption("calibration", CalibrationFile, "encoder.calibration"),
    SpecOption("evaluate", EvaluationFile, "evaluation.path"),
    SpecOption("max_drop", MaxDrop, "evaluation.max_drop_points"),
    SpecOption("joined", Instances, "joined"),
)
COMPARED = (SpecOption("task", ComparedTask, "task"), *_SHARED[1:])
"""What a comparison takes too: all but what its candidates differ in."""
_PRUNING = (
    SpecOption("prune", Share, "pruning.share"),
    SpecOption("recover_epochs", RecoverEpochs, "pruning.recover_epochs"),
)
OPTIONS = (*_SHARED[:3], *_ENCODER, *_SHARED[3:], *_PRUNING)
"""Everything that an export may be told, in the order of its help."""
