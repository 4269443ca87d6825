"""Compares two releases that write, place by place, along one text.

Two free-running answers are soon different texts, and say nothing. So the current release writes a short answer, and
both are asked for the likeliest token after the prompt and some of its words: how often they agree is what is told.
"""

import itertools
import json
import time
from collections.abc import Sequence

from text_runtime.generation.tensors import EXCLUDE_INPUT, SAMPLING_PARAMETERS, TEXT_INPUT
from text_runtime.routing.split import side_name
from text_runtime.tasks import Asked, rows_of
from trireme.errors import InputError
from trireme.promotion.golden import golden_of
from trireme.promotion.replica import Replica
from trireme.promotion.shadow_report import ShadowReport
from trireme.promotion.spec import PromotionSpec
from trireme.promotion.stopwatch import for_seconds

_ANSWER_TOKENS = 12
_PLACES = 4


def compare_streams(
    spec: PromotionSpec, releases: tuple[int, int], seconds: float, rows: Sequence[Asked]
) -> ShadowReport:
    """Ask the current and the staged release along the same texts, for some seconds.

    Raises:
        InputError: a row has other inputs than `text_input`.
    """
    for number, row in enumerate(rows):
        if set(row) != {TEXT_INPUT.name}:
            raise InputError(TEXT_INPUT.name, f"row {number} has {', '.join(row)}", f"give rows of {TEXT_INPUT.name}")
    release = releases[1]
    asked = [row[TEXT_INPUT.name] for row in rows or rows_of(golden_of(spec.disk, release).columns)]
    report, durations = ShadowReport(), {number: list[float]() for number in releases}
    control = Replica(spec.targets()[0])
    try:
        for prompt in for_seconds(seconds, itertools.cycle(asked)):
            report.add(1, _agreements(control, spec.pipeline, prompt, durations))
    finally:
        control.close()
    report.time(durations)
    return report


def _agreements(control: Replica, pipeline: str, prompt: str, durations: dict[int, list[float]]) -> list[float]:
    """For each place of the current release's answer, 1 where both would go on alike, and 0 where they would not."""
    current, _ = durations
    answer = _write(control, side_name(pipeline, current), prompt, _ANSWER_TOKENS)
    words = answer.split(" ")
    step = max(1, len(words) // _PLACES)
    found = []
    for place in range(0, len(words), step):
        text = " ".join([prompt, *words[1:place]]) if place else prompt
        ours, theirs = (_timed(control, pipeline, number, text, taken) for number, taken in durations.items())
        found.append(float(ours == theirs))
    return found


def _timed(control: Replica, pipeline: str, release: int, text: str, durations: list[float]) -> str:
    began = time.monotonic()
    token = _write(control, side_name(pipeline, release), text, 1)
    durations.append(time.monotonic() - began)
    return token


def _write(control: Replica, model: str, prompt: str, tokens: int) -> str:
    sampling = json.dumps({"temperature": 0, "max_tokens": tokens})
    inputs: dict[str, str | bool] = {
        TEXT_INPUT.name: prompt,
        SAMPLING_PARAMETERS.name: sampling,
        EXCLUDE_INPUT.name: True,
    }
    return control.write(model, inputs).text
