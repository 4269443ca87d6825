"""A pipeline without a model: three steps on Triton's Python backend that answer zeros, or misbehave as asked."""

import time
from pathlib import Path

import numpy as np
import tritonclient.grpc as triton_grpc
from google.protobuf.text_format import MessageToString

from text_runtime.facts import EncoderFacts, SourceFacts, TokenizerFacts
from text_runtime.manifest import EncoderManifest, sha256_of
from trireme.contract.configs import ensemble_config, step_config
from trireme.contract.pipelines import CHAIN, Contract, Step
from trireme.machine.channels import OWN_CHANNEL

NAME = "parrot"
# `sleep 1.5` as a text keeps the tokenizer waiting for so long, `compute 1.5` busy.
_MODEL = """
import json
import time

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        self.outputs = json.loads(args["model_config"])["output"]

    def execute(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        texts = pb_utils.get_input_tensor_by_name(request, "text")
        rows = pb_utils.get_input_tensor_by_name(request, request.inputs()[0].name()).as_numpy()
        if texts is not None:
            words = texts.as_numpy()[0, 0].decode().split()
            if words[0] == "sleep":
                time.sleep(float(words[1]))
            end = time.monotonic() + (float(words[1]) if words[0] == "compute" else 0)
            while time.monotonic() < end:
                pass
        return pb_utils.InferenceResponse([self.output(output, len(rows)) for output in self.outputs])

    def output(self, output, rows):
        shape = [rows, *(max(1, int(size)) for size in output["dims"])]
        kind = pb_utils.triton_string_to_numpy(output["data_type"])
        filled = np.full(shape, b"" if kind == np.object_ else 0, dtype=kind)
        return pb_utils.Tensor(output["name"], filled)
"""
BROKEN_MODEL = """
class TritonPythonModel:
    def initialize(self, args):
        raise ValueError("the labels are gone")
"""


def write_pipeline(root: Path, name: str = NAME, instances: int = 1, broken: Step | None = None) -> Path:
    """Write release 1 of a pipeline into a repository; gives the repository."""
    contract = Contract(name, "text-classification", 2)
    files = {}
    for step in CHAIN:
        folder = root / step.model_name(name)
        (folder / "1").mkdir(parents=True)
        config = step_config(contract, step, [1])
        config.backend = "python"
        config.instance_group[0].count = instances
        (folder / "config.pbtxt").write_text(MessageToString(config))
        model = folder / "1" / "model.py"
        model.write_text(f"# {step.value}\n{BROKEN_MODEL if step is broken else _MODEL}")
        # A file by this name: else the stub, whatever its environment says, writes bytecode into the release.
        cache = folder / "1" / "__pycache__"
        cache.touch()
        files |= {f"{folder.name}/{path.name}": sha256_of(path) for path in (model, cache)}
    (root / name / "1").mkdir(parents=True)
    (root / name / "config.pbtxt").write_text(MessageToString(ensemble_config(contract, 1)))
    _write_manifests(root, name, files)
    return root


def _write_manifests(root: Path, name: str, files: dict[str, str]) -> None:
    source = SourceFacts("throwaway", name, "none", {})
    encoder = EncoderFacts("none", "fp32", "model.py", ("input_ids",), "logits")
    manifest = EncoderManifest(
        name, 1, "text-classification", "2026-01-01T00:00:00Z", "0", source,
        files=files, width=2, tokenizer=TokenizerFacts(16, 0), encoder=encoder,
    )  # fmt: skip
    for folder in (name, *(step.model_name(name) for step in CHAIN)):
        (root / folder / "1" / "manifest.json").write_bytes(manifest.to_json())


def ask(grpc_url: str, text: str = "好", name: str = NAME, timeout_s: float = 30.0) -> None:
    """Send one text through a pipeline, over a connection of its own."""
    tensor = triton_grpc.InferInput("text", [1, 1], "BYTES")
    tensor.set_data_from_numpy(np.array([[text.encode()]], dtype=np.object_))
    with triton_grpc.InferenceServerClient(grpc_url, channel_args=OWN_CHANNEL) as client:
        client.infer(name, [tensor], client_timeout=timeout_s)


def seconds_until_answered(grpc_url: str, within_s: float, name: str = NAME) -> float:
    """Seconds until a pipeline answers again."""
    begin = time.monotonic()
    while (waited := time.monotonic() - begin) < within_s:
        try:
            ask(grpc_url, name=name)
        except Exception:
            time.sleep(0.05)
        else:
            return waited
    raise AssertionError(f"no answer within {within_s} s")


def regions_of(folder: Path) -> set[str]:
    """The shared-memory segments of the server with this private folder."""
    return {path.name for path in Path("/dev/shm").glob(f"{folder.name}*")}
