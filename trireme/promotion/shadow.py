"""Compares a staged release with the current one on the same texts, without any caller seeing its answers."""

import itertools
import time
from collections.abc import Sequence
from typing import Any

from text_runtime.routing.split import side_name
from text_runtime.tasks import Answer, Asked, Task, columns_of, rows_of
from trireme.errors import InputError, PromotionError
from trireme.promotion.golden import golden_of
from trireme.promotion.ledger import Entry
from trireme.promotion.metrics import read_counts
from trireme.promotion.promoter import promoting
from trireme.promotion.replica import Replica
from trireme.promotion.shadow_report import ShadowReport
from trireme.promotion.shadow_streams import compare_streams
from trireme.promotion.spec import PromotionSpec
from trireme.promotion.stopwatch import for_seconds

_TOGETHER = 16  # rows whose order is compared, where a task's answers have one


def shadow_recorded(spec: PromotionSpec, release: int, seconds: float, rows: Sequence[Asked] = ()) -> ShadowReport:
    """Ask both releases the same rows, one after the other, for some seconds; none takes the golden ones.

    Raises:
        PromotionError: the release is not staged.
        InputError: a row lacks an input of the task, or has one too many.
    """
    current = _staged_beside(spec, release)
    if spec.disk.is_streamed:
        return _recorded(spec, release, current, compare_streams(spec, (current, release), seconds, rows))
    task = spec.disk.task
    for number, row in enumerate(rows):
        _require_inputs(task, number, row)
    asked = list(rows) or rows_of(golden_of(spec.disk, release).columns)
    report, durations = ShadowReport(), {current: list[float](), release: list[float]()}
    control = Replica(spec.targets()[0])
    pairs = (
        [_ask(control, task, side_name(spec.pipeline, number), row, taken) for number, taken in durations.items()]
        for row in for_seconds(seconds, itertools.cycle(asked))
    )
    try:
        while some := list(itertools.islice(pairs, _TOGETHER)):
            report.add(len(some), task.agreements(*zip(*some, strict=True)))
    finally:
        control.close()
    report.time(durations)
    return _recorded(spec, release, current, report)


def shadow_live(spec: PromotionSpec, release: int, seconds: float, percent: float = 100.0) -> ShadowReport:
    """Mirror real requests to a release for some seconds; the current one still gives every answer.

    Raises:
        TriremeError: the release was refused.
    """
    with promoting(spec) as promoter:
        promoter.canary(release, percent, is_mirror=True)
    current = spec.disk.layout().traffic.current
    before = read_counts(spec.targets(), spec.pipeline, (current, release))
    try:
        time.sleep(seconds)
        after = read_counts(spec.targets(), spec.pipeline, (current, release))
    finally:
        with promoting(spec) as promoter:
            promoter.rollback({"mirror": True})
    compared = after.agreement - before.agreement
    report = ShadowReport(compared.texts, compared)
    for number in (current, release):
        side = after.sides[number].minus(before.sides[number])
        report.median_s[number], report.p99_s[number] = side.percentile_s(0.5), side.percentile_s(0.99)
    return _recorded(spec, release, current, report)


def _staged_beside(spec: PromotionSpec, release: int) -> int:
    layout = spec.disk.layout()
    if release not in layout.loaded or release not in spec.disk.repository.sides(spec.pipeline):
        raise PromotionError(spec.pipeline, f"release {release} is not staged", f"run `trireme stage` with {release}")
    if release == layout.traffic.current:
        raise PromotionError(spec.pipeline, f"release {release} is the current one", "name another")
    return layout.traffic.current


def _require_inputs(task: Task[Any], number: int, row: Asked) -> None:
    wanted = {tensor.name for tensor in task.inputs}
    for name in sorted(wanted ^ set(row)):
        problem = f"row {number} has none" if name in wanted else f"{task.name} takes none"
        raise InputError(name, problem, f"give rows of {', '.join(tensor.name for tensor in task.inputs)}")


def _ask(control: Replica, task: Task[Any], model: str, row: Asked, durations: list[float]) -> Answer:
    started = time.monotonic()
    reply = control.infer(model, columns_of([row]))
    durations.append(time.monotonic() - started)
    answers: list[Answer] = task.answers(reply.whole)
    return answers[0]


def _recorded(spec: PromotionSpec, release: int, current: int, report: ShadowReport) -> ShadowReport:
    evidence: dict[str, Any] = {"texts": report.texts, "compared": report.compared.texts}
    evidence |= {"agreement": round(report.agreement, 4)}
    evidence |= {f"p99_s_{number}": round(value, 4) for number, value in report.p99_s.items()}
    spec.ledger.append(Entry("shadow", current, release, "done", evidence))
    return report
