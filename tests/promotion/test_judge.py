"""The verdict on a canary, from what both sides did; and the whole command, on the real Triton under load."""

import json
import shutil
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.conftest import once
from tests.promotion.releases import NAME, WORDS, Size, copy_release, make_checkpoint, sign
from trireme.admin import Endpoint
from trireme.errors import InferenceError
from trireme.promotion.agreement import Agreement
from trireme.promotion.judge import Thresholds, compare
from trireme.promotion.layout import Traffic
from trireme.promotion.metrics import Side
from trireme.promotion.replica import Replica
from trireme.promotion.spec import PromotionSpec
from trireme.serving import Server, ServerSpec, start

pytestmark = pytest.mark.xdist_group("judged")  # one server for all
ALIKE, OTHER_LABELS, FAILING, SLOW = 3, 2, 4, 5
"""Releases beside the current one, 1, by what is wrong with them; `ALIKE` answers as 1 does."""

SLOW_ALONE = (
    *("--seconds", "8", "--min-requests", "5", "--min-compared", "1"),
    *("--max-label-shift", "1", "--min-agreement", "0", "--max-p99-ratio", "1.5"),
)
"""Everything but latency is allowed, also that a slow release answers little on a busy machine."""

RARE = "鸢"
"""A character that no golden request holds: the failing release fails every text that does."""


def side(requests: int, failures: int = 0, seconds: float = 0.01, share: float = 0.5) -> Side:
    """A side whose requests all took up to so many seconds."""
    buckets = Counter({bound: requests * (bound >= seconds) for bound in (0.01, 0.02, 0.05, float("inf"))})
    labels = Counter({"good": int(requests * share), "bad": requests - int(requests * share)})
    return Side(requests, failures, buckets, labels)


@pytest.mark.parametrize(
    ("candidate", "refused"),
    [
        (side(1000), set()),
        (side(1000, failures=5), {"failure rate"}),
        (side(1000, seconds=0.05), {"p99 seconds"}),
        (side(1000, share=0.9), {"label shift"}),
        (side(20), {"requests"}),
    ],
    ids=["alike", "fails", "slow", "other labels", "too few"],
)
def test_a_candidate_fails_by_the_measure_that_got_worse(candidate: Side, refused: set[str]) -> None:
    findings = compare(side(1000), candidate, Agreement(100, 100), Thresholds())
    assert {finding.measure for finding in findings if not finding.is_passed} == refused


@pytest.mark.parametrize(
    ("agreement", "refused"),
    [
        (Agreement(95, 100), set()),
        (Agreement(85, 100), {"agreement"}),
        (Agreement(3, 3), {"compared texts"}),
        (Agreement(), {"compared texts", "agreement"}),
    ],
    ids=["alike", "other answers", "too few", "nothing"],
)
def test_a_task_without_labels_is_judged_by_the_answers_to_the_same_texts(
    agreement: Agreement, refused: set[str]
) -> None:
    buckets = side(1000).buckets
    findings = compare(Side(1000, 0, buckets), Side(1000, 0, buckets), agreement, Thresholds())
    assert {finding.measure for finding in findings if not finding.is_passed} == refused
    assert "label shift" not in {finding.measure for finding in findings}


def test_labels_that_only_one_side_gave_are_a_shift() -> None:
    findings = compare(side(1000), Side(1000, 0, side(1000).buckets), Agreement(100, 100), Thresholds())
    assert {finding.measure for finding in findings if not finding.is_passed} == {"label shift"}


def test_a_percentile_is_read_within_its_bucket() -> None:
    assert side(100, seconds=0.02).percentile_s(0.99) == pytest.approx(0.02, abs=0.001)
    assert Side().percentile_s(0.99) == 0
    assert side(0).percentile_s(0.99) == 0
    assert Side(200, 0, side(100, seconds=0.02).buckets).percentile_s(0.99) == pytest.approx(0.02, abs=0.001)


