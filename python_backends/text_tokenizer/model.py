"""The Triton backend `text_tokenizer`: a thin shell over `text_runtime.tokenizer`."""

from pathlib import Path
from typing import Any

import numpy as np
import triton_python_backend_utils as pb_utils

from text_runtime.manifest import read_manifest
from text_runtime.tasks import task
from text_runtime.tensors import INPUT_IDS, LENGTHS, TEXT, TEXT_PAIR, TOKEN_TYPE_IDS, TRUNCATED_CHARS
from text_runtime.texts import read_texts
from text_runtime.tokenizer import TextTokenizer, TokenizedRow, pad_rows


class TritonPythonModel:
    """One instance of a tokenizer step."""

    def initialize(self, args: dict[str, str]) -> None:
        """Load the release's tokenizer; a broken release refuses to load here."""
        folder = Path(pb_utils.get_model_dir())
        manifest = read_manifest(folder)
        self._has_pairs = TEXT_PAIR in task(manifest.task).inputs
        self._pad = manifest.tokenizer.pad_token_id
        self._tokenizer = TextTokenizer(folder, manifest.tokenizer)

    def execute(self, requests: list[Any]) -> list[Any]:
        """Tokenize the texts of all requests in one call."""
        responses: list[Any] = [None] * len(requests)
        texts: list[str] = []
        pairs: list[str] = []
        good: list[tuple[int, int]] = []
        for index, request in enumerate(requests):
            try:
                rows = _texts(request, TEXT.name)
                partners = _texts(request, TEXT_PAIR.name) if self._has_pairs else []
            except ValueError as error:
                responses[index] = _refusal(error)
                continue
            texts += rows
            pairs += partners
            good.append((index, len(rows)))
        encoded = iter(self._tokenizer.encode(texts, pairs if self._has_pairs else None) if texts else [])
        for index, count in good:
            responses[index] = self._response([next(encoded) for _ in range(count)])
        return responses

    def _response(self, rows: list[TokenizedRow]) -> Any:
        tensors = [
            pb_utils.Tensor(INPUT_IDS.name, pad_rows([row.ids for row in rows], self._pad)),
            pb_utils.Tensor(LENGTHS.name, np.array([[len(row.ids)] for row in rows], dtype=np.int32)),
            pb_utils.Tensor(TRUNCATED_CHARS.name, np.array([[row.truncated_chars] for row in rows], dtype=np.int32)),
        ]
        if self._has_pairs:
            tensors.append(pb_utils.Tensor(TOKEN_TYPE_IDS.name, pad_rows([row.type_ids for row in rows], 0)))
        return pb_utils.InferenceResponse(tensors)


def _texts(request: Any, name: str) -> list[str]:
    return read_texts(name, pb_utils.get_input_tensor_by_name(request, name).as_numpy())


def _refusal(error: Exception) -> Any:
    return pb_utils.InferenceResponse(error=pb_utils.TritonError(str(error), pb_utils.TritonError.INVALID_ARG))
