"""OpenVINO GenAI's continuous batching: a paged KV cache, prefix caching, and prompts read in pieces, on a CPU."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import openvino
import openvino_genai as genai

from text_runtime.facts import GeneratorFacts
from text_runtime.generation.engines.base import (
    CHUNK_TOKENS,
    QUANTIZATION_GROUP,
    EngineSettings,
    Generator,
    last_line,
)
from text_runtime.generation.messages import Load, Start, Tokens
from text_runtime.generation.sampling import SamplingParameters

_FINISHED = {genai.GenerationFinishReason.STOP: "stop", genai.GenerationFinishReason.LENGTH: "length"}
_ENDED = {genai.GenerationStatus.FINISHED, genai.GenerationStatus.STOP, genai.GenerationStatus.CANCEL}
_LOOKED_UP = 3
"""So many last tokens are searched for in the text before."""
_NO_ROOM = "the KV cache is too small for it: shorten the prompt, or give the model more (parameter `cache_gib`)"


@dataclass
class _Sequence:
    """A sequence under way. The engine gives a handle up, and with it the sequence, when it is dropped."""

    handle: Any
    wants_logprobs: bool


class OpenVinoGenerator(Generator):
    """See the module."""

    def __init__(self, settings: EngineSettings) -> None:
        facts = settings.facts
        self._facts = facts
        self._sequences: dict[int, _Sequence] = {}
        self._pipeline = genai.ContinuousBatchingPipeline(
            str(settings.folder), _scheduling(settings), "CPU", _properties(facts, settings.threads)
        )

    def start(self, start: Start) -> None:
        """See the base class. Its own checks come first: the engine accepts what it cannot do, and answers nonsense."""
        config = _config(start.sampling, start.schema, self._facts)
        ids = openvino.Tensor(np.array([start.ids], dtype=np.int64))
        try:
            handle = self._pipeline.add_request(start.sequence, ids, config)
        except RuntimeError as error:
            raise ValueError(last_line(error)) from error
        self._sequences[start.sequence] = _Sequence(handle, start.sampling.logprobs > 0)

    def cancel(self, sequence: int) -> None:
        """See the base class."""
        found = self._sequences.pop(sequence, None)
        if found is not None:
            found.handle.cancel()

    def step(self) -> list[Tokens]:
        """See the base class."""
        if self._pipeline.has_non_finished_requests():
            self._pipeline.step()
        given = [self._taken(number, sequence) for number, sequence in self._sequences.items()]
        added = [tokens for tokens in given if tokens is not None]
        for tokens in added:
            if tokens.finish_reason or tokens.error:
                del self._sequences[tokens.sequence]
        return added

    def score(self, ids: Sequence[int]) -> list[float]:
        """See the base class."""
        config = _config(SamplingParameters(max_tokens=1, temperature=0, logprobs=1), "", self._facts)
        config.echo = True
        handle = self._pipeline.add_request(0, openvino.Tensor(np.array([list(ids)], dtype=np.int64)), config)
        found: list[float] = []
        while handle.get_status() == genai.GenerationStatus.RUNNING or handle.can_read():
            self._pipeline.step()
            while handle.can_read():
                (output,) = handle.read().values()
                found += output.generated_log_probs
        return found[1 : len(ids)]

    @property
    def is_idle(self) -> bool:
        """See the base class. A request that was cancelled is let go of by the next step."""
        return not self._sequences and not self._pipeline.has_non_finished_requests()

    @property
    def load(self) -> Load:
        """See the base class."""
        metrics = self._pipeline.get_metrics()
        running = min(len(self._sequences), metrics.scheduled_requests)
        share = metrics.cache_usage / 100 if self._sequences else 0.0
        return Load(running, len(self._sequences) - running, share)

    def _taken(self, number: int, sequence: _Sequence) -> Tokens | None:
        handle = sequence.handle
        status = handle.get_status()
        if status == genai.GenerationStatus.IGNORED:
            return Tokens(number, error=_NO_ROOM)
        if not handle.can_read():
            return Tokens(number, finish_reason="stop") if status in _ENDED else None
        (output,) = handle.read().values()
        ids = list(output.generated_ids)
        finish = _FINISHED.get(output.finish_reason, "")
        kept = len(ids) - 1 if finish == "stop" and ids and ids[-1] in self._facts.end_ids else len(ids)
        logprobs = list(output.generated_log_probs)[:kept] if sequence.wants_logprobs else []
        return Tokens(number, ids[:kept], logprobs, finish)


def _scheduling(settings: EngineSettings) -> Any:
    scheduling = genai.SchedulerConfig()
    scheduling.cache_size = settings.cache_gib
    scheduling.max_num_batched_tokens = max(CHUNK_TOKENS, settings.max_sequences)
    scheduling.max_num_seqs = settings.max_sequences
    scheduling.enable_prefix_caching = True
    scheduling.dynamic_split_fuse = True
    return scheduling


def _properties(facts: GeneratorFacts, threads: int) -> dict[str, Any]:
    properties = {
        "INFERENCE_PRECISION_HINT": facts.inference_precision,
        "KV_CACHE_PRECISION": facts.cache_precision,
        "DYNAMIC_QUANTIZATION_GROUP_SIZE": QUANTIZATION_GROUP if facts.dynamic_quantization else 0,
        "INFERENCE_NUM_THREADS": threads,
    }
    return properties | ({"prompt_lookup": True} if facts.prompt_lookup else {})


def _config(sampling: SamplingParameters, schema: str, facts: GeneratorFacts) -> Any:
    config = genai.GenerationConfig()
    config.max_new_tokens = sampling.max_tokens
    config.min_new_tokens = sampling.min_tokens
    config.ignore_eos = sampling.ignore_eos
    config.stop_token_ids = set() if sampling.ignore_eos else set(facts.end_ids)
    config.eos_token_id = min(facts.end_ids)
    config.apply_chat_template = False
    config.logprobs = sampling.logprobs
    config.repetition_penalty = sampling.repetition_penalty
    config.presence_penalty = sampling.presence_penalty
    config.frequency_penalty = sampling.frequency_penalty
    if sampling.temperature > 0:
        config.do_sample = True
        config.temperature = sampling.temperature
        config.top_p = sampling.top_p
        config.min_p = sampling.min_p
        config.rng_seed = secrets.randbits(31) if sampling.seed is None else sampling.seed
        if sampling.top_k > 0:
            config.top_k = sampling.top_k
    if facts.prompt_lookup:
        config.num_assistant_tokens = facts.prompt_lookup
        config.max_ngram_size = _LOOKED_UP
    if schema:
        config.structured_output_config = genai.StructuredOutputConfig(json_schema=schema)
    return config
