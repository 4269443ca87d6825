"""The way from a release of target `gpu` to the plan beside its graph: built, judged, then renamed into place."""

import logging
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path

from converters.plans import tensorrt_builder
from converters.plans.parity import Parity
from converters.plans.rows import rows_by_bucket
from converters.plans.spec import PlanSpec
from text_runtime.machine import MachineError, read_machine
from text_runtime.manifest import EncoderManifest, GateRow, sha256_of
from text_runtime.plan import FACTS_NAME, PLAN_NAME, PlanFacts, needs_plan, profiles_of
from trireme.contract.integrity import verify_release
from trireme.contract.locking import building
from trireme.contract.pipelines import MAX_BATCH_SIZE, Step
from trireme.contract.plans import BUILD_WHERE_IT_SERVES
from trireme.contract.repository import Repository
from trireme.errors import PublishError

_log = logging.getLogger(__name__)
Progress = Callable[[str], None]


def build_plan(spec: PlanSpec, progress: Progress = _log.info, wait_s: float = 0.0) -> PlanFacts:
    """Build, judge and publish the plan of a release; gives what `plan.json` says.

    Raises:
        BusyError: another process builds the pipeline, and still did after `wait_s` seconds.
        PlanError: the release is not served from a plan, or this machine cannot build one.
        GateError: the plan does not answer as its graph does; the plan before it, if any, stays.
        IntegrityError: the release was changed since it was published.
        PublishError: the plan could not be written.
    """
    manifest = verify_release(Repository(spec.repository), spec.pipeline, spec.release)
    if not needs_plan(manifest):
        problem = f"the release's encoder runs on {manifest.network.engine}, not from a plan"
        raise spec.refusal(problem, "export it with --target gpu --engine tensorrt")
    tensorrt_builder.require_tensorrt(spec)
    try:
        machine = read_machine()
    except MachineError as error:
        raise spec.refusal(str(error), BUILD_WHERE_IT_SERVES) from error
    with building(spec.repository, spec.pipeline, wait_s, progress), _folder_beside(spec) as folder:
        graph, profiles = spec.folder / manifest.encoder.model, profiles_of(manifest.tokenizer.buckets, MAX_BATCH_SIZE)
        progress(f"building on {machine.gpu} with TensorRT {machine.tensorrt}")
        plan = tensorrt_builder.build(spec, manifest, profiles, progress)
        (folder / PLAN_NAME).write_bytes(plan)
        gates = _judge(spec, manifest, plan, progress)
        facts = PlanFacts(
            onnx_sha256=sha256_of(graph),
            plan_sha256=sha256_of(folder / PLAN_NAME),
            precision=manifest.encoder.precision,
            machine=machine,
            profiles=profiles,
            built_at=datetime.now(timezone.utc).isoformat(timespec="seconds"),
            gates=gates,
        )
        (folder / FACTS_NAME).write_bytes(facts.to_json())
        publish(folder, spec.folder)
    return facts


def publish(built: Path, release: Path) -> None:
    """Rename a plan into its release, its facts last: a plan that is not the one they describe is refused."""
    for name in (PLAN_NAME, FACTS_NAME):
        os.replace(built / name, release / name)


def _judge(spec: PlanSpec, manifest: EncoderManifest, plan: bytes, progress: Progress) -> tuple[GateRow, ...]:
    folder = Repository(spec.repository).step_folder(spec.pipeline, Step.TOKENIZER) / str(spec.release)
    rows = rows_by_bucket(folder, manifest, spec.corpus)
    graph = tensorrt_builder.open_graph(spec.folder / manifest.encoder.model)
    with tensorrt_builder.open_plan(plan) as run:
        found = []
        for row in Parity(manifest, profiles_of(tuple(rows), MAX_BATCH_SIZE), rows).judge(run, graph):
            progress(f"gate {row.gate}: {row.status} ({row.detail})")
            found.append(row)
    return tuple(found)


@contextmanager
def _folder_beside(spec: PlanSpec) -> Iterator[Path]:
    """A folder on the release's file system that Triton takes no notice of; nothing of it remains."""
    folder = spec.folder.parent / f".plan-{spec.release}"
    try:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        yield folder
    except OSError as error:
        raise PublishError(folder, error) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
