"""Golden requests: texts whose answers were recorded when a release was exported, asked again where it is served."""

from collections.abc import Sequence
from typing import Any

import orjson

from text_runtime.generation.tensors import EXCLUDE_INPUT, TEXT_INPUT, TEXT_OUTPUT
from text_runtime.golden import GoldenRequests, difference, read_golden
from text_runtime.routing.split import side_name
from text_runtime.tasks import rows_of
from text_runtime.tasks.text_generation import agreement
from trireme.errors import GoldenError, RepositoryError
from trireme.promotion.disk import PipelineDisk
from trireme.promotion.replica import Replica


def golden_of(disk: PipelineDisk, release: int) -> GoldenRequests:
    """A release's golden requests.

    Raises:
        RepositoryError: the release has none that can be read.
    """
    folder = disk.repository.pipeline_folder(disk.pipeline) / str(release)
    try:
        return read_golden(folder)
    except (OSError, ValueError) as error:
        raise RepositoryError(
            folder, f"no golden requests can be read ({error})", "export the release again"
        ) from error


def require_golden(control: Replica, disk: PipelineDisk, release: int) -> None:
    """Ask a staged release its golden requests.

    Raises:
        GoldenError: an answer differs from the recorded one.
    """
    golden, model = golden_of(disk, release), side_name(disk.pipeline, release)
    if disk.is_streamed:
        _require_writing(control, model, golden)
        return
    answered = control.infer(model, golden.columns)
    texts = golden.columns["text"]
    for name, wanted in golden.outputs.items():
        rows = answered.outputs[name].tolist() if name in answered.outputs else [None] * len(texts)
        _compare(control, model, name, (texts, wanted, rows), golden.tolerance)


def _require_writing(control: Replica, model: str, golden: GoldenRequests) -> None:
    """Ask for the recorded answers. Rounding may turn a choice between two like tokens, and with it the rest of one
    answer: so all of them together must be like the recorded ones, as far as `tolerance` says."""
    likeness: list[float] = []
    for row in rows_of(golden.columns):
        found = control.write(model, {**row, EXCLUDE_INPUT.name: True}).text
        likeness.append(agreement(found, golden.outputs[TEXT_OUTPUT.name][len(likeness)]))
    mean = sum(likeness) / len(likeness)
    if mean < 1 - golden.tolerance:
        worst = likeness.index(min(likeness))
        prompt, wanted = golden.columns[TEXT_INPUT.name][worst], 1 - golden.tolerance
        problem = f"answers are like the recorded ones to {mean:.2f}, {wanted:.2f} are wanted"
        raise GoldenError(control.endpoint.grpc, model, prompt, problem)


def _compare(
    control: Replica, model: str, name: str, lists: tuple[Sequence[str], Sequence[Any], Sequence[Any]], tolerance: float
) -> None:
    for text, expected, found in zip(*lists, strict=True):
        problem = difference(expected, _plain(found), tolerance)
        if problem:
            raise GoldenError(control.endpoint.grpc, model, text, f"output '{name}': {problem}")


def _plain(value: Any) -> Any:
    return orjson.loads(orjson.dumps(value, default=lambda raw: raw.decode()))
