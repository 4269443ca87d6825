"""The architectures that can be exported, one declaration a line."""

from dataclasses import dataclass
from enum import Enum


class Head(Enum):
    """What stands on top of the encoder; the value names the tasks that it can serve."""

    CLASSES = ("text-classification", "multi-label-classification", "text-pair-classification", "reranking")
    TOKENS = ("token-classification",)
    HIDDEN = ("embedding",)
    SPANS = ("information-extraction",)

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that a model with this head can serve."""
        return tuple(self.value)


def head_for(task_name: str) -> Head:
    """The head that serves a task."""
    return next(head for head in Head if task_name in head.tasks)


class Mask(Enum):
    """Who keeps attention off the padding."""

    MODEL = "the model itself, where `input_ids` is the pad token"
    PAD = "the exported graph, where `input_ids` is the pad token: the model alone would attend to padding"
    PAD_AND_ZERO = "the exported graph, where `input_ids` is the pad token or 0, which PaddleNLP's ERNIE-M always masks"


@dataclass(frozen=True)
class Family:
    """What all models of one kind share.

    `inputs` are the graph's, in the order of `forward`. `lost_positions` of the position table are never used; None
    stands for `pad_token_id + 1`, as RoBERTa counts. A `is_traced` model's Python runs as it is during export, because
    Paddle's rewriting of it into a static graph fails (RoBERTa) or waits for itself for ever (XLM-RoBERTa).
    `is_in_hugging_face` says whether PaddleNLP reads safetensors of Hugging Face's layout.
    """

    name: str
    prefix: str
    inputs: tuple[str, ...] = ("input_ids", "token_type_ids")
    lost_positions: int | None = 0
    mask: Mask = Mask.MODEL
    is_traced: bool = False
    is_in_hugging_face: bool = True


@dataclass(frozen=True)
class Architecture:
    """A PaddleNLP model class. `has_pooled_head` says that its head reads the pooler's output."""

    name: str
    family: Family
    head: Head
    has_pooled_head: bool = False

    @property
    def inputs(self) -> tuple[str, ...]:
        """The graph's inputs, in the order of `forward`."""
        return self.family.inputs


BERT = Family("BERT", "Bert")
ERNIE = Family("ERNIE 1.0, 2.0, 3.0", "Ernie", is_in_hugging_face=False)
ERNIE_M = Family("ERNIE-M", "ErnieM", ("input_ids",), 2, Mask.PAD_AND_ZERO, is_in_hugging_face=False)
ROBERTA = Family("RoBERTa, RoBERTa-wwm", "Roberta", lost_positions=None, is_traced=True)
ALBERT = Family("ALBERT", "Albert", mask=Mask.PAD)
ELECTRA = Family("ELECTRA", "Electra")
XLM_ROBERTA = Family("XLM-RoBERTa", "XLMRoberta", ("input_ids",), None, Mask.PAD, is_traced=True)


def _members(family: Family, has_pooled_head: bool) -> tuple[Architecture, ...]:
    return (
        Architecture(f"{family.prefix}Model", family, Head.HIDDEN),
        Architecture(f"{family.prefix}ForSequenceClassification", family, Head.CLASSES, has_pooled_head),
        Architecture(f"{family.prefix}ForTokenClassification", family, Head.TOKENS),
    )


_ALL = (
    *_members(BERT, has_pooled_head=True),
    *_members(ERNIE, has_pooled_head=True),
    *_members(ERNIE_M, has_pooled_head=True),
    *_members(ROBERTA, has_pooled_head=False),
    *_members(ALBERT, has_pooled_head=True),
    *_members(ELECTRA, has_pooled_head=False),
    *_members(XLM_ROBERTA, has_pooled_head=False),
    Architecture("UIE", ERNIE, Head.SPANS),
    Architecture("UIEM", ERNIE_M, Head.SPANS),
)

ARCHITECTURES = {architecture.name: architecture for architecture in _ALL}
ALL_FAMILIES = tuple(dict.fromkeys(architecture.family for architecture in _ALL))


def architectures_table() -> str:
    """The table of what is supported, as Markdown."""
    lines = [
        "# Architectures",
        "",
        "Generated from `converters/sources/architectures.py` by `python -m tests.generated`. Each row names the test",
        "that passes it through every gate. `tests/converters/test_served_sources.py` serves a model of every family",
        "on the real Triton beside the source's own output. Static graphs and tokenizers: [sources.md](sources.md).",
        "",
        "| family | PaddleNLP class | tasks | graph inputs | Hugging Face safetensors | padding masked by | test |",
        "|---|---|---|---|---|---|---|",
    ]
    return "\n".join([*lines, *map(_row, _ALL), ""])


def _row(architecture: Architecture) -> str:
    family = architecture.family
    inputs = ", ".join(f"`{name}`" for name in family.inputs)
    reads = "yes" if family.is_in_hugging_face else "no"
    masker = family.mask.value.split(",")[0]
    tasks = ", ".join(architecture.head.tasks)
    test = f"`test_architectures.py[{architecture.name}]`"
    return f"| {family.name} | `{architecture.name}` | {tasks} | {inputs} | {reads} | {masker} | {test} |"
