"""vLLM: continuous batching on GPUs, and the same on a CPU for tests.

It conflicts with what else is installed here, so the worker runs under an interpreter of its own that has it. The
engine's core runs in that very process: it is a process of its own already.
"""

import locale
import os
import time
from collections.abc import Sequence
from typing import Any

from text_runtime.generation.engines.base import CHUNK_TOKENS, EngineSettings, Generator
from text_runtime.generation.messages import Load, Start, Tokens
from text_runtime.generation.sampling import SamplingParameters

_SETTINGS = {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_CONFIGURE_LOGGING": "0",
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
}
_DTYPES = {"fp32": "float32", "fp16": "float16", "bf16": "bfloat16"}
_LOOK_EVERY_S = 0.5
_CACHE_SHARE = "vllm:kv_cache_usage_perc"


class VllmGenerator(Generator):
    """See the module."""

    def __init__(self, settings: EngineSettings) -> None:
        os.environ.update(_SETTINGS | {"VLLM_CPU_KVCACHE_SPACE": str(settings.cache_gib)})
        os.environ.setdefault("OMP_NUM_THREADS", str(settings.threads))
        locale.setlocale(locale.LC_CTYPE, "C.UTF-8")  # Triton's processes would decode its files as ASCII
        from vllm import EngineArgs
        from vllm.v1.engine.llm_engine import LLMEngine

        facts = settings.facts
        self._end_ids = list(facts.end_ids)
        self._live: set[int] = set()
        self._running: set[int] = set()
        self._share, self._looked_at = 0.0, 0.0
        self._engine = LLMEngine.from_engine_args(
            EngineArgs(
                model=str(settings.folder),
                dtype=_DTYPES[facts.precision],
                max_model_len=facts.context_length,
                max_num_seqs=settings.max_sequences,
                max_num_batched_tokens=max(CHUNK_TOKENS, settings.max_sequences),
                enable_prefix_caching=True,
                enable_chunked_prefill=True,
                disable_log_stats=False,
            )
        )

    def start(self, start: Start) -> None:
        """See the base class."""
        parameters = _parameters(start.sampling, start.schema, self._end_ids)
        self._engine.add_request(str(start.sequence), {"prompt_token_ids": start.ids}, parameters)
        self._live.add(start.sequence)

    def cancel(self, sequence: int) -> None:
        """See the base class."""
        if sequence in self._live:
            self._forget(sequence)
            self._engine.abort_request([str(sequence)])

    def step(self) -> list[Tokens]:
        """See the base class."""
        added = [_tokens(output, self._end_ids) for output in self._engine.step()]
        for tokens in added:
            self._running.add(tokens.sequence)
            if tokens.finish_reason:
                self._forget(tokens.sequence)
        return added

    def score(self, ids: Sequence[int]) -> list[float]:
        """See the base class."""
        from vllm import SamplingParams

        parameters = SamplingParams(max_tokens=1, temperature=0, prompt_logprobs=0, detokenize=False)
        self._engine.add_request("score", {"prompt_token_ids": list(ids)}, parameters)
        found: list[float] = []
        while self._engine.has_unfinished_requests():
            for output in self._engine.step():
                told = list(zip(ids, output.prompt_logprobs or [], strict=False))
                found = found or [places[token].logprob for token, places in told if places]
        return found

    @property
    def is_idle(self) -> bool:
        """See the base class."""
        return not self._engine.has_unfinished_requests()

    @property
    def load(self) -> Load:
        """See the base class. A sequence runs from its first token on."""
        now = time.monotonic()
        if now - self._looked_at > _LOOK_EVERY_S:
            self._looked_at = now
            found = (metric.value for metric in self._engine.get_metrics() if metric.name == _CACHE_SHARE)
            self._share = float(next(found, 0.0))
        running = len(self._running)
        return Load(running, len(self._live) - running, self._share if self._live else 0.0)

    def _forget(self, sequence: int) -> None:
        self._live.discard(sequence)
        self._running.discard(sequence)


def _parameters(sampling: SamplingParameters, schema: str, end_ids: list[int]) -> Any:
    from vllm import SamplingParams
    from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams

    return SamplingParams(
        max_tokens=sampling.max_tokens,
        min_tokens=sampling.min_tokens,
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        top_k=max(0, sampling.top_k),
        min_p=sampling.min_p,
        seed=sampling.seed,
        presence_penalty=sampling.presence_penalty,
        frequency_penalty=sampling.frequency_penalty,
        repetition_penalty=sampling.repetition_penalty,
        ignore_eos=sampling.ignore_eos,
        stop_token_ids=[] if sampling.ignore_eos else end_ids,
        logprobs=0 if sampling.logprobs else None,
        detokenize=False,
        output_kind=RequestOutputKind.DELTA,
        structured_outputs=StructuredOutputsParams(json=schema) if schema else None,
    )


def _tokens(output: Any, end_ids: list[int]) -> Tokens:
    (part,) = output.outputs
    ids, reason = list(part.token_ids), part.finish_reason or ""
    kept = len(ids) - 1 if reason == "stop" and ids and ids[-1] in end_ids else len(ids)
    places = list(zip(ids, part.logprobs or [], strict=False))
    logprobs = [place[token].logprob for token, place in places][:kept]
    return Tokens(int(output.request_id), ids[:kept], logprobs, reason)
