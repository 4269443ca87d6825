"""The gates of a plan: the answers of its own graph, for every bucket, from one row to a full batch."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from converters.limits import limits_of
from converters.plans.rows import Rows
from text_runtime.manifest import PASSED, EncoderManifest, GateRow
from text_runtime.plan import Profile
from text_runtime.tasks import task
from trireme.errors import GateError

Array = npt.NDArray[Any]
Feeds = Mapping[str, Array]

RunPlan = Callable[[int, Feeds], Array]
"""Runs a plan with the profile of that number."""

RunGraph = Callable[[Feeds], Array]
"""Runs the graph that the plan was built from, on another engine."""

_AGREEMENT = 0.999
"""Share of rows (or tokens) whose largest column must be the same, where columns are labels."""


@dataclass(frozen=True)
class Parity:
    """What a plan is judged by: its release's manifest, the profiles by number, and rows for each bucket."""

    manifest: EncoderManifest
    profiles: Sequence[Profile]
    rows: Rows

    def judge(self, plan: RunPlan, graph: RunGraph) -> Iterator[GateRow]:
        """Compare a plan with its graph; gives a row for each gate as it passes.

        Raises:
            GateError: NaN or an infinite number, a difference above the precision's tolerance, or other labels.
        """
        worst, same, total = 0.0, 0, 0
        for index, profile in enumerate(self.profiles):
            for feeds in self._batches(profile):
                is_token = feeds["input_ids"] != self.manifest.tokenizer.pad_token_id
                ours, theirs = (self._answers(answer, is_token) for answer in (plan(index, feeds), graph(feeds)))
                _require_finite(ours, profile)
                worst = max(worst, float(np.abs(ours - theirs).max()))
                same += int((ours.argmax(axis=-1) == theirs.argmax(axis=-1)).sum())
                total += len(ours)
        yield GateRow("finite", PASSED, f"{total} answers of {len(self.profiles)} profiles, no NaN")
        yield self._difference(worst)
        if task(self.manifest.task).has_labels:
            yield _agreement(same, total)

    def _batches(self, profile: Profile) -> Iterator[Feeds]:
        """One row, the rows that the profile is tuned for, and a full batch; rows are repeated where there are few."""
        found = self.rows[profile.tokens]
        for count in profile.rows:
            yield self._feeds([found[(count + index) % len(found)] for index in range(count)], profile.tokens)

    def _feeds(self, rows: Sequence[Sequence[int]], tokens: int) -> Feeds:
        """The rows padded to the bucket, as the tokenizer step pads them."""
        ids = np.full((len(rows), tokens), self.manifest.tokenizer.pad_token_id, dtype=np.int64)
        mask = np.zeros_like(ids)
        for index, row in enumerate(rows):
            ids[index, : len(row)], mask[index, : len(row)] = row, 1
        feeds = {"input_ids": ids, "token_type_ids": np.zeros_like(ids), "attention_mask": mask}
        return {name: feeds[name] for name in self.manifest.encoder.inputs}

    def _answers(self, output: Array, is_token: Array) -> Array:
        """[rows, width], or of a head that answers for tokens [tokens, width] without those of the padding."""
        answers = output[is_token] if task(self.manifest.task).is_per_token else output
        return answers.astype(np.float32)

    def _difference(self, worst: float) -> GateRow:
        allowed = limits_of(self.manifest.encoder.precision).difference
        if not worst <= allowed:
            raise GateError("parity", f"the plan differs from ONNX Runtime by {worst:.2e}, {allowed:g} is allowed")
        detail = f"largest difference {worst:.1e}, {allowed:g} allowed"
        return GateRow("parity", PASSED, detail, worst, allowed)


def _require_finite(answers: Array, profile: Profile) -> None:
    if not np.isfinite(answers).all():
        raise GateError("finite", f"the plan answers NaN or infinity for rows of {profile.tokens} tokens")


def _agreement(same: int, total: int) -> GateRow:
    share = same / total
    if share < _AGREEMENT:
        raise GateError("agreement", f"{share:.2%} of {total} labels are the graph's, {_AGREEMENT:.1%} are needed")
    return GateRow("agreement", PASSED, f"{share:.2%} of {total} labels are the graph's", share, _AGREEMENT)
