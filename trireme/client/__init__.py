"""A typed client whose methods are the tasks: sync and async, over HTTP and gRPC.

What a task's method takes and what its answer means stand in the task's own module, in `text_runtime.tasks`; how a
request looks on the wire stands once a protocol, in `wires.py`. The four transports only send. `Client` and
`AsyncClient` cut long lists into requests, keep time, and retry where that is safe.
"""

from text_runtime.tasks import Outputs
from text_runtime.tasks.embedding import Embeddings
from text_runtime.tasks.information_extraction import Extraction, Span
from text_runtime.tasks.multi_label_classification import LabelScore, LabelSet
from text_runtime.tasks.reranking import Relevance
from text_runtime.tasks.text_classification import Classification
from text_runtime.tasks.text_generation import Generation, Piece, TokenLogprob
from text_runtime.tasks.token_classification import Entities, Entity
from trireme.client.address import Address
from trireme.client.async_client import AsyncClient
from trireme.client.retries import Retries
from trireme.client.sync_client import Client

__all__ = [
    "Address",
    "AsyncClient",
    "Classification",
    "Client",
    "Embeddings",
    "Entities",
    "Entity",
    "Extraction",
    "Generation",
    "LabelScore",
    "LabelSet",
    "Outputs",
    "Piece",
    "Relevance",
    "Retries",
    "Span",
    "TokenLogprob",
]
