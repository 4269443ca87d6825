"""A plan may serve one graph, one layout and one kind of machine; each stranger is refused with what rebuilds it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.planned import BUILT_ON, copy_with_plan, write_facts
from text_runtime.plan import FACTS_NAME, PLAN_NAME, PlanFacts, Profile, profiles_of, read_plan_facts
from trireme.contract.integrity import verify_release
from trireme.contract.plans import plan_problems_of, require_plan
from trireme.contract.repository import Repository
from trireme.errors import IntegrityError, PlanError

REBUILD = "docker compose run --rm build-plan sentiment 1"
Change = Callable[[PlanFacts], PlanFacts]


@pytest.fixture
def release(gpu_repository: Path, tmp_path: Path) -> Path:
    """The encoder's folder of a release with a plan."""
    return copy_with_plan(gpu_repository, tmp_path / "models")


def repository_of(release: Path) -> Repository:
    """The repository that a release is in."""
    return Repository(release.parents[1])


def other_machine(**changes: str) -> Change:
    """The same plan, built on another machine."""
    return lambda facts: replace(facts, machine=replace(facts.machine, **changes))


def other_profiles(*profiles: Profile) -> Change:
    """The same plan with other profiles."""
    return lambda facts: replace(facts, profiles=profiles)


def test_a_plan_of_this_machine_may_serve(release: Path) -> None:
    require_plan(repository_of(release), "sentiment", 1, BUILT_ON)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (other_machine(tensorrt="10.13.3"), "built with TensorRT 10.13.3, this machine has 10.16.1"),
        (other_machine(compute_capability="8.6"), "built with compute capability 8.6, this machine has 9.0"),
        (other_machine(driver="580.95.05"), "built with driver 580.95.05, this machine has 595.71.05"),
        (lambda facts: replace(facts, onnx_sha256="0" * 64), "built from another ONNX graph"),
        (lambda facts: replace(facts, plan_sha256="0" * 64), "model.plan is not the one that plan.json describes"),
        (other_profiles(*profiles_of((32, 64), 64)), "profiles for 32, 64 tokens, the tokenizer pads to 32, 64, 128"),
        (other_profiles(*profiles_of((256, 128, 64, 32), 64)), "profiles for 256, 128, 64, 32 tokens"),
        (other_profiles(*profiles_of((32, 64, 128, 256), 16)), "ends at 16 rows, Triton sends 1 to 64"),
    ],
    ids=["TensorRT", "card", "driver", "graph", "plan", "fewer buckets", "order of buckets", "rows"],
)
def test_each_kind_of_mismatch_is_refused_with_the_command_that_rebuilds(
    release: Path, change: Change, named: str
) -> None:
    write_facts(release, change(read_plan_facts(release)))
    with pytest.raises(PlanError) as refusal:
        require_plan(repository_of(release), "sentiment", 1, BUILT_ON)
    assert named in str(refusal.value)
    assert REBUILD in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "content", "named"),
    [
        (FACTS_NAME, None, "no plan yet"),
        (FACTS_NAME, b"{}", "does not describe a plan"),
        (FACTS_NAME, b"\xff", "does not describe a plan"),
        (PLAN_NAME, None, "model.plan is missing"),
        (PLAN_NAME, b"another", "is not the one that plan.json describes"),
    ],
)
def test_a_plan_that_is_missing_or_broken_is_refused(
    release: Path, name: str, content: bytes | None, named: str
) -> None:
    if content is None:
        (release / name).unlink()
    else:
        (release / name).write_bytes(content)
    with pytest.raises(PlanError, match=named):
        require_plan(repository_of(release), "sentiment", 1, BUILT_ON)


def test_all_differences_are_told_at_once(release: Path) -> None:
    other = replace(BUILT_ON, tensorrt="11.4.0", driver="600.10")
    assert len(plan_problems_of(repository_of(release), "sentiment", 1, other)) == 2


def test_a_release_that_is_not_served_from_a_plan_needs_none(repository: Path) -> None:
    assert plan_problems_of(Repository(repository), "sentiment", 1, BUILT_ON) == []


def test_a_machine_without_a_gpu_is_named_as_such(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PlanError, match="no NVIDIA driver"):
        require_plan(repository_of(release), "sentiment", 1)


def test_a_plan_is_no_part_of_the_release_that_it_stands_in(release: Path) -> None:
    verify_release(repository_of(release), "sentiment", 1)
    (release / "another.plan").touch()
    with pytest.raises(IntegrityError, match="another.plan is not in the manifest"):
        verify_release(repository_of(release), "sentiment", 1)


def test_facts_survive_a_round_trip(release: Path) -> None:
    facts = read_plan_facts(release)
    write_facts(release, facts)
    assert read_plan_facts(release) == facts


def test_a_profile_whose_rows_do_not_ascend_is_refused() -> None:
    with pytest.raises(ValueError, match="do not ascend"):
        Profile(tokens=32, min_rows=8, opt_rows=4, max_rows=64)