@pytest.fixture(scope="module")
def judged(releases: Path, shared_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a good release and three bad ones that all pass their golden requests."""
    from converters.export import ExportSpec, export

    def make(root: Path) -> None:
        shutil.copytree(releases, root)
        copy_release(root, 1, ALIKE)
        copy_release(root, 1, FAILING)
        path = root / f"{NAME}_tokenizer/{FAILING}/tokenizer.json"
        tokenizer = json.loads(path.read_text(encoding="utf-8"))
        tokenizer["model"]["vocab"][RARE] = 1_000_000
        path.write_text(json.dumps(tokenizer), encoding="utf-8")
        sign(root, FAILING)
        checkpoint = make_checkpoint(root.parent / "slow-checkpoint", SLOW, WORDS[1], Size(512, 8, 0.05))
        export(ExportSpec(checkpoint, "text-classification", NAME, root))

    made = once(shared_folder / "judged-releases", make)
    return Path(shutil.copytree(made, tmp_path_factory.mktemp("judged") / "model_repository"))


@pytest.fixture(scope="module")
def judged_server(judged: Path) -> Iterator[Server]:
    """A Triton on it; every test leaves release 1 current."""
    with start(ServerSpec(judged, 0, 0, 0)) as running:
        yield running


@contextmanager
def clients(server: Server, count: int = 4) -> Iterator[None]:
    """Clients that ask all the time, one text in twenty with the rare character."""
    ended = threading.Event()
    texts = [f"物流很快质量{chr(0x4E00 + number)}" for number in range(19)] + [f"一朵{RARE}尾花"]

    def ask() -> None:
        control = Replica(Endpoint(server.grpc_url, "", ""))
        while not ended.is_set():
            for text in texts:
                with suppress(InferenceError):
                    control.infer(NAME, {"text": [text]})
        control.close()

    threads = [threading.Thread(target=ask) for _ in range(count)]
    for thread in threads:
        thread.start()
    yield
    ended.set()
    for thread in threads:
        thread.join()


def judge(repository: Path, release: int, *options: str) -> subprocess.CompletedProcess[str]:
    """The command, watching for three seconds; latency is judged only where a test is about it."""
    watched = ["--percent", "50", "--judge", "--seconds", "3", "--min-requests", "50", "--max-p99-ratio", "1000"]
    command = ["canary", NAME, str(release), "--repository", str(repository), *watched, *options]
    return subprocess.run([sys.executable, "-m", "trireme", *command], capture_output=True, text=True, check=False)


def test_a_good_candidate_is_promoted(judged: Path, judged_server: Server) -> None:
    with clients(judged_server):
        ended = judge(judged, ALIKE)
    assert "promote done in" in ended.stdout, ended.stdout + ended.stderr
    assert ended.returncode == 0
    spec = PromotionSpec(NAME, judged)
    assert spec.disk.layout().traffic == Traffic(ALIKE)
    assert [row["measure"] for row in spec.ledger.entries()[-1].evidence["judge"]][0] == "requests"
    subprocess.run([sys.executable, "-m", "trireme", "rollback", NAME, "-r", str(judged)], check=True)


@pytest.mark.parametrize(
    ("release", "options", "reason"),
    [
        (FAILING, (), "failure rate"),
        (SLOW, SLOW_ALONE, "p99 seconds"),
        (OTHER_LABELS, (), "label shift"),
        (ALIKE, ("--min-requests", "1000000"), "too few requests"),
    ],
    ids=["failing", "slow", "other labels", "too few requests"],
)
def test_a_bad_candidate_is_rolled_back_and_the_reason_said(
    judged: Path, judged_server: Server, release: int, options: tuple[str, ...], reason: str
) -> None:
    with clients(judged_server):
        ended = judge(judged, release, *options)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert f"not promoted: {reason}" in ended.stdout
    assert "rollback done in" in ended.stdout
    spec = PromotionSpec(NAME, judged)
    assert spec.disk.layout().traffic == Traffic(1)
    assert reason in spec.ledger.entries()[-1].evidence["reason"]
