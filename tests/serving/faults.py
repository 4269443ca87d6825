"""Every fault that `trireme check` knows: the repository it is put into, how, and what is said about it."""

from dataclasses import dataclass
from enum import Enum

from tests.serving.broken_repositories import (
    Break,
    add,
    all_of,
    cut,
    empty,
    in_manifests,
    remove,
    signed,
    swap,
    write_graph,
)
from trireme.serving.check import READABLE


class Proof(Enum):
    """How a real server takes a fault."""

    LOADS = "Triton loads it: the finding is a warning"
    REFUSED = "Triton refuses to load it"
    HANGS = "Triton 2.51 waits for ever, so no test lets it"
    FAILS = "Triton loads it, and no request gets an answer"
    NOT_SERVED = "Trireme refuses to start a server on it"
    UNPROVEN = "needs a backend that is not in the wheel, or a model that the test does not make"


@dataclass(frozen=True)
class Fault:
    """One fault, put into a copy of `base`. `words` are in its finding, whose check is `check`."""

    base: str
    check: str
    words: str
    edit: Break
    proof: Proof

    @property
    def model(self) -> str:
        """The model that a server is asked to load."""
        return {"demo": "sentiment", "gpu": "sentiment", "spare": "spare"}.get(self.base, "chain")


FIRST, SECOND, CHAIN, SPARE = (f"{name}/config.pbtxt" for name in ("first", "second", "chain", "spare"))
GRAPH, ONNX = "graph/config.pbtxt", "graph/1/model.onnx"
ENCODER, POSTPROCESS = "sentiment_encoder/config.pbtxt", "sentiment_postprocess/config.pbtxt"
_POLICY = "version_policy { specific { versions: [1] } }"
_LATER = "version_policy { specific { versions: [3] } }"
_WARM_UP = 'model_warmup { name: "w" inputs { key: "x" value { data_type: TYPE_FP32 dims: [4] zero_data: true } } }'
_ONE_RELEASE = all_of(*(remove(f"sentiment{step}/2") for step in ("", "_tokenizer", "_encoder", "_postprocess")))
_INPUT = 'input {\n  name: "deadline_ns"\n  data_type: TYPE_INT64\n  dims: [1]\n}\n'
_MAPPED = '_map {\n      key: "deadline_ns"\n      value: "deadline_ns"\n    }\n'
_NO_DEADLINE = all_of(
    swap(ENCODER, _INPUT, ""),
    *(swap("sentiment/config.pbtxt", f"    {way}{_MAPPED}", "") for way in ("input", "output")),
)
_NO_PLAN = all_of(*(remove(f"sentiment_encoder/1/{name}") for name in ("model.plan", "plan.json")))
_TENSOR = '{ name: "w" data_type: TYPE_FP32 dims: [4] }'
_FIRST_STEP = 'step {\n    model_name: "first"'
_PATH = 'parameters { key: "vocabulary" value { string_value: "/home/somebody/vocab.txt" } }'


def _chain(check: str, words: str, edit: Break, proof: Proof = Proof.REFUSED) -> Fault:
    return Fault("chain", check, words, edit, proof)


def _spare(check: str, words: str, edit: Break, proof: Proof = Proof.REFUSED) -> Fault:
    return Fault("spare", check, words, edit, proof)


def _demo(check: str, words: str, edit: Break, proof: Proof = Proof.REFUSED) -> Fault:
    return Fault("demo", check, words, edit, proof)


def _writer(words: str, edit: Break) -> Fault:
    return Fault("writer", "generator", words, edit, Proof.UNPROVEN)


def _graph(words: str, edit: Break, base: str = "onnx", check: str = "graph") -> Fault:
    return Fault(base, check, words, edit, Proof.UNPROVEN)


def _step(maps: str) -> Break:
    """One more step in front of the others."""
    return swap(CHAIN, _FIRST_STEP, f'step {{ model_name: "spare" model_version: 1 {maps} }}\n  {_FIRST_STEP}')


def _in(key: str, value: str) -> str:
    return f'input_map {{ key: "{key}" value: "{value}" }}'


def _out(key: str, value: str) -> str:
    return f'output_map {{ key: "{key}" value: "{value}" }}'


