"""The rooms' arrows: who may import whom. See the layout in CONTRIBUTING.md."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = {"trireme", "converters", "serving", "promotion", "gateway", "loadtest", "text_runtime", "examples"}
ALLOWED = {
    "trireme": {"text_runtime"},
    "converters": {"trireme", "text_runtime"},
    "serving": {"trireme", "text_runtime"},
    "promotion": {"trireme", "text_runtime"},
    "gateway": {"trireme", "text_runtime"},
    "loadtest": {"trireme", "text_runtime"},
    "python_backends": {"text_runtime"},
}
NO_NETWORK_NO_PADDLE = {
    "paddle",
    "paddlenlp",
    "requests",
    "urllib",
    "urllib3",
    "socket",
    "http",
    "huggingface_hub",
    "tritonclient",
}


def imports_of(path: Path) -> set[str]:
    """Top-level packages that a module imports, also inside functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.add(node.module.split(".")[0])
    return found


@pytest.mark.parametrize("room", ALLOWED)
def test_a_room_imports_only_the_rooms_below_it(room: str) -> None:
    for path in (ROOT / room).rglob("*.py"):
        if path == ROOT / "trireme" / "cli.py" or path.parent == ROOT / "trireme" / "commands":
            continue
        foreign = imports_of(path) & ROOMS - ALLOWED[room] - {room}
        assert not foreign, f"{path.relative_to(ROOT)} imports {sorted(foreign)}"


def test_the_backends_import_neither_paddle_nor_a_network_library() -> None:
    for path in (ROOT / "python_backends").rglob("*.py"):
        if path.name == "paddle.py":
            continue  # the one engine whose library is Paddle itself
        assert not imports_of(path) & NO_NETWORK_NO_PADDLE, path
