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
    """The form in which a model takes the attention mask. The graph's own input is 1 for a token and 0 for padding."""

    ADDED = "added to the scores"
    PLAIN = "as it is"
    ADDED_WITHOUT_ZERO = "added to the scores, id 0 masked too, as PaddleNLP's ERNIE-M always does"


@dataclass(frozen=True)
class Family:
    """What all models of one kind share.

    `inputs` are the graph's. `lost_positions` of the position table are never used; None
    stands for `pad_token_id + 1`, as RoBERTa counts. A `is_traced` model's Python runs as it is during export, because
    Paddle's rewriting of it into a static graph fails (RoBERTa) or waits for itself for ever (XLM-RoBERTa).
    """

    name: str
    prefix: str
    inputs: tuple[str, ...] = ("input_ids", "token_type_ids", "attention_mask")
    lost_positions: int | None = 0
    mask: Mask = Mask.ADDED
    is_traced: bool = False


@dataclass(frozen=True)
class Architecture:
    """A PaddleNLP model class. `has_pooled_head` says that its head reads the pooler's output."""

    name: str
    family: Family
    head: Head
    has_pooled_head: bool = False

    @property
    def inputs(self) -> tuple[str, ...]:
        """The graph's inputs."""
        return self.family.inputs


BERT = Family("BERT", "Bert")
ERNIE = Family("ERNIE 1.0, 2.0, 3.0", "Ernie")
ERNIE_M = Family("ERNIE-M", "ErnieM", ("input_ids", "attention_mask"), 2, Mask.ADDED_WITHOUT_ZERO)
ROBERTA = Family("RoBERTa, RoBERTa-wwm", "Roberta", lost_positions=None, is_traced=True)
ALBERT = Family("ALBERT", "Albert", mask=Mask.PLAIN)
ELECTRA = Family("ELECTRA", "Electra")
XLM_ROBERTA = Family("XLM-RoBERTa", "XLMRoberta", ("input_ids", "attention_mask"), None, Mask.PLAIN, is_traced=True)


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
        "on the real Triton beside the source's own output. Hugging Face folders need no such table: `transformers`",
        "exports every architecture that it has. These and exported graphs: [sources.md](sources.md).",
        "",
        "| family | PaddleNLP class | tasks | graph inputs | attention mask | test |",
        "|---|---|---|---|---|---|",
    ]
    return "\n".join([*lines, *map(_row, _ALL), ""])


def _row(architecture: Architecture) -> str:
    family = architecture.family
    inputs = ", ".join(f"`{name}`" for name in family.inputs)
    tasks = ", ".join(architecture.head.tasks)
    test = f"`test_architectures.py[{architecture.name}]`"
    return f"| {family.name} | `{architecture.name}` | {tasks} | {inputs} | {family.mask.value} | {test} |"
