"""The architectures that can be exported, one declaration a line."""

from dataclasses import dataclass

_SEQUENCE_TASKS = ("text-classification", "multi-label-classification", "text-pair-classification", "reranking")


@dataclass(frozen=True)
class Architecture:
    """A PaddleNLP model class: its name, the tasks its head serves, the graph's inputs in the order of `forward`."""

    name: str
    tasks: tuple[str, ...]
    inputs: tuple[str, ...] = ("input_ids", "token_type_ids")


_ALL = (
    Architecture("ErnieForSequenceClassification", _SEQUENCE_TASKS),
    Architecture("ErnieForTokenClassification", ("token-classification",)),
    Architecture("ErnieModel", ("embedding",)),
    Architecture("UIE", ("information-extraction",)),
)

ARCHITECTURES = {architecture.name: architecture for architecture in _ALL}
