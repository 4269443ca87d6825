"""A release of target gpu with something in the place of its plan: nothing here can build or run a real one.

What is tested with it only reads facts: who built what, of what, for which machine.
"""

import shutil
from pathlib import Path

from text_runtime.machine import Machine
from text_runtime.manifest import read_manifest, sha256_of
from text_runtime.plan import FACTS_NAME, PLAN_NAME, PlanFacts, profiles_of
from trireme.contract.pipelines import MAX_BATCH_SIZE

BUILT_ON = Machine("10.16.1", "9.0", "595.71.05", "NVIDIA H200")


def copy_with_plan(repository: Path, folder: Path) -> Path:
    """Copy the repository with `sentiment` of target gpu, and put a plan into release 1; gives its encoder's folder."""
    shutil.copytree(repository, folder)
    release = folder / "sentiment_encoder" / "1"
    (release / PLAN_NAME).write_bytes(b"no plan, but bytes that have a hash")
    manifest = read_manifest(release)
    write_facts(
        release,
        PlanFacts(
            onnx_sha256=sha256_of(release / "model.onnx"),
            plan_sha256=sha256_of(release / PLAN_NAME),
            precision=manifest.encoder.precision,
            machine=BUILT_ON,
            profiles=profiles_of(manifest.tokenizer.buckets, MAX_BATCH_SIZE),
            built_at="2026-11-30T00:00:00+00:00",
        ),
    )
    return release


def write_facts(release: Path, facts: PlanFacts) -> None:
    """Write `plan.json`."""
    (release / FACTS_NAME).write_bytes(facts.to_json())
