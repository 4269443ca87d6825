"""Records golden requests: what a candidate answers here, in this process, it must answer wherever it is served."""

from typing import Any

import orjson

from converters.candidate import Candidate
from text_runtime.golden import LOW_PRECISION_TOLERANCE, TOLERANCES, GoldenRequests
from text_runtime.local import LocalPipeline, text_tensor
from text_runtime.tasks import task

_TEXTS = (
    "物流很快，质量也好，五星好评！",
    "用了两天就坏了，客服也不理人。",
    "一般",
    "The battery lasts two days, but the screen scratches easily.",
    "价格￥1,299.00，比上次贵了 ２０％ 😀",
    "",
    "屏幕清晰、音质不错；就是包装破了一点，希望下次注意。" * 12,
)
_PAIRS = (*_TEXTS[1:], _TEXTS[0])


def record_golden(candidate: Candidate) -> GoldenRequests:
    """Ask the candidate itself with the code that Triton will run."""
    manifest = candidate.manifest
    chosen = task(manifest.task)
    columns = chosen.columns(_TEXTS + _PAIRS if chosen.texts_a_row > 1 else _TEXTS)
    pipeline = LocalPipeline({step.value: folder for step, folder in candidate.folders.items()}, manifest)
    (answer,) = pipeline([{name: text_tensor(texts) for name, texts in columns.items()}])
    tolerance = TOLERANCES.get(manifest.encoder.precision, LOW_PRECISION_TOLERANCE)
    return GoldenRequests(columns, {name: _plain(column) for name, column in answer.items()}, tolerance)


def _plain(column: Any) -> list[Any]:
    rows: list[Any] = orjson.loads(orjson.dumps(column.tolist(), default=lambda value: value.decode()))
    return rows
