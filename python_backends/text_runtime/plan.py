"""A TensorRT plan beside the graph it was built from, and whether it may serve a release on this machine.

A plan is no part of a release: it is built once more on every kind of machine, from the graph that the release holds.
It stands beside that graph, with a `plan.json` that says of what, with what and for which card it was built. This
module decides for the container's entry point and for the command line: it needs neither TensorRT nor Triton's client.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

import orjson

from text_runtime.machine import Machine
from text_runtime.manifest import EncoderManifest, GateRow, Manifest, sha256_of
from text_runtime.records import Record, fields_of, read_record

PLAN_NAME = "model.plan"
FACTS_NAME = "plan.json"
BUILT_FILES = (PLAN_NAME, FACTS_NAME)
"""Files that a release's encoder folder may hold beside those that were published."""

_OPT_ROWS = 8
"""The rows that a profile is tuned for: about what is merged at 64 requests in flight; see the decision log."""


@dataclass(frozen=True)
class Profile:
    """An optimization profile: rows of `tokens` tokens, from `min_rows` to `max_rows` of them, tuned for `opt_rows`."""

    tokens: int
    min_rows: int
    opt_rows: int
    max_rows: int

    def __post_init__(self) -> None:
        if not 1 <= self.min_rows <= self.opt_rows <= self.max_rows or self.tokens < 1:
            raise ValueError(f"profile of {self.tokens} tokens: rows {self.rows} do not ascend from 1")

    @property
    def rows(self) -> tuple[int, ...]:
        """The row counts that stand for all: fewest, tuned for, most."""
        return tuple(sorted({self.min_rows, self.opt_rows, self.max_rows}))


@dataclass(frozen=True)
class PlanFacts(Record):
    """What `plan.json` says: the graph it was built from, the machine it was built on, its profiles and its gates."""

    onnx_sha256: str
    plan_sha256: str
    precision: str
    machine: Machine
    profiles: tuple[Profile, ...]
    built_at: str
    gates: tuple[GateRow, ...] = ()

    def to_json(self) -> bytes:
        """The content of `plan.json`."""
        return orjson.dumps(fields_of(self), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def profiles_of(buckets: Sequence[int], max_rows: int) -> tuple[Profile, ...]:
    """One profile a bucket, each up to a full batch: the length is fixed, so kernels are chosen for it."""
    return tuple(Profile(bucket, 1, min(_OPT_ROWS, max_rows), max_rows) for bucket in buckets)


def read_plan_facts(folder: Path) -> PlanFacts:
    """Read `plan.json` in a release's encoder folder.

    Raises:
        FileNotFoundError: there is none.
        ValueError: it holds something else.
    """
    path = folder / FACTS_NAME
    try:
        return read_record(PlanFacts, orjson.loads(path.read_bytes()))
    except ValueError as error:
        raise ValueError(f"{path} does not describe a plan: {error}") from error


def rebuild_command(pipeline: str, release: int) -> str:
    """What builds a release's plan anew, on the machine that serves it."""
    return f"docker compose run --rm build-plan {pipeline} {release}"


def needs_plan(manifest: Manifest) -> TypeGuard[EncoderManifest]:
    """Whether a release's encoder is served from a plan."""
    return isinstance(manifest, EncoderManifest) and manifest.encoder.engine == "tensorrt"


def plan_problems(folder: Path, manifest: EncoderManifest, machine: Machine, max_rows: int) -> list[str]:
    """Everything that keeps a plan from serving a release on a machine; nothing where it may.

    Args:
        folder: the encoder's folder of the release.
        manifest: the release's manifest.
        machine: the machine that is to serve it.
        max_rows: the largest batch that Triton sends.
    """
    try:
        facts = read_plan_facts(folder)
    except FileNotFoundError:
        return ["it has no plan yet"]
    except ValueError as error:
        return [str(error)]
    return [*_changes(folder, manifest, facts), *_strangers(facts.machine, machine), *_gaps(manifest, facts, max_rows)]


def _changes(folder: Path, manifest: EncoderManifest, facts: PlanFacts) -> Iterator[str]:
    plan = folder / PLAN_NAME
    if not plan.is_file():
        yield f"{PLAN_NAME} is missing"
    elif sha256_of(plan) != facts.plan_sha256:
        yield f"{PLAN_NAME} is not the one that {FACTS_NAME} describes"
    graph = f"{folder.parent.name}/{manifest.encoder.model}"
    if manifest.files.get(graph) != facts.onnx_sha256:
        yield "the plan was built from another ONNX graph than the release's"


def _strangers(built: Machine, here: Machine) -> Iterator[str]:
    for name, was, found in (
        ("TensorRT", built.tensorrt, here.tensorrt),
        ("compute capability", built.compute_capability, here.compute_capability),
        ("driver", built.driver, here.driver),
    ):
        if was != found:
            yield f"the plan was built with {name} {was}, this machine has {found}"


def _gaps(manifest: EncoderManifest, facts: PlanFacts, max_rows: int) -> Iterator[str]:
    """Profiles are numbered, and the config names them by number: they must be those of the buckets, in order."""
    buckets = manifest.tokenizer.buckets
    found = tuple(profile.tokens for profile in facts.profiles)
    if found != buckets:
        yield f"the plan has profiles for {_listed(found)} tokens, the tokenizer pads to {_listed(buckets)}"
    short = [profile.max_rows for profile in facts.profiles if profile.min_rows > 1 or profile.max_rows < max_rows]
    if short:
        yield f"a profile of the plan ends at {min(short)} rows, Triton sends 1 to {max_rows}"


def _listed(lengths: Sequence[int]) -> str:
    return ", ".join(map(str, lengths)) or "no"
