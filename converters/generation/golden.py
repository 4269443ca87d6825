"""Records golden requests of a release that writes: greedy answers that it must give again wherever it is served."""

import json

from tokenizers import Tokenizer

from converters.generation.corpus import PROMPTS
from converters.generation.gates import GenerationCandidate
from text_runtime.generation.files import TOKENIZER_NAME
from text_runtime.generation.tensors import SAMPLING_PARAMETERS, TEXT_INPUT, TEXT_OUTPUT
from text_runtime.golden import GoldenRequests

_TOKENS = 12
_EXACT_TOLERANCE, _LOSSY_TOLERANCE = 0.1, 0.3
"""How far answers may differ together: of other cores even an exact engine rounds a near tie otherwise."""


def record_golden(candidate: GenerationCandidate) -> GoldenRequests:
    """The beginnings of the answers that the gates have heard."""
    tokenizer = Tokenizer.from_file(str(candidate.folder / TOKENIZER_NAME))
    texts = [tokenizer.decode(ids[:_TOKENS]) for ids in candidate.answers]
    sampling = json.dumps({"temperature": 0, "max_tokens": _TOKENS})
    columns = {TEXT_INPUT.name: list(PROMPTS), SAMPLING_PARAMETERS.name: [sampling] * len(PROMPTS)}
    tolerance = _EXACT_TOLERANCE if candidate.is_exact else _LOSSY_TOLERANCE
    return GoldenRequests(columns, {TEXT_OUTPUT.name: list(texts)}, tolerance)
