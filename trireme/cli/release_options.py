"""What a user may say about a release, each option once: `export` takes them, and `compare` those that it shares."""

from pathlib import Path
from typing import Annotated

import typer

from converters.precisions import registered
from converters.sources import Pooling, source_kinds
from converters.targets import TARGETS
from text_runtime.tasks import task_names
from trireme.cli.words import one_of

LONG_TEXTS = ("truncate", "window")
REGISTERED = registered()
_ENGINES = list(dict.fromkeys(choice.engine for choice in REGISTERED))
_PRECISIONS = list(dict.fromkeys(choice.precision for choice in REGISTERED))
_METHODS = list(dict.fromkeys(choice.method for choice in REGISTERED if choice.method))
_POOLINGS = [pooling.value for pooling in Pooling]

Checkpoint = Annotated[Path, typer.Argument(help="Folder that `save_pretrained` wrote, or with an exported graph.")]
Task = Annotated[str, one_of(task_names(), "What the pipeline does.")]
Name = Annotated[str, typer.Option(help="The pipeline's name, as clients will call it.")]
Target = Annotated[str, one_of(TARGETS, "Where it is served.")]
Engine = Annotated[
    str | None,
    one_of(
        _ENGINES,
        "What runs the encoder; by default `onnxruntime` on cpu, which has `openvino` and `paddle` too, and "
        "`tensorrt` on gpu, which has `onnxruntime` too.",
    ),
]
Precision = Annotated[str, one_of(_PRECISIONS, "`fp16` is for gpu, `bf16` for openvino and paddle, `int4` for cpu.")]
Method = Annotated[str | None, one_of(_METHODS, "Of int8 and int4; what the engine has.")]
MaxLength = Annotated[
    int | None, typer.Option(help="Longest text in tokens; by default the model's limit.", min=1, max=1_000_000)
]
Corpus = Annotated[Path | None, typer.Option(help="Your own texts, one a line, for the gates to compare on.")]
Instances = Annotated[
    int,
    typer.Option(
        "--joined",
        help="Join the three steps in one model that runs in so many processes (as many as cores, up to a few): a "
        "small model then answers nearly twice as many texts. 0 keeps them apart.",
        min=0,
        max=64,
    ),
]
LabelFile = Annotated[Path | None, typer.Option(help="JSON with the words, thresholds or aggregation of the labels.")]
LongText = Annotated[
    str, one_of(LONG_TEXTS, "What becomes of longer texts: their end is cut off, or they are read in windows.")
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
_EVALUATION = typer.Option(help="Labelled texts (.tsv with a header, or CoNLL): adds the task's metric as a gate.")
EvaluationFile = Annotated[Path | None, _EVALUATION]
RequiredEvaluationFile = Annotated[Path, _EVALUATION]
MaxDrop = Annotated[float, typer.Option(help="Points of the metric that may be lost.", min=0, max=100)]
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
    int,
    typer.Option(
        help="Passes over the calibration texts in which a pruned model learns from the original.", min=0, max=1000
    ),
]
Only = Annotated[
    list[str] | None, typer.Option(help="Only candidates whose name holds this: `openvino`, `int8 static`.")
]
TimeoutS = Annotated[float, typer.Option(help="Seconds that one candidate may take.", min=1, max=1_000_000)]
ReportFolder = Annotated[Path, typer.Option(help="Folder for the JSON, Markdown and HTML report.", file_okay=False)]
