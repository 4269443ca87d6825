"""What a user may say about a release, each option once: `export` takes them, and `compare` those that it shares."""

from pathlib import Path
from typing import Annotated

import typer

Checkpoint = Annotated[Path, typer.Argument(help="Folder that `save_pretrained` wrote, or with an exported graph.")]
Task = Annotated[str, typer.Option(help="What the pipeline does, for example `text-classification`.")]
Target = Annotated[str, typer.Option(help="Where it is served: `cpu` or `gpu`.")]
Engine = Annotated[
    str | None,
    typer.Option(
        help="What runs the encoder: on cpu `onnxruntime` (default), `openvino` or `paddle`, on gpu `tensorrt` "
        "(default) or `onnxruntime`."
    ),
]
Precision = Annotated[
    str, typer.Option(help="`fp32`, `fp16` (for gpu), `bf16` (openvino, paddle), `int8`, or `int4` (cpu).")
]
Method = Annotated[
    str | None, typer.Option(help="Of int8 and int4: `dynamic`, `static` or `weight-only`; what the engine has.")
]
MaxLength = Annotated[int | None, typer.Option(help="Longest text in tokens; by default the model's limit.")]
Corpus = Annotated[Path | None, typer.Option(help="Your own texts, one a line, for the gates to compare on.")]
Instances = Annotated[
    int,
    typer.Option(
        "--joined",
        help="Join the three steps in one model that runs in so many processes (as many as cores, up to a few): a "
        "small model then answers nearly twice as many texts. 0 keeps them apart.",
    ),
]
LabelFile = Annotated[Path | None, typer.Option(help="JSON with the words, thresholds or aggregation of the labels.")]
LongText = Annotated[str, typer.Option(help="Longer texts: `truncate`, or read in `window`s.")]
Source = Annotated[
    str | None, typer.Option(help="`paddlenlp`, `huggingface` or `static`; by default found by looking.")
]
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
PoolingName = Annotated[
    str | None, typer.Option(help="Of embeddings: `cls`, `mean` or `pooler`; by default what the checkpoint says.")
]
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
MaxDrop = Annotated[float, typer.Option(help="Points of the metric that may be lost.")]
Share = Annotated[float | None, typer.Option(help="Share of attention heads and neurons to keep, for example 0.75.")]
Shares = Annotated[
    list[float] | None, typer.Option(help="Also try the model pruned to this share; may be given again.")
]
RecoverEpochs = Annotated[
    int, typer.Option(help="Passes over the calibration texts in which a pruned model learns from the original.")
]
Only = Annotated[
    list[str] | None, typer.Option(help="Only candidates whose name holds this: `openvino`, `int8 static`.")
]
TimeoutS = Annotated[float, typer.Option(help="Seconds that one candidate may take.")]
ReportFolder = Annotated[Path, typer.Option(help="Folder for the JSON, Markdown and HTML report.")]
