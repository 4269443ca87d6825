"""The small pieces that need no server."""

from collections import Counter
from pathlib import Path

import pytest

from tests.promotion.releases import NAME
from text_runtime.golden import difference
from text_runtime.routing.split import Split, parse_split
from trireme.contract.integrity import verify_release
from trireme.contract.repository import Repository
from trireme.errors import MemoryShortError
from trireme.promotion.disk import PipelineDisk
from trireme.promotion.intent import Intent, IntentFile
from trireme.promotion.layout import Layout, Traffic
from trireme.promotion.memory import require_memory


def test_a_split_keeps_keys_and_a_raised_percentage_only_adds_some() -> None:
    small, large = Split("demo", 1, 2, 10), Split("demo", 1, 2, 50)
    keys = [f"user-{number}" for number in range(20_000)]
    chosen = {key for key in keys if small.is_candidates(key)}
    assert chosen == {key for key in keys if small.is_candidates(key)}
    assert chosen <= {key for key in keys if large.is_candidates(key)}
    assert abs(len(chosen) / len(keys) - 0.1) < 0.01


def test_a_split_without_keys_goes_by_weight() -> None:
    counts = Counter(Split("demo", 1, 2, 10).is_candidates(None) for _ in range(20_000))
    assert abs(counts[True] / 20_000 - 0.1) < 0.01


@pytest.mark.parametrize("changes", [{"percent": "101"}, {"percent": "x"}, {"candidate": "1"}])
def test_a_router_with_senseless_parameters_does_not_load(changes: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"percent|beside itself|convert"):
        parse_split("demo", {"current": "1", "candidate": "2", "percent": "10"} | changes)


def test_a_layout_survives_being_written_down(tmp_path: Path) -> None:
    layout = Layout(frozenset({2, 1}), Traffic(1, 2, 12.5, True))
    intent = Intent("canary", layout, layout.answering(Traffic(1)), target=2, id="a")
    file = IntentFile(tmp_path)
    file.write(intent)
    assert file.read() == intent
    assert b'"before":{"loaded":[1,2],"traffic":[1,2,12.5,true]}' in file.path.read_bytes()
    with pytest.raises(ValueError, match="needs releases"):
        Layout(frozenset({1}), Traffic(2))


def test_configs_return_to_the_very_same_bytes_after_a_canary(model_repository: Path) -> None:
    disk = PipelineDisk(Repository(model_repository), NAME)
    paths = sorted(model_repository.glob("*/config.pbtxt"))
    before = [path.read_bytes() for path in paths]
    disk.write_steps(frozenset({1, 2}))
    disk.write_side(1)
    disk.write_side(2)
    disk.write_traffic(Traffic(1, 2, 10))
    assert disk.layout() == Layout(frozenset({1, 2}), Traffic(1, 2, 10))
    assert Repository(model_repository).pipelines() == [NAME]
    assert Repository(model_repository).pinned_release(NAME) == 1
    disk.write_traffic(Traffic(1))
    disk.remove_side(1)
    disk.remove_side(2)
    disk.remove_router()
    disk.write_steps(frozenset({1}))
    assert sorted(model_repository.glob("*/config.pbtxt")) == paths
    assert [path.read_bytes() for path in paths] == before


def test_a_whole_release_is_verified(model_repository: Path) -> None:
    manifest = verify_release(Repository(model_repository), NAME, 2)
    assert f"{NAME}/golden.json" in manifest.files


@pytest.mark.parametrize(
    ("expected", "found", "is_equal"),
    [
        (["good"], ["good"], True),
        (["good"], ["bad"], False),
        ([0.5, 0.5], [0.5004, 0.4996], True),
        ([0.5], [0.6], False),
        ('[{"label": "a", "score": 0.5}]', '[{"label": "a", "score": 0.5001}]', True),
        ('[{"label": "a"}]', '[{"label": "b"}]', False),
        ("[not json", "[not json", True),
        ([1.0], [float("nan")], False),
    ],
)
def test_golden_answers_may_differ_by_rounding_only(expected: object, found: object, is_equal: bool) -> None:
    assert (difference(expected, found, 1e-3) == "") is is_equal


def test_a_release_that_does_not_fit_into_memory_is_refused() -> None:
    require_memory(release_bytes=100 << 20, available_bytes=2 << 30)
    with pytest.raises(MemoryShortError, match="retire a release"):
        require_memory(release_bytes=100 << 20, available_bytes=500 << 20)
