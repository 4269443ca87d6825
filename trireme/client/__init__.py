"""A typed client whose methods are the tasks: sync and async, over HTTP and gRPC.

What a task's answer means stands once, in `codecs/`; how a request looks on the wire once a protocol, in `wires.py`.
The four transports only send. `Client` and `AsyncClient` cut long lists into requests, keep time, and retry where that
is safe.
"""

from trireme.client.address import Address
from trireme.client.async_client import AsyncClient
from trireme.client.codecs import (
    Classification,
    Embeddings,
    Entities,
    Entity,
    Extraction,
    LabelScore,
    LabelSet,
    Relevance,
    Span,
)
from trireme.client.exchange import Outputs
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
    "LabelScore",
    "LabelSet",
    "Outputs",
    "Relevance",
    "Retries",
    "Span",
]
