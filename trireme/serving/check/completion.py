"""What Triton completes by itself where a config leaves something out, if it was not told not to.

It asks the model's backend, which may fill in inputs, outputs and the batch size: of a graph from its file, of a Python
model from the function `auto_complete_config`. The backend itself is told by the file's name, or by the end of the
model's name. Triton's guide lists who completes what (`model_configuration.md`, "Auto-Generated Model Configuration");
`tests/serving/test_completion.py` lets the real Triton complete Python models.
"""

import ast
from pathlib import Path

_FUNCTION, _CLASS = "auto_complete_config", "TritonPythonModel"
_NEVER = {"pytorch", "tensorrtllm", "fil", "square", "repeat", "text_tokenizer", "text_encoder", "text_postprocess"}
_NEVER |= {"text_joined", "text_generator", "text_router", "text_stream_router"}


def completes(backend: str, folder: Path) -> bool:
    """Whether a backend fills in what a model's config leaves out. Of a backend that nobody here knows it may be."""
    if backend == "python":
        return any(_defines_completion(path) for path in folder.glob("*/*.py"))
    return bool(backend) and backend not in _NEVER


def named_backend(name: str) -> str:
    """The backend that a model's name ends in, as `resize.dali`; empty where it has no such end."""
    return name.partition(".")[2]


def why_none_completes(backend: str) -> str:
    """Why Triton writes no config for a model that has none."""
    if not backend:
        return "there is none, and no file tells which backend it is for"
    if backend == "python":
        return f"there is none, and no {_FUNCTION} in model.py says what it would hold"
    return f"there is none, and the backend '{backend}' completes none"


def _defines_completion(path: Path) -> bool:
    try:
        tree = ast.parse(path.read_bytes() if path.is_file() else b"")
    except (SyntaxError, ValueError, OSError):
        return False
    return any(_is_completion(node) for node in ast.walk(tree))


def _is_completion(node: ast.AST) -> bool:
    """The function itself, or an import that may bring it along."""
    if isinstance(node, ast.ImportFrom):
        return any(alias.name in ("*", _CLASS) or alias.asname == _CLASS for alias in node.names)
    return isinstance(node, ast.FunctionDef) and node.name == _FUNCTION
