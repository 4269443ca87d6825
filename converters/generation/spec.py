"""What a user asks the export of a model that writes for."""

from pathlib import Path
from typing import Annotated

from msgspec import Meta

from converters.schema import Schema
from trireme.errors import UnsupportedError

ENGINES = ("openvino-genai", "vllm")
PRECISIONS = ("fp32", "fp16", "bf16", "int8", "int4")
_OF_ENGINE = {"openvino-genai": ("fp32", "int8", "int4"), "vllm": ("fp32", "fp16", "bf16")}
INFERENCE_PRECISIONS = ("f32", "bf16")
CACHE_PRECISIONS = ("f32", "bf16", "u8")


class GenerationSpec(Schema, frozen=True):
    """What to export, and where to.

    `precision` is that of the weights; None keeps what a GGUF file has, and is fp32 for any other checkpoint.
    `inference_precision` is what the engine computes in, and `cache_precision` what it keeps its KV cache in.
    `dynamic_quantization` rounds activations to int8 where weights are int8 or int4.
    `max_perplexity_percent` is how much worse than the source the release may read real text. `corpus` is such text.
    `python` is the interpreter whose library loads a Hugging Face folder.
    """

    checkpoint: Path
    name: str
    repository: Path = Path("model_repository")
    engine: str = ENGINES[0]
    precision: str | None = None
    inference_precision: str = "f32"
    cache_precision: str = "u8"
    dynamic_quantization: bool = True
    context_length: Annotated[int, Meta(ge=2)] | None = None
    max_perplexity_percent: Annotated[float, Meta(ge=0)] = 1.0
    corpus: Path | None = None
    python: Path | None = None

    def __post_init__(self) -> None:
        for what, value, known in (
            ("engine", self.engine, ENGINES),
            ("precision", self.precision or PRECISIONS[0], PRECISIONS),
            ("inference precision", self.inference_precision, INFERENCE_PRECISIONS),
            ("precision of the KV cache", self.cache_precision, CACHE_PRECISIONS),
        ):
            if value not in known:
                raise UnsupportedError(what, value, list(known))
        if self.precision and self.precision not in _OF_ENGINE[self.engine]:
            raise UnsupportedError(f"precision of {self.engine}", self.precision, list(_OF_ENGINE[self.engine]))
