"""Golden requests: texts whose answers were recorded when a release was exported, asked again where it is served."""

from collections.abc import Sequence
from typing import Any

import orjson

from text_runtime.golden import GoldenRequests, difference, read_golden
from text_runtime.routing.split import side_name
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
    answered = control.infer(model, golden.columns)
    texts = golden.columns["text"]
    for name, wanted in golden.outputs.items():
        rows = answered.outputs[name].tolist() if name in answered.outputs else [None] * len(texts)
        _compare(control, model, name, (texts, wanted, rows), golden.tolerance)


def _compare(
    control: Replica, model: str, name: str, lists: tuple[Sequence[str], Sequence[Any], Sequence[Any]], tolerance: float
) -> None:
    for text, expected, found in zip(*lists, strict=True):
        problem = difference(expected, _plain(found), tolerance)
        if problem:
            raise GoldenError(control.endpoint.grpc, model, text, f"output '{name}': {problem}")


def _plain(value: Any) -> Any:
    return orjson.loads(orjson.dumps(value, default=lambda raw: raw.decode()))
