"""embedding: one vector a text, all of them as one array."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from text_runtime.tensors import TRUNCATED_CHARS
from trireme.client.codecs.base import Answer, Codec
from trireme.client.exchange import Outputs


@dataclass(frozen=True, kw_only=True, eq=False)
class Embedding(Answer):
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


class EmbeddingCodec(Codec[Embeddings]):
    """`embedding` FP32 [dimension]."""

    task_name = "embedding"
    method = "embed"

    def decode(self, outputs: Outputs) -> Embeddings:
        """See the base class."""
        cut = outputs[TRUNCATED_CHARS.name][:, 0].tolist()
        return Embeddings(outputs["embedding"], outputs.releases, tuple(cut))

    def rows(self, result: Embeddings) -> list[Embedding]:
        """See the base class."""
        columns = zip(result.vectors, result.releases, result.truncated_chars, strict=True)
        return [Embedding(embedding=vector, release=release, truncated_chars=cut) for vector, release, cut in columns]
