"""The rooms' arrows: who may import whom. `CONTRIBUTING.md` shows the floors."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# From the ground up: a room imports rooms of lower floors only, never its neighbours.
FLOORS = (
    ("text_runtime", "trireme.errors"),
    ("trireme.text_files",),
    ("trireme.contract", "trireme.machine", "python_backends"),
    ("trireme.client", "trireme.admin", "trireme.reports"),
    ("trireme.serving", "trireme.promotion", "converters", "loadtest"),
    ("trireme.gateway",),
    ("trireme.cli",),
    ("examples",),
)
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
FOLDERS = {"text_runtime": "python_backends/text_runtime"}
NO_NETWORK_NO_PADDLE = {
    "paddle",
    "paddlenlp",
    "torch",
    "requests",
    "urllib",
    "urllib3",
    "socket",
    "http",
    "huggingface_hub",
    "tritonclient",
}


def imports_of(path: Path) -> Iterator[str]:
    """Every module that a file imports, also inside functions, as its full dotted name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def room_of(module: str) -> str | None:
    """The room that a dotted name lies in; None for other people's packages, and for `trireme` itself."""
    return next((room for room in FLOOR_OF if module == room or module.startswith(f"{room}.")), None)


def files_of(room: str) -> list[Path]:
    """A room's modules; there is always one."""
    folder = ROOT / FOLDERS.get(room, room.replace(".", "/"))
    found = [*folder.rglob("*.py")] if folder.is_dir() else [folder.with_suffix(".py")]
    if room == "python_backends":
        return [path for path in found if "text_runtime" not in path.relative_to(folder).parts]
    return found


@pytest.mark.parametrize("room", FLOOR_OF)
def test_a_room_imports_only_lower_floors(room: str) -> None:
    for path in files_of(room):
        met = {other for module in imports_of(path) if (other := room_of(module)) and other != room}
        wrong = sorted(other for other in met if FLOOR_OF[other] >= FLOOR_OF[room])
        assert not wrong, f"{path.relative_to(ROOT)} imports {wrong}"


def test_every_module_of_ours_lies_in_a_room() -> None:
    held = {path for room in FLOOR_OF for path in files_of(room)}
    roots = ("trireme", "converters", "loadtest", "python_backends", "examples")
    every = {path for root in roots for path in (ROOT / root).rglob("*.py")}
    assert {str(path.relative_to(ROOT)) for path in every - held} == {"trireme/__init__.py", "trireme/__main__.py"}


def test_the_backends_import_neither_paddle_nor_a_network_library() -> None:
    for path in (ROOT / "python_backends").rglob("*.py"):
        if path.name == "paddle.py":
            continue  # the one engine whose library is Paddle itself
        assert not {name.split(".")[0] for name in imports_of(path)} & NO_NETWORK_NO_PADDLE, path


def test_only_the_client_and_the_administration_speak_to_triton() -> None:
    speaking = ("trireme/client", "trireme/admin", "trireme/machine/grpc_streams.py")
    roots = ("trireme", "converters", "loadtest/bench", "loadtest/scenarios", "examples")
    for path in (path for root in roots for path in (ROOT / root).rglob("*.py")):
        met = {name for name in imports_of(path) if name.startswith("tritonclient")}
        data = {name for name in met if "model_config_pb2" in name}  # messages, no conversation
        assert not met - data or str(path.relative_to(ROOT)).startswith(speaking), path
