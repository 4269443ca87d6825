"""What a comparison of a staged release with the current one has found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from trireme.promotion.agreement import Agreement


@dataclass
class ShadowReport:
    """How far both releases' answers agree, and each one's seconds by request at the median and at p99.

    Of `texts` that were asked, those count for the agreement of which it can be told: two answers that found nothing
    say nothing.
    """

    texts: int = 0
    compared: Agreement = Agreement()
    median_s: dict[int, float] = field(default_factory=dict)
    p99_s: dict[int, float] = field(default_factory=dict)

    def add(self, texts: int, agreements: Sequence[float]) -> None:
        """Note texts that were asked, and what could be told of them."""
        self.texts += texts
        self.compared += Agreement(sum(agreements), len(agreements))

    def time(self, durations: Mapping[int, Sequence[float]]) -> None:
        """Note the seconds of each release's requests."""
        for number, taken in durations.items():
            self.median_s[number], self.p99_s[number] = map(float, np.percentile(taken, [50, 99]))

    @property
    def agreement(self) -> float:
        """The mean agreement; 0 where nothing was compared."""
        return self.compared.mean
