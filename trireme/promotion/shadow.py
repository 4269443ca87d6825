"""Compares a staged release with the current one on the same texts, without any caller seeing its answers."""

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from text_runtime.routing import side_name
from trireme.errors import PromotionError
from trireme.promotion.golden import golden_of
from trireme.promotion.ledger import Entry
from trireme.promotion.metrics import read_counts
from trireme.promotion.promoter import promoting
from trireme.promotion.replica import Replica
from trireme.promotion.spec import PromotionSpec


@dataclass
class ShadowReport:
    """How often both releases gave the same label, and each one's seconds by request at the median and at p99."""

    texts: int = 0
    agreed: int = 0
    median_s: dict[int, float] = field(default_factory=dict)
    p99_s: dict[int, float] = field(default_factory=dict)

    @property
    def agreement(self) -> float:
        """Share of texts with the same label."""
        return self.agreed / self.texts if self.texts else 0.0


def shadow_recorded(spec: PromotionSpec, release: int, seconds: float, texts: Sequence[str]) -> ShadowReport:
    """Ask both releases the same texts, one after the other, for some seconds; no texts takes the golden ones.

    Raises:
        PromotionError: the release is not staged.
    """
    current = _staged_beside(spec, release)
    rows = list(texts) or golden_of(spec.disk, release).columns["text"]
    control = Replica(spec.targets()[0])
    report, durations = ShadowReport(), {current: list[float](), release: list[float]()}
    deadline = time.monotonic() + seconds
    for text in itertools.cycle(rows):
        labels = [_ask(control, spec.pipeline, number, text, durations[number]) for number in (current, release)]
        report.texts += 1
        report.agreed += labels[0] == labels[1]
        if time.monotonic() > deadline:
            break
    control.close()
    for number, taken in durations.items():
        report.median_s[number], report.p99_s[number] = map(float, np.percentile(taken, [50, 99]))
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
    agreed, disagreed = after.agreed - before.agreed, after.disagreed - before.disagreed
    report = ShadowReport(int(agreed + disagreed), int(agreed))
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


def _ask(control: Replica, pipeline: str, release: int, text: str, durations: list[float]) -> str:
    started = time.monotonic()
    answered = control.infer(side_name(pipeline, release), {"text": [text]})
    durations.append(time.monotonic() - started)
    name = "label" if "label" in answered.outputs else sorted(answered.outputs)[0]
    return str(answered.outputs[name].tolist())


def _recorded(spec: PromotionSpec, release: int, current: int, report: ShadowReport) -> ShadowReport:
    evidence = {"texts": report.texts, "agreement": round(report.agreement, 4)}
    evidence |= {f"p99_s_{number}": round(value, 4) for number, value in report.p99_s.items()}
    spec.ledger.append(Entry("shadow", current, release, "done", evidence))
    return report
