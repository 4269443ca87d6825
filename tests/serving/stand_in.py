"""What takes a plan's place where there is no GPU: the same graph behind the same config, run by ONNX Runtime.

Only the backend, the device and the profiles differ from what is rendered for a GPU. Triton's own batcher merges,
under the rules that a plan has: no ragged rows, one call of the graph for each batch, all of one shape.
"""

from dataclasses import replace
from pathlib import Path

from tritonclient.grpc.model_config_pb2 import ModelInstanceGroup

from text_runtime.manifest import FILE_NAME, sha256_of
from trireme.contract.configs import render
from trireme.contract.pipelines import Step
from trireme.contract.repository import CONFIG_NAME, Repository

_MODEL = """
import json
import os

import numpy as np
import onnxruntime
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        folder = os.path.join(args["model_repository"], args["model_version"])
        with open(os.path.join(folder, "manifest.json")) as stream:
            self.pad = json.load(stream)["tokenizer"]["pad_token_id"]
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(os.path.join(folder, "model.onnx"), options)
        self.inputs = [value.name for value in self.session.get_inputs()]
        labels = {"pipeline": args["model_name"].removesuffix("_encoder")}
        self.families = [self.family(name) for name in ("tokens", "padding_tokens")]
        self.counters = [family.Metric(labels=labels) for family in self.families]

    def family(self, name):
        name = f"trireme_encoder_{name}_total"
        return pb_utils.MetricFamily(name=name, description="see text_encoder", kind=pb_utils.MetricFamily.COUNTER)

    def execute(self, requests):
        rows = [len(self.array(request, "input_ids")) for request in requests]
        # Fails where the shapes differ: then Triton has merged what a plan could not take.
        feeds = {name: np.concatenate([self.array(request, name) for request in requests]) for name in self.inputs}
        (output,) = self.session.run(None, feeds)
        padding = int((feeds["input_ids"] == self.pad).sum())
        self.counters[0].increment(feeds["input_ids"].size - padding)
        self.counters[1].increment(padding)
        return [self.answer(part) for part in np.split(output, np.cumsum(rows)[:-1])]

    def array(self, request, name):
        return pb_utils.get_input_tensor_by_name(request, name).as_numpy()

    def answer(self, output):
        # What `reshape` in the config does for Triton's own backends.
        window = output[:, None] if output.ndim == 2 else output
        return pb_utils.InferenceResponse([pb_utils.Tensor("logits", window)])
"""


def put_in_place_of_the_plan(root: Path, pipeline: str) -> None:
    """Change the encoder of a pipeline of target `gpu`, release 1, so that a Triton without GPU serves it."""
    repository = Repository(root)
    encoder = repository.step_folder(pipeline, Step.ENCODER)
    config = repository.config(encoder.name)
    config.backend, config.platform = "python", ""
    config.output[0].ClearField("reshape")
    del config.instance_group[:]
    config.instance_group.append(ModelInstanceGroup(count=1, kind=ModelInstanceGroup.KIND_CPU))
    (encoder / CONFIG_NAME).write_text(render(config))
    (encoder / "1" / "model.py").write_text(_MODEL)
    (encoder / "1" / "__pycache__").touch()  # a file by this name, or else the stub writes bytecode into the release
    added = {f"{encoder.name}/{name}": sha256_of(encoder / "1" / name) for name in ("model.py", "__pycache__")}
    manifest = repository.manifest(pipeline, 1)
    content = replace(manifest, files=manifest.files | added).to_json()
    for folder in repository.folders(pipeline):
        (folder / "1" / FILE_NAME).write_bytes(content)
