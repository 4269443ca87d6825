"""What a user asks the export of a model that writes for."""

from pathlib import Path
from typing import Annotated

from msgspec import Meta

from converters.generation.precisions import METHODS
from converters.precisions import PrecisionError
from converters.schema import Schema
from trireme.errors import UnsupportedError

VLLM = "vllm"
ENGINES = ("openvino-genai", VLLM)
PRECISIONS = ("fp32", "fp16", "bf16", "int8", "int4")
_OF_ENGINE = {"openvino-genai": ("fp32", "int8", "int4"), VLLM: ("fp32", "fp16", "bf16")}
INFERENCE_PRECISIONS = ("f32", "bf16")
CACHE_PRECISIONS = ("f32", "bf16", "u8")


class GenerationSpec(Schema, frozen=True):
    """What to export, and where to.

    `precision` is that of the weights; None keeps what a GGUF file has, and is fp32 for any other checkpoint.
    `inference_precision` is what the engine computes in, by default f32, `cache_precision` what its KV cache is kept
    in, by default u8; vLLM has both as the weights.
    `dynamic_quantization` rounds activations to int8 where weights are int8 or int4.
    `prompt_lookup` is how many tokens are guessed at a time from what stands in the text already; 0 guesses none.
    `method` is the way to int4 that looks at `calibration`, real texts that no gate reads; None is the one without.
    `max_perplexity_percent` is how much worse than the source the release may read real text. `corpus` is such text.
    `python` is the interpreter whose library loads a Hugging Face folder.
    """

    checkpoint: Path
    name: str
    repository: Path = Path("model_repository")
    engine: str = ENGINES[0]
    precision: str | None = None
    inference_precision: str | None = None
    cache_precision: str | None = None
    dynamic_quantization: bool = True
    prompt_lookup: Annotated[int, Meta(ge=0, le=16)] = 0
    method: str | None = None
    calibration: Path | None = None
    context_length: Annotated[int, Meta(ge=2)] | None = None
    max_perplexity_percent: Annotated[float, Meta(ge=0)] = 1.0
    corpus: Path | None = None
    python: Path | None = None

    def __post_init__(self) -> None:
        for what, value, known in (
            ("engine", self.engine, ENGINES),
            ("precision", self.precision or PRECISIONS[0], PRECISIONS),
            ("inference precision", self.inference_precision or INFERENCE_PRECISIONS[0], INFERENCE_PRECISIONS),
            ("precision of the KV cache", self.cache_precision or CACHE_PRECISIONS[0], CACHE_PRECISIONS),
            ("method", self.method or METHODS[0], METHODS),
        ):
            if value not in known:
                raise UnsupportedError(what, value, list(known))
        self._require_method()
        if self.prompt_lookup and self.engine != ENGINES[0]:
            raise UnsupportedError("engine with prompt lookup", self.engine, [ENGINES[0]])
        if self.engine == VLLM and (self.inference_precision or self.cache_precision):
            problem = "it computes, and keeps its cache, in the precision of the weights"
            raise PrecisionError(self.engine, problem, "leave --inference-precision and --cache-precision out")
        if self.precision and self.precision not in _OF_ENGINE[self.engine]:
            raise UnsupportedError(f"precision of {self.engine}", self.precision, list(_OF_ENGINE[self.engine]))

    def _require_method(self) -> None:
        if not self.method:
            return
        if self.precision != "int4" or self.engine != ENGINES[0]:
            raise PrecisionError(
                f"method {self.method}", "it is a way to int4", f"use it with --precision int4 --engine {ENGINES[0]}"
            )
        if self.calibration is None:
            remedy = "give --calibration FILE with a few hundred real texts, one a line"
            raise PrecisionError(f"method {self.method}", "it looks at real texts", remedy)
        if self.corpus is not None and self.corpus.resolve() == self.calibration.resolve():
            problem = "the texts that it looks at would judge it too"
            raise PrecisionError(f"method {self.method}", problem, "give --corpus and --calibration different texts")
