"""What lies in a checkpoint's folder and is no file that can be read is named before any library stumbles over it."""

import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from converters.sources import checkpoint, open_source
from tests.conftest import CHECKPOINT, TASK
from trireme.errors import CheckpointError

_POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 123456789\n"


def replaced(make: Callable[[Path], object]) -> Callable[[Path], None]:
    """Puts something else in the place of a file."""

    def put(path: Path) -> None:
        path.unlink()
        make(path)

    return put


def bind(path: Path) -> None:
    """A socket."""
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


ODD: dict[str, tuple[Callable[[Path], None], str]] = {
    "a link to nothing": (replaced(lambda path: path.symlink_to("nowhere")), "is a link to nowhere, which cannot be"),
    "a link to itself": (
        replaced(lambda path: path.symlink_to(path.name)),
        "is a link to .*, which cannot be followed",
    ),
    "a link to a device": (replaced(lambda path: path.symlink_to("/dev/zero")), "is a device, not a file"),
    "a named pipe": (replaced(os.mkfifo), "is a named pipe, not a file"),
    "a socket": (replaced(bind), "is a socket, not a file"),
    "a folder": (replaced(Path.mkdir), "is a folder, not a file"),
    "a git-lfs pointer": (lambda path: path.write_text(_POINTER) and None, "is a git-lfs pointer.*run `git lfs pull`"),
}


@pytest.mark.parametrize("name", ["config.json", "model_state.pdparams", "vocab.txt"])
@pytest.mark.parametrize("kind", ODD)
def test_what_is_no_file_is_refused_by_name(kind: str, name: str, tmp_path: Path) -> None:
    folder = shutil.copytree(CHECKPOINT, tmp_path / "c")
    put, words = ODD[kind]
    put(folder / name)
    with pytest.raises(CheckpointError, match=f"{name} {words}") as refusal:
        open_source(folder, TASK)
    assert "\n" not in str(refusal.value)


def test_a_dangling_link_in_the_place_of_the_folder_is_told_as_one(tmp_path: Path) -> None:
    (tmp_path / "latest").symlink_to("run-7")
    with pytest.raises(CheckpointError, match="latest: is a link to run-7, which is not there"):
        open_source(tmp_path / "latest", TASK)


def test_a_folder_with_states_of_an_optimizer_is_read_without_them(tmp_path: Path) -> None:
    folder = shutil.copytree(CHECKPOINT, tmp_path / "c")
    with (folder / "optimizer.pdopt").open("wb") as stream:
        stream.truncate(4 << 30)
    weights = folder / "model_state.pdparams"
    copy = checkpoint.copy_of(folder, tmp_path / "scratch", weights)
    assert {path.name for path in copy.iterdir()} == {path.name for path in CHECKPOINT.iterdir()}
    assert checkpoint.hashes_of(folder, weights).keys() == {path.name for path in CHECKPOINT.iterdir()}


def test_an_index_that_names_a_file_outside_the_folder_is_refused(tmp_path: Path) -> None:
    folder = shutil.copytree(CHECKPOINT, tmp_path / "c")
    (folder / "model_state.pdparams").unlink()
    (folder / checkpoint.INDEX).write_text('{"weight_map": {"a": "../../etc/passwd"}}')
    with pytest.raises(CheckpointError, match="names ../../etc/passwd, which is no file's name"):
        open_source(folder, TASK)


@pytest.mark.parametrize("content", ["[]", "null", "[" * 100_000, "\ufeff{}", "{", '{"a": NaN'], ids=repr)
def test_a_config_that_is_no_json_object_is_refused(content: str, tmp_path: Path) -> None:
    folder = shutil.copytree(CHECKPOINT, tmp_path / "c")
    (folder / "config.json").write_text(content, encoding="utf-8")
    with pytest.raises(CheckpointError, match=r"config\.json (is not a JSON object|cannot be read|is nested too deep)"):
        open_source(folder, TASK)
