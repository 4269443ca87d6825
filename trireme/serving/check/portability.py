"""What holds a model to one machine, or to one run of its converter."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trireme.serving.check.model import Model, Models
from trireme.serving.finding import Finding

_ABSOLUTE = re.compile(r"(?:/[\w.+\-]+){2,}/?")
# The kernel's, the system's and the image's own, and what any machine may fill anew; and paths of URLs.
_EVERYWHERE = re.compile(r"/(?:dev|proc|sys|tmp|bin|etc|usr/bin|var/cache|opt/tritonserver|v\d+)/")
_ACCIDENTAL = re.compile(r".*\.tmp_\d+|fetch_name_\d+|save_infer_model/.*|[a-z_]+_\d+\.w_\d+|\d+")


def paths(model: Model, models: Models) -> Iterator[Finding]:
    """Nothing names a place outside of the repository, in the config or in a Python model."""
    for text in dict.fromkeys(_config_strings(model.config)):
        if _is_absolute(text):
            yield model.warning(
                f"names '{text}'{_absence(text)}", "use $$TRITON_MODEL_DIRECTORY, or the version's folder"
            )
    for path in sorted(model.folder.rglob("*.py")):
        for line, text in _literals(path):
            if _is_absolute(text):
                remedy = 'start from args["model_repository"] and args["model_version"]'
                yield model.warning(f"line {line} names '{text}'{_absence(text)}", remedy, path)


def names(model: Model, models: Models) -> Iterator[Finding]:
    """Tensors have names that the next conversion will give them again."""
    tensors = () if model.is_ensemble else (*model.config.input, *model.config.output)
    accidental = [tensor.name for tensor in tensors if _ACCIDENTAL.fullmatch(tensor.name)]
    if accidental:
        problem = f"a converter numbered the tensors {', '.join(accidental)}: another export may number them otherwise"
        yield model.warning(problem, "rename them in the graph, as `trireme export` does")


def _is_absolute(text: str) -> bool:
    return bool(_ABSOLUTE.fullmatch(text)) and not _EVERYWHERE.match(text)


def _absence(text: str) -> str:
    return "" if Path(text).exists() else ", which is not on this machine"


def _config_strings(message: Any) -> Iterator[str]:
    """Every string in a config, however deep; keys of maps are names, not values."""
    for field, value in message.ListFields():
        if field.message_type is None:
            values = value if field.is_repeated else [value]
            yield from (text for text in values if isinstance(text, str))
        elif field.message_type.GetOptions().map_entry:
            yield from (text for entry in value.values() for text in _strings_of(entry))
        else:
            yield from (text for entry in (value if field.is_repeated else [value]) for text in _config_strings(entry))


def _strings_of(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif hasattr(value, "ListFields"):
        yield from _config_strings(value)


def _literals(path: Path) -> Iterator[tuple[int, str]]:
    """The strings in a Python file with their lines; none where it does not parse, which is another check's."""
    try:
        tree = ast.parse(path.read_bytes() if path.is_file() else b"")
    except (SyntaxError, ValueError, OSError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value
