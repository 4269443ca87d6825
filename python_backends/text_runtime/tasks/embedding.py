"""embedding: one vector for each text. The graph pools; this step merges windows and normalises."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from text_runtime.tasks.agreement import cosine
from text_runtime.tasks.answers import Answer, Asked, Outputs, Question
from text_runtime.tasks.base import Decoder, Encode, Labels, Task, Tensors
from text_runtime.tasks.columns import split_by_request
from text_runtime.tasks.judging import Judge, require
from text_runtime.tasks.scores import merge_windows
from text_runtime.tasks.views import View, asked_cells, numbers
from text_runtime.tensors import NEW_TOKENS, TEXT, TRUNCATED_CHARS, DataType, TensorSpec

_SHORTEST = 1e-12
_SAME = 0.99  # the cosine of a text's vectors from two batches, which are padded differently
_FIRST_VALUES = 5


@dataclass(frozen=True, kw_only=True, eq=False)
class Vector(Answer):
    """One text's vector: FP32 [dimension]."""

    embedding: npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Embeddings:
    """`vectors` FP32 [texts, dimension]; numpy takes the object itself for them.

    `releases` and `truncated_chars` have one entry a text, as in `Answer`. Vectors of two releases must not be
    compared: `releases` shows a call that fell into a promotion.
    """

    vectors: npt.NDArray[np.float32]
    releases: tuple[int | None, ...]
    truncated_chars: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.vectors)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.vectors, dtype=dtype) if copy else np.asarray(self.vectors, dtype=dtype)


class Embedding(Task[Vector]):
    """`embedding` FP32 [dimension]."""

    name = "embedding"
    postprocess_inputs = (NEW_TOKENS,)
    has_labels = False
    library_output = "embedding"

    def outputs(self, width: int) -> tuple[TensorSpec, ...]:
        """See the class."""
        return (TensorSpec("embedding", DataType.FP32, (width,)),)

    def encoder_output(self, width: int) -> TensorSpec:
        """`pooled` FP32 [windows, dimension]."""
        return TensorSpec("pooled", DataType.FP32, (-1, width))

    def decoder(self, labels: Labels, encode: Encode) -> Decoder:
        """Merge, and normalise where the release says so."""
        return _Decoder(labels.is_normalized)

    def ask(
        self,
        texts: Sequence[str],
        *,
        prompt: str | None = None,
        key: str | None = None,
        timeout_s: float | None = None,
    ) -> Question[Embeddings]:
        """A vector for each text: FP32 [texts, dimension] (embedding).

        `prompt` names one of the release's prompts, such as `query`; without it the release's own stands in front.
        """
        return Question(self.name, {TEXT.name: texts}, _together, key, timeout_s, prompt)

    def answer(self, row: Tensors, *, release: int | None, truncated_chars: int) -> Vector:
        """See the base class."""
        return Vector(embedding=row["embedding"], release=release, truncated_chars=truncated_chars)

    def agreement(self, ours: Vector, theirs: Vector) -> float:
        """The cosine of both vectors."""
        return cosine(ours.embedding, theirs.embedding)

    def judge(self) -> Judge[Vector]:
        """Vectors of one dimension, and the same direction for the same text."""
        return _Judge()

    def view(self, asked: Asked, answer: Vector) -> View:
        """The vector's dimension, its beginning and its length."""
        return asked_cells(asked) | {
            "dimension": str(len(answer.embedding)),
            "first values": numbers(answer.embedding[:_FIRST_VALUES].tolist()) + " …",
            "norm": f"{np.linalg.norm(answer.embedding):.4f}",
        }


def _together(outputs: Outputs) -> Embeddings:
    truncated = outputs[TRUNCATED_CHARS.name][:, 0].tolist()
    return Embeddings(outputs["embedding"], outputs.releases, tuple(truncated))


class _Judge(Judge[Vector]):
    def __call__(self, asked: Asked, answer: Vector) -> None:
        vector, first = answer.embedding, self.first_answer(asked, answer).embedding
        require(bool(np.isfinite(vector).all()), "a vector is not finite")
        require(bool(vector.any()), "a vector is zero")
        require(vector.shape == first.shape, "the dimension changed")
        require(cosine(vector, first) >= _SAME, "the same text got another vector")


class _Decoder:
    def __init__(self, is_normalized: bool) -> None:
        self._is_normalized = is_normalized

    def __call__(self, requests: Sequence[Tensors]) -> list[Tensors]:
        merged = [merge_windows(request["pooled"], request["new_tokens"]) for request in requests]
        vectors = np.concatenate(merged)
        if self._is_normalized:
            vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), _SHORTEST)
        return split_by_request({"embedding": vectors.astype(np.float32)}, merged)
