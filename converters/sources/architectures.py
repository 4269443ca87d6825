"""The architectures that can be exported, one declaration a line."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Architecture:
    """A PaddleNLP model class: its name, the task its head serves, and the graph's inputs in the order of `forward`."""

    name: str
    task: str
    inputs: tuple[str, ...] = ("input_ids", "token_type_ids")


_ALL = (Architecture("ErnieForSequenceClassification", "text-classification"),)

ARCHITECTURES = {architecture.name: architecture for architecture in _ALL}
