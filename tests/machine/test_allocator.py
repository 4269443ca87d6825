"""Which allocator a process is started with."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from trireme.errors import AllocatorError
from trireme.machine import allocator
from trireme.machine.allocator import with_allocator


def test_mimalloc_is_preloaded_and_what_was_there_stays() -> None:
    environment = with_allocator({"HOME": "/somewhere"})
    assert Path(environment["LD_PRELOAD"]).name.startswith("libmimalloc.so")
    assert environment["HOME"] == "/somewhere"


def test_every_engine_lives_with_it() -> None:
    code = "import openvino, onnxruntime, tokenizers, paddle; print(openvino.Core().available_devices)"
    done = subprocess.run(
        [sys.executable, "-c", code], env=with_allocator(os.environ), capture_output=True, text=True, check=False
    )
    assert "CPU" in done.stdout, done.stderr
    assert done.returncode == 0


def test_what_the_user_preloads_goes_first() -> None:
    chosen = with_allocator({"LD_PRELOAD": "/usr/lib/libtcmalloc.so.4"})["LD_PRELOAD"]
    assert chosen.split(":")[0] == "/usr/lib/libtcmalloc.so.4"
    assert "libmimalloc.so" in chosen.split(":")[1]


def test_without_the_package_the_environment_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allocator, "_PACKAGE", "no-such-package")
    assert with_allocator({"HOME": "/somewhere"}) == {"HOME": "/somewhere"}


def test_another_library_can_be_chosen_and_none() -> None:
    other = __file__
    assert with_allocator({"TRIREME_ALLOCATOR": other})["LD_PRELOAD"] == other
    assert "LD_PRELOAD" not in with_allocator({"TRIREME_ALLOCATOR": ""})


def test_a_chosen_library_that_is_not_there_is_refused() -> None:
    with pytest.raises(AllocatorError, match=r"TRIREME_ALLOCATOR: there is no library /no/such\.so; give"):
        with_allocator({"TRIREME_ALLOCATOR": "/no/such.so"})


@pytest.mark.parametrize("path", ["/my models/libmimalloc.so", "/a:b/libmimalloc.so"])
def test_a_path_that_the_loader_would_split_is_not_preloaded(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.setattr(allocator, "_library", lambda: path)
    assert with_allocator({}) == {}
