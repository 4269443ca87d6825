"""What the answers of each task mean. A new task is one module beside this file and one line in `_ALL`."""

from typing import Any

from trireme.client.codecs.base import Answer, Codec
from trireme.client.codecs.classification import Classification, PairClassificationCodec, TextClassificationCodec
from trireme.client.codecs.embedding import Embedding, EmbeddingCodec, Embeddings
from trireme.client.codecs.entities import Entities, EntitiesCodec, Entity
from trireme.client.codecs.extraction import Extraction, ExtractionCodec, Span
from trireme.client.codecs.multi_label import LabelScore, LabelSet, MultiLabelCodec
from trireme.client.codecs.reranking import Relevance, RerankingCodec

CLASSIFICATION = TextClassificationCodec()
PAIR_CLASSIFICATION = PairClassificationCodec()
MULTI_LABEL = MultiLabelCodec()
RERANKING = RerankingCodec()
ENTITIES = EntitiesCodec()
EMBEDDING = EmbeddingCodec()
EXTRACTION = ExtractionCodec()

_ALL: tuple[Codec[Any], ...] = (
    CLASSIFICATION,
    PAIR_CLASSIFICATION,
    MULTI_LABEL,
    RERANKING,
    ENTITIES,
    EMBEDDING,
    EXTRACTION,
)
_CODECS = {codec.task_name: codec for codec in _ALL}

__all__ = [
    "Answer",
    "Classification",
    "Codec",
    "Embedding",
    "Embeddings",
    "Entities",
    "Entity",
    "Extraction",
    "LabelScore",
    "LabelSet",
    "Relevance",
    "Span",
    "codec_names",
    "codec_of",
]


def codec_of(task_name: str) -> Codec[Any]:
    """The codec of a task.

    Raises:
        KeyError: there is none.
    """
    return _CODECS[task_name]


def codec_names() -> list[str]:
    """The tasks that have a codec, sorted."""
    return sorted(_CODECS)