_CONFIGS = {
    "no config": _chain(READABLE, "there is none", remove(FIRST)),
    "unknown field": _chain(READABLE, 'no field named "colour"', add(FIRST, "colour: 3\n")),
    "not a config": _chain(READABLE, "cannot read it", add(FIRST, "{{{\n")),
    "another name": _chain("config", "name 'one' is not", swap(FIRST, 'name: "first"', 'name: "one"')),
    "negative batch": _spare("config", "max_batch_size is -1", swap(SPARE, "size: 8", "size: -1")),
    "large preference": _spare("config", "batches of [16]", swap(SPARE, "ing { }", "ing { preferred_batch_size: 16 }")),
    "ensemble with backend": _chain("config", "the backend 'python'", add(CHAIN, 'backend: "python"\n')),
    "ensemble with warm-up": _chain("config", "with model_warmup", add(CHAIN, _WARM_UP)),
    "ensemble with instances": _chain("config", "with instance_group", add(CHAIN, "instance_group { count: 1 }\n")),
    "no type": _spare("tensors", "has no data_type", swap(SPARE, "data_type: TYPE_FP32", "")),
    "no name": _spare("tensors", "has no name", swap(SPARE, 'name: "s"', "")),
    "dims of 0": _spare("tensors", "dims [0]", swap(SPARE, "[4]", "[0]")),
    "no dims": _spare("tensors", "dims []", swap(SPARE, "dims: [4]", "")),
}
_VERSIONS = {
    "misspelt backend": _chain("backend", "no backend 'phyton'", swap(FIRST, '"python"', '"phyton"')),
    "no backend": _spare(
        "backend",
        "names no backend",
        all_of(swap(SPARE, 'backend: "python"', ""), remove("spare/1/model.py"), add("spare/1/a.txt", "")),
    ),
    "backend of the image": _spare(
        "backend", "is not in the Triton", swap(SPARE, '"python"', '"dali"'), Proof.UNPROVEN
    ),
    "no version": _chain("versions", "no version folder", remove("first/1")),
    "ensemble without version": _chain("versions", "no version folder", remove("chain/1")),
    "empty version": _chain("empty-version", "version 1 is empty", empty("first/1"), Proof.HANGS),
    "empty release": _demo("empty-version", "version 1 is empty", empty("sentiment_encoder/1")),
    "policy for nothing": _chain("version-policy", "loads no version", swap(CHAIN, _POLICY, _LATER)),
    "policy for more": _chain("version-policy", "versions [2]", swap(FIRST, "[1] }", "[1, 2] }"), Proof.LOADS),
    "no such pin": _chain("ensemble-pin", "to version 5", swap(CHAIN, "_version: 1", "_version: 5")),
    "pin left out": _chain("ensemble-pin", "gives no model_version", swap(CHAIN, "model_version: 1", "")),
    "pin not loaded": _chain(
        "ensemble-pin",
        "does not load",
        all_of(swap(FIRST, _POLICY, ""), add("first/2/model.py", "class TritonPythonModel: ...")),
    ),
    "pin evicted next": _chain("evicted-pin", "the next version unloads", swap(FIRST, _POLICY, ""), Proof.LOADS),
    "pins mixed": _demo(
        "mixed-pins",
        "to [1, 2]",
        all_of(
            swap("sentiment/config.pbtxt", "model_version: 1", "model_version: 2"),
            swap("sentiment_tokenizer/config.pbtxt", "versions: [1]", "versions: [1, 2]"),
        ),
        Proof.NOT_SERVED,
    ),
}
_ENSEMBLES = {
    "missing step": _chain("ensemble-steps", "step 'first' is no model", remove("first")),
    "own step": _chain(
        "ensemble-steps",
        "leads back",
        swap(CHAIN, '"first"', '"chain"', 'key: "y" value: "y" }\n  }', 'key: "z" value: "y" }\n  }'),
    ),
    "no such input": _chain(
        "ensemble-map", "has no input 'q'", swap(CHAIN, _in("x", "x"), _in("x", "x") + _in("q", "x"))
    ),
    "no such output": _chain("ensemble-map", "has no output 'q'", swap(CHAIN, _out("z", "z"), _out("q", "z"))),
    "input not given": _chain("ensemble-map", "not given its input 'w'", add(FIRST, f"input {_TENSOR}\n")),
    "nothing given on": _chain("ensemble-result", "gives nothing", _step(_in("s", "x"))),
    "made twice": _chain("ensemble-chain", "'y' is made 2 times", _step(_in("s", "x") + _out("t", "y"))),
    "made in vain": _chain("ensemble-chain", "'u' is made and used by nobody", _step(_in("s", "x") + _out("t", "u"))),
    "unused input": _chain("ensemble-chain", "'w' is made and used by nobody", add(CHAIN, f"input {_TENSOR}\n")),
    "output of nobody": _chain("ensemble-chain", "'w' is made by nobody", add(CHAIN, f"output {_TENSOR}\n")),
    "circle": _chain(
        "ensemble-chain",
        "wait for each other",
        all_of(_step(_in("s", "a") + _out("t", "b")), _step(_in("s", "b") + _out("t", "a"))),
    ),
    "two types": _chain("ensemble-chain", "TYPE_FP32, 'y' of second is TYPE_FP16", swap(SECOND, "FP32", "FP16")),
    "two sizes": _chain("ensemble-chain", "[-1, 4], 'y' of second is [-1, 5]", swap(SECOND, "[4]", "[5]")),
    "two ranks": _chain("ensemble-chain", "[-1, 4], 'y' of second is [-1, 4, 1]", swap(SECOND, "[4]", "[4, 1]")),
    "small step": _chain("ensemble-batch", "only 4 in step 'first'", swap(FIRST, "size: 8", "size: 4")),
}
_QUIET = {
    "not ragged": _spare("ragged", "never batched together: s", swap(SPARE, "[4]", "[-1]"), Proof.LOADS),
    "encoder not ragged": _demo(
        "ragged", "input_ids may vary", swap(ENCODER, "allow_ragged_batch: true", ""), Proof.LOADS
    ),
    "no batching": _spare("batching", "never batched", swap(SPARE, "dynamic_batching { }", ""), Proof.LOADS),
    "no warm-up": _graph("no warm-up", swap(GRAPH, "model_warmup", "# model_warmup"), check="warm-up"),
    "path in config": _spare("absolute-path", "'/home/somebody/vocab.txt'", add(SPARE, _PATH), Proof.LOADS),
    "path in model.py": _spare(
        "absolute-path",
        "names '/opt/ernie/vocab.txt'",
        add("spare/1/model.py", 'V = "/opt/ernie/vocab.txt"\n'),
        Proof.LOADS,
    ),
    "numbered name": _spare(
        "accidental-name", "linear_113.tmp_1", swap(SPARE, '"s"', '"linear_113.tmp_1"'), Proof.LOADS
    ),
}
_FILES = {
    "other file": _chain(
        "artifact", "has no model.py", all_of(remove("first/1/model.py"), add("first/1/a.py", "")), Proof.HANGS
    ),
    "no manifest": _demo("artifact", "has no manifest.json", remove("sentiment_encoder/1/manifest.json")),
    "not Python": _chain("python-model", "is not Python", add("first/1/model.py", "def (:")),
    "no class": _chain("python-model", "no class", swap("first/1/model.py", "class Triton", "class Triton_")),
    "broken graph": _graph("does not load", cut(ONNX)),
    "graph's input left out": _graph("lacks the input 'ids'", swap(GRAPH, "input {", "# input {")),
    "graph's output misnamed": _graph("'scores' is not in", swap(GRAPH, '"logits"', '"scores"')),
    "graph's type": _graph("TYPE_INT32, in 1/model.onnx TYPE_INT64", swap(GRAPH, "INT64", "INT32")),
    "graph's dims": _graph("[-1, 3], in 1/model.onnx [-1, 2]", swap(GRAPH, "[2]", "[3]")),
    "graph's fixed batch": _graph("a fixed number of rows in ids", lambda root: write_graph(root / ONNX, 1)),
    "IR's dims": _graph("[-1, 3], in 1/model.xml [-1, 2]", swap(GRAPH, "[2]", "[3]"), "openvino"),
    "broken IR": _graph("does not load", cut("graph/1/model.xml"), "openvino"),
}
_RELEASES = {
    "broken manifest": _demo("manifest", "cannot be read", add("sentiment_encoder/1/manifest.json", "?")),
    "no such engine": _demo("encoder", "'steam'", in_manifests('"engine": "onnxruntime"', '"engine": "steam"')),
    "no encoder": _demo("encoder", "is missing", signed(remove("sentiment_encoder/1/model.onnx"))),
    "broken encoder": _demo("encoder", "does not load", signed(cut("sentiment_encoder/1/model.onnx"))),
    "encoder's inputs": _demo("encoder", "has the inputs", in_manifests('"token_type_ids"', '"segments"')),
    "encoder's width": _demo(
        "encoder",
        "'logits' is 3 wide, in 1/model.onnx 2",
        all_of(_ONE_RELEASE, swap(ENCODER, "[-1, 2]", "[-1, 3]"), swap(POSTPROCESS, "[-1, 2]", "[-1, 3]")),
        Proof.FAILS,
    ),
    "another version's encoder": _demo("contract", "this version of Trireme gives ['deadline_ns'", _NO_DEADLINE),
    "no tokenizer": _demo("tokenizer", "is missing", signed(remove("sentiment_tokenizer/1/tokenizer.json"))),
    "broken tokenizer": _demo("tokenizer", "does not load", signed(add("sentiment_tokenizer/1/tokenizer.json", "?"))),
    "a label too few": _demo(
        "labels", "1 labels for an encoder of 2", signed(swap("sentiment_postprocess/1/labels.json", '"negative",', ""))
    ),
    "broken tokenizer of a generator": _writer("does not load", signed(add("writer_generator/1/tokenizer.json", "?"))),
    "no template": _writer("is missing", signed(remove("writer_generator/1/chat_template.jinja"))),
    "no such engine of a generator": _writer(
        "'steam'", in_manifests('"engine": "openvino-genai"', '"engine": "steam"')
    ),
    "no plan": Fault("gpu", "plan", "it has no plan yet", _NO_PLAN, Proof.UNPROVEN),
    "another plan": Fault("gpu", "plan", "is not the one", add("sentiment_encoder/1/model.plan", "?"), Proof.UNPROVEN),
    "changed file": _demo(
        "integrity", "was changed", add("sentiment_postprocess/1/labels.json", "\n"), Proof.NOT_SERVED
    ),
    "added file": _demo(
        "integrity", "is not in the manifest", add("sentiment_encoder/1/notes.txt", ""), Proof.NOT_SERVED
    ),
}
FAULTS: dict[str, Fault] = _CONFIGS | _VERSIONS | _ENSEMBLES | _QUIET | _FILES | _RELEASES
