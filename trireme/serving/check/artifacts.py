"""The files that a backend loads: whether they are there, and whether a `model.py` is a model."""

import ast
from collections.abc import Iterator

from text_runtime.plan import needs_plan
from trireme.serving.check.model import Model, Models
from trireme.serving.check.release_folders import releases_of
from trireme.serving.finding import Finding

_CLASS = "TritonPythonModel"


def exist(model: Model, models: Models) -> Iterator[Finding]:
    """Every version that would be loaded holds the backend's file. Empty ones and plans have checks of their own."""
    built = {folder for folder, manifest in releases_of(model) if needs_plan(manifest)}
    for folder in model.loaded().values():
        if (
            folder not in built
            and model.file_names
            and any(folder.iterdir())
            and not any((folder / name).exists() for name in model.file_names)
        ):
            there = ", ".join(sorted(path.name for path in folder.iterdir()))
            remedy = f"put it there, or name the right one in default_model_filename (there are: {there})"
            yield model.error(f"has no {model.file_name}, which backend '{model.backend}' loads", remedy, folder)


def python_model(model: Model, models: Models) -> Iterator[Finding]:
    """A `model.py` parses and defines the class that Triton makes an instance of."""
    if model.backend != "python":
        return
    for path in model.artifacts():
        if not path.is_file():
            yield model.error("is no file", "put the model there", path)
            continue
        try:
            tree = ast.parse(path.read_bytes())
        except OSError as error:
            yield model.error(f"cannot be read: {error.strerror}", "let the server read it", path)
            continue
        except (SyntaxError, ValueError) as error:
            yield model.error(f"is not Python: {error}", "mend it", path)
            continue
        if not _mentions_class(tree):
            yield model.error(f"defines no class {_CLASS}", "define it: Triton makes one for each instance", path)


def _mentions_class(tree: ast.AST) -> bool:
    """Whether the class is defined, assigned or imported; `import *` may bring it along."""
    for node in ast.walk(tree):
        names = {getattr(node, field, None) for field in ("name", "asname", "id")}
        if _CLASS in names or (isinstance(node, ast.alias) and node.name == "*"):
            return True
    return False
