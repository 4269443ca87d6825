"""Asks one pipeline from asyncio."""

from collections.abc import Sequence

from tenacity import AsyncRetrying

from trireme.client import codecs
from trireme.client.address import Address
from trireme.client.async_transports import async_transport
from trireme.client.codecs import (
    Classification,
    Codec,
    Embeddings,
    Entities,
    Extraction,
    LabelSet,
    Relevance,
)
from trireme.client.codecs.base import Result
from trireme.client.columns import Schema, pair_columns, schema_columns, text_columns
from trireme.client.exchange import Call, Columns, Outputs, Reply, Request, Signature, joined, requests_of
from trireme.client.retries import Retries
from trireme.client.terms import Terms


class AsyncClient:
    """`Client` for asyncio: the same methods and errors, to be awaited, in one event loop.

    One call's requests travel one after the other; any number of calls travel at once.
    """

    def __init__(
        self, address: Address | str, pipeline: str, timeout_s: float = 30.0, retries: Retries | None = None
    ) -> None:
        self._terms = Terms.of(address, pipeline, timeout_s, retries)
        self._transport = async_transport(self._terms.address)
        self._signature: Signature | None = None

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connection."""
        await self._transport.close()

    async def classify(
        self, texts: Sequence[str], *, key: str | None = None, timeout_s: float | None = None
    ) -> list[Classification]:
        """One label for each text (text-classification)."""
        return await self._ask(codecs.CLASSIFICATION, text_columns(texts), self._terms.call(key, timeout_s))

    async def classify_pairs(
        self, texts: Sequence[str], pairs: Sequence[str], *, key: str | None = None, timeout_s: float | None = None
    ) -> list[Classification]:
        """One label for each text together with its pair (text-pair-classification)."""
        return await self._ask(codecs.PAIR_CLASSIFICATION, pair_columns(texts, pairs), self._terms.call(key, timeout_s))

    async def rerank(
        self, query: str, passages: Sequence[str], *, key: str | None = None, timeout_s: float | None = None
    ) -> list[Relevance]:
        """How well each passage answers the query, in the order given (reranking)."""
        columns = pair_columns([query] * len(passages), passages)
        return await self._ask(codecs.RERANKING, columns, self._terms.call(key, timeout_s))

    async def tag_labels(
        self, texts: Sequence[str], *, key: str | None = None, timeout_s: float | None = None
    ) -> list[LabelSet]:
        """All labels of each text that reach their thresholds (multi-label-classification)."""
        return await self._ask(codecs.MULTI_LABEL, text_columns(texts), self._terms.call(key, timeout_s))

    async def recognize_entities(
        self, texts: Sequence[str], *, key: str | None = None, timeout_s: float | None = None
    ) -> list[Entities]:
        """The entities of each text (token-classification)."""
        return await self._ask(codecs.ENTITIES, text_columns(texts), self._terms.call(key, timeout_s))

    async def embed(
        self,
        texts: Sequence[str],
        *,
        prompt: str | None = None,
        key: str | None = None,
        timeout_s: float | None = None,
    ) -> Embeddings:
        """A vector for each text: FP32 [texts, dimension] (embedding).

        `prompt` names one of the release's prompts, such as `query`; without it the release's own stands in front.
        """
        return await self._ask(codecs.EMBEDDING, text_columns(texts), self._terms.call(key, timeout_s, prompt))

    async def extract(
        self, texts: Sequence[str], schema: Schema, *, key: str | None = None, timeout_s: float | None = None
    ) -> list[Extraction]:
        """What a schema asks, found in each text (information-extraction)."""
        return await self._ask(codecs.EXTRACTION, schema_columns(texts, schema), self._terms.call(key, timeout_s))

    async def infer(
        self,
        columns: Columns,
        *,
        prompt: str | None = None,
        key: str | None = None,
        timeout_s: float | None = None,
    ) -> Outputs:
        """A pipeline's raw outputs, whatever its task: for each input one text a row."""
        return await self._infer(columns, self._terms.call(key, timeout_s, prompt))

    async def task_name(self) -> str:
        """The pipeline's task, as the server's metadata tells it. Raises as `Client.task_name` does."""
        return self._terms.task_of(await self._described(self._terms.call()))

    async def _ask(self, codec: Codec[Result], columns: Columns, call: Call) -> Result:
        self._terms.require_task(await self._described(call), codec)
        return codec.decode(await self._infer(columns, call))

    async def _infer(self, columns: Columns, call: Call) -> Outputs:
        replies = [await self._send(request) for request in requests_of(call, columns)]
        return joined(replies, await self._described(call))

    async def _send(self, request: Request) -> Reply:
        return await AsyncRetrying(**self._terms.retries.options(request.call))(self._transport.infer, request)

    async def _described(self, call: Call) -> Signature:
        """What the pipeline takes and gives: asked once, since a contract never changes."""
        if self._signature is not None:
            return self._signature
        retrying = AsyncRetrying(**self._terms.retries.options(call))
        signature: Signature = await retrying(self._transport.signature, call)
        self._signature = signature
        return signature
