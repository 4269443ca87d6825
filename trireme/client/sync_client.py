"""Asks one pipeline and waits for the answers."""

from collections.abc import Sequence

from tenacity import Retrying

from trireme.client import codecs
from trireme.client.address import Address
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
from trireme.client.sync_transports import sync_transport
from trireme.client.terms import Terms


class Client:
    """A pipeline's client. Its methods are the tasks; the one that fits is the pipeline's own.

    Lists of any length are cut into requests of 64 rows, sent one after the other, and answered in order. `timeout_s`
    covers a whole call, retries included. `key` names a user: during a canary the same key meets the same release.
    Safe for threads. Close it, or use it in a `with` statement.

    Every method raises:
        UnavailableError: the server cannot be reached, also not on trying again.
        TimedOutError: the time is over.
        UnknownPipelineError: the server has no such pipeline.
        WrongTaskError: the method is not the pipeline's task.
        RefusedInputError: the server refused an input; the message names it and its row.
        InferenceError: the server failed the request otherwise.
    """

    def __init__(
        self, address: Address | str, pipeline: str, timeout_s: float = 30.0, retries: Retries | None = None
    ) -> None:
        self._terms = Terms.of(address, pipeline, timeout_s, retries)
        self._transport = sync_transport(self._terms.address)
        self._signature: Signature | None = None

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._transport.close()

    def classify(
        self, texts: Sequence[str], *, key: str | None = None, timeout_s: float | None = None
    ) -> list[Classification]:
        """One label for each text (text-classification)."""
        return self._ask(codecs.CLASSIFICATION, text_columns(texts), self._terms.call(key, timeout_s))

    def classify_pairs(
        self, texts: Sequence[str], pairs: Sequence[str], *, key: str | None = None, timeout_s: float | None = None
    ) -> list[Classification]:
        """One label for each text together with its pair (text-pair-classification)."""
        return self._ask(codecs.PAIR_CLASSIFICATION, pair_columns(texts, pairs), self._terms.call(key, timeout_s))

    def rerank(
        self, query: str, passages: Sequence[str], *, key: str | None = None, timeout_s: float | None = None
    ) -> list[Relevance]:
        """How well each passage answers the query, in the order given (reranking)."""
        columns = pair_columns([query] * len(passages), passages)
        return self._ask(codecs.RERANKING, columns, self._terms.call(key, timeout_s))

    def tag_labels(
        self, texts: Sequence[str], *, key: str | None = None, timeout_s: float | None = None
    ) -> list[LabelSet]:
        """All labels of each text that reach their thresholds (multi-label-classification)."""
        return self._ask(codecs.MULTI_LABEL, text_columns(texts), self._terms.call(key, timeout_s))

    def recognize_entities(
        self, texts: Sequence[str], *, key: str | None = None, timeout_s: float | None = None
    ) -> list[Entities]:
        """The entities of each text (token-classification)."""
        return self._ask(codecs.ENTITIES, text_columns(texts), self._terms.call(key, timeout_s))

    def embed(
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
        return self._ask(codecs.EMBEDDING, text_columns(texts), self._terms.call(key, timeout_s, prompt))

    def extract(
        self, texts: Sequence[str], schema: Schema, *, key: str | None = None, timeout_s: float | None = None
    ) -> list[Extraction]:
        """What a schema asks, found in each text (information-extraction)."""
        return self._ask(codecs.EXTRACTION, schema_columns(texts, schema), self._terms.call(key, timeout_s))

    def infer(
        self,
        columns: Columns,
        *,
        prompt: str | None = None,
        key: str | None = None,
        timeout_s: float | None = None,
    ) -> Outputs:
        """A pipeline's raw outputs, whatever its task: for each input one text a row."""
        return self._infer(columns, self._terms.call(key, timeout_s, prompt))

    def task_name(self) -> str:
        """The pipeline's task, as the server's metadata tells it.

        Raises:
            NoTaskError: the model is no pipeline.
        """
        return self._terms.task_of(self._described(self._terms.call()))

    def _ask(self, codec: Codec[Result], columns: Columns, call: Call) -> Result:
        self._terms.require_task(self._described(call), codec)
        return codec.decode(self._infer(columns, call))

    def _infer(self, columns: Columns, call: Call) -> Outputs:
        replies = [self._send(request) for request in requests_of(call, columns)]
        return joined(replies, self._described(call))

    def _send(self, request: Request) -> Reply:
        return Retrying(**self._terms.retries.options(request.call))(self._transport.infer, request)

    def _described(self, call: Call) -> Signature:
        """What the pipeline takes and gives: asked once, since a contract never changes."""
        if self._signature is None:
            retrying = Retrying(**self._terms.retries.options(call))
            self._signature = retrying(self._transport.signature, call)
        return self._signature
