"""A candidate that answers nonsense is refused in every task, by whatever judges it; one that answers well is not."""

import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from tests.promotion.releases import Array, change_weights, copy_release
from tests.tasks.texts import hard_texts
from text_runtime.tasks import task_names
from trireme.admin import Endpoint
from trireme.promotion.judge import Thresholds, judge_canary
from trireme.promotion.layout import Traffic
from trireme.promotion.promoter import promoting
from trireme.promotion.replica import Replica
from trireme.promotion.shadow import shadow_live, shadow_recorded
from trireme.promotion.spec import PromotionSpec
from trireme.serving import Server, ServerSpec, start

pytestmark = pytest.mark.xdist_group("every-task")
HEALTHY, NONSENSE = 2, 3
LIMITS = Thresholds(p99_ratio=1000, label_shift=1, requests=10, compared=10)
PIPELINES = {
    "text-classification": "sentiment-joined",
    "text-pair-classification": "pairs-joined",
    "multi-label-classification": "topics-joined",
    "reranking": "rerank-joined",
    "token-classification": "ner-joined",
    "embedding": "embed-joined",
    "information-extraction": "uie-joined",
}
WATCHED_S = 1.5


def nearly(weights: Array) -> Array:
    """The same weights, rounded a little otherwise."""
    return weights + np.random.default_rng(1).normal(0, 1e-5, weights.shape)


def nonsense(weights: Array) -> Array:
    """Weights of the same size that nobody has trained."""
    return np.random.default_rng(2).permutation(weights.ravel()).reshape(weights.shape)


@pytest.fixture(scope="module")
def candidates(tasks_repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pipeline of every task with a healthy and a nonsensical release beside the current one."""
    root = tmp_path_factory.mktemp("candidates") / "model_repository"
    for name in PIPELINES.values():
        for model in (name, f"{name}_joined"):
            shutil.copytree(tasks_repository / model, root / model)
        for release, change in ((HEALTHY, nearly), (NONSENSE, nonsense)):
            copy_release(root, 1, release, name)
            change_weights(root, release, name, change)
    return root


@pytest.fixture(scope="module")
def server(candidates: Path) -> Iterator[Server]:
    """A Triton that serves them; every test leaves release 1 current and alone."""
    with start(ServerSpec(candidates, 0, 0, 0)) as running:
        yield running


@pytest.fixture(params=sorted(PIPELINES))
def spec(request: pytest.FixtureRequest, candidates: Path, server: Server) -> PromotionSpec:
    """The pipeline of a task, with both candidates staged."""
    found = PromotionSpec(PIPELINES[request.param], candidates, (server.grpc_url,))
    with promoting(found) as promoter:
        for release in (HEALTHY, NONSENSE):
            promoter.stage(release)
    return found


@contextmanager
def callers(spec: PromotionSpec, server: Server) -> Iterator[None]:
    """Callers that ask four rows at a time until the block ends."""
    ended, task = threading.Event(), spec.disk.task
    columns = task.columns(hard_texts(4 * task.texts_a_row), '["时间", "人物", "地点"]')

    def ask() -> None:
        control = Replica(Endpoint(server.grpc_url, "", ""))
        while not ended.wait(0.02):
            control.infer(spec.pipeline, columns)
        control.close()

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def test_every_task_is_here() -> None:
    assert sorted(PIPELINES) == task_names()


def test_nonsense_is_refused_and_a_healthy_candidate_passes(spec: PromotionSpec, server: Server) -> None:
    assert shadow_recorded(spec, HEALTHY, 0.3).compared.reason_against(0.9) == ""
    assert "agreement" in shadow_recorded(spec, NONSENSE, 0.3).compared.reason_against(0.9)
    with callers(spec, server):
        for release, is_good in ((NONSENSE, False), (HEALTHY, True)):
            live = shadow_live(spec, release, WATCHED_S)
            assert (live.compared.reason_against(0.9) == "") is is_good, live
            with promoting(spec) as promoter:
                promoter.canary(release, 50)
            verdict = judge_canary(spec, release, WATCHED_S, LIMITS)
            assert verdict.is_passed is is_good, verdict.reason
            if not is_good:
                assert verdict.reason.startswith("agreement ")
                assert spec.disk.layout().traffic == Traffic(1)
    assert spec.disk.layout().traffic == Traffic(HEALTHY)


def test_a_canary_of_which_too_little_could_be_compared_is_refused(candidates: Path, server: Server) -> None:
    spec = PromotionSpec(PIPELINES["embedding"], candidates, (server.grpc_url,))
    with promoting(spec) as promoter:
        promoter.canary(NONSENSE, 50)
    verdict = judge_canary(spec, NONSENSE, 0.1, Thresholds(requests=0, agreement=0, compared=1000))
    assert not verdict.is_passed
    assert "too few answers to compare" in verdict.reason
    assert spec.disk.layout().traffic.candidate is None


def test_the_command_refuses_a_shadow_of_nonsense(candidates: Path, server: Server, tmp_path: Path) -> None:
    spec = PromotionSpec(PIPELINES["text-pair-classification"], candidates, (server.grpc_url,))
    with promoting(spec) as promoter:
        promoter.stage(NONSENSE)
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"text": "北京", "text_pair": "上海"}\n{"text": "张三", "text_pair": "李四"}\n', encoding="utf-8")
    plain = tmp_path / "texts.txt"
    plain.write_text("北京\n", encoding="utf-8")

    def shadow(*options: str) -> subprocess.CompletedProcess[str]:
        command = ["shadow", spec.pipeline, str(NONSENSE), "-r", str(candidates), "--server", server.grpc_url]
        command += ["--seconds", "0.2", *options]
        return subprocess.run([sys.executable, "-m", "trireme", *command], capture_output=True, text=True, check=False)

    refused = shadow("--texts", str(rows))
    assert (refused.returncode, refused.stderr) == (1, "")
    assert "refused: agreement" in refused.stdout
    assert shadow("--texts", str(rows), "--min-agreement", "0").returncode == 0
    lacking = shadow("--texts", str(plain))
    assert lacking.returncode == 1
    assert "input 'text_pair': row 0 has none; give rows of text, text_pair" in lacking.stderr
