"""Records golden requests: what a candidate answers here, in this process, it must answer wherever it is served."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import orjson

from converters.gates import Candidate
from text_runtime.batching import BatchingSettings
from text_runtime.cpu import usable_cores
from text_runtime.encoder import EncoderRequest, TextEncoder
from text_runtime.engines import EngineSpec, load_engine
from text_runtime.golden import LOW_PRECISION_TOLERANCE, TOLERANCES, GoldenRequests
from text_runtime.labels import read_labels
from text_runtime.tasks import task
from text_runtime.tensors import TEXT, TEXT_PAIR
from text_runtime.tokenizer import TextTokenizer, TokenizedRow
from trireme.contract import Step

_TEXTS = (
    "物流很快，质量也好，五星好评！",
    "用了两天就坏了，客服也不理人。",
    "一般",
    "The battery lasts two days, but the screen scratches easily.",
    "价格￥1,299.00，比上次贵了 ２０％ 😀",
    "",
    "屏幕清晰、音质不错；就是包装破了一点，希望下次注意。" * 12,
)


def record_golden(candidate: Candidate) -> GoldenRequests:
    """Ask the candidate itself, step by step, with the code that Triton will run."""
    columns = {TEXT.name: list(_TEXTS)}
    pairs = None
    if TEXT_PAIR in task(candidate.manifest.task).inputs:
        pairs = columns[TEXT_PAIR.name] = [*_TEXTS[1:], _TEXTS[0]]
    tokenizer = TextTokenizer(candidate.folders[Step.TOKENIZER], candidate.manifest.tokenizer)
    outputs = _decode(candidate, _encode(candidate, tokenizer.encode(_TEXTS, pairs)))
    tolerance = TOLERANCES.get(candidate.manifest.encoder.precision, LOW_PRECISION_TOLERANCE)
    return GoldenRequests(columns, {name: _plain(column) for name, column in outputs.items()}, tolerance)


def _encode(candidate: Candidate, rows: Sequence[TokenizedRow]) -> list[Any]:
    spec = EngineSpec(candidate.folders[Step.ENCODER], candidate.manifest.encoder, usable_cores())
    encoder = TextEncoder(load_engine(spec), candidate.manifest, BatchingSettings())
    results: dict[int, Any] = {}
    encoder.run([_request(row) for row in rows], results.__setitem__, False)
    return [results[index] for index in range(len(rows))]


def _request(row: TokenizedRow) -> EncoderRequest:
    lengths = np.array([[len(row.ids)]], dtype=np.int32)
    return EncoderRequest(np.array([row.ids]), lengths, np.array([row.type_ids]))


def _decode(candidate: Candidate, encoded: list[Any]) -> dict[str, Any]:
    manifest = candidate.manifest
    decoder = task(manifest.task).decoder(read_labels(candidate.folders[Step.POSTPROCESS], manifest.width))
    decoded = decoder([{manifest.encoder.output: output} for output in encoded])
    return {name: np.concatenate([answer[name] for answer in decoded]) for name in decoded[0]}


def _plain(column: Any) -> list[Any]:
    rows: list[Any] = orjson.loads(orjson.dumps(column.tolist(), default=lambda value: value.decode()))
    return rows
