"""Whether there is a backend for a model: here, or at least in NVIDIA's image."""

from collections.abc import Iterator
from difflib import get_close_matches

from trireme.serving.check.model import Model, Models
from trireme.serving.finding import Finding
from trireme.serving.layout import our_backends

_HERE = {"python", *(path.name for path in our_backends())}
# Of the images nvcr.io/nvidia/tritonserver `-py3`, `-vllm-python-py3`, `-trtllm-python-py3`.
_IN_IMAGES = {
    "dali",
    "fil",
    "identity",
    "onnxruntime",
    "openvino",
    "pytorch",
    "repeat",
    "square",
    "tensorflow",
    "tensorrt",
    "tensorrtllm",
    "vllm",
}


def exists(model: Model, models: Models) -> Iterator[Finding]:
    """Triton has a backend of that name, or the model brings its own library."""
    backend = model.backend
    if model.is_ensemble or model.is_relocated or backend in _HERE or _brings_its_own(model):
        return
    if not backend:
        yield model.error("names no backend, and no file tells it", 'write backend: "…"')
    elif backend in _IN_IMAGES:
        remedy = "serve it in NVIDIA's image, or export it for text_encoder"
        yield model.warning(f"backend '{backend}' is not in the Triton that `trireme serve` starts", remedy)
    elif close := get_close_matches(backend, sorted(_HERE | _IN_IMAGES), n=1, cutoff=0.8):
        yield model.error(f"there is no backend '{backend}'", f"write '{close[0]}', if you meant that")
    else:
        remedy = f"put it into the server's backend directory; known are {', '.join(sorted(_HERE | _IN_IMAGES))}"
        yield model.warning(f"backend '{backend}' is in none of NVIDIA's images", remedy)


def _brings_its_own(model: Model) -> bool:
    return any(model.folder.rglob(f"libtriton_{model.backend}.so"))
