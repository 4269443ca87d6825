"""A canary's split as its callers and its metrics see it: many requests over both protocols."""

import re
import time
import urllib.request
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import psutil
import pytest
import tritonclient.grpc as triton_grpc
from tritonclient.utils import InferenceServerException

from tests.promotion.load import Answer, Load, goldens_of
from tests.promotion.releases import NAME
from text_runtime.routing.split import Split
from trireme.promotion.metrics import CanaryCounts, read_counts
from trireme.promotion.promoter import promoting
from trireme.promotion.spec import PromotionSpec
from trireme.serving import Server
from trireme.serving.process import model_of, stubs_of, version_of

PERCENT = 10.0
PULSES = 40
"""Supervision itself asks the pipeline, and each side by name, every other second."""
_FLUSHED_S = 1.5


def counted(spec: PromotionSpec) -> CanaryCounts:
    """What the router counted of both sides so far."""
    return read_counts(spec.targets(), NAME, (1, 2))


def triton_counts(server: Server) -> Counter[int]:
    """Triton's own counts of the texts that each release's ensemble answered.

    Triton counts an ensemble's requests as its version 1, whatever its version is: the name alone tells them apart.
    """
    with urllib.request.urlopen(server.metrics_url) as answer:
        text = answer.read().decode()
    counts = Counter[int]()
    for release, requests in re.findall(rf'nv_inference_count{{model="{NAME}_v(\d)",.*}} (\d+)', text):
        counts[int(release)] += int(requests)
    return counts


def asked(server: Server, spec: PromotionSpec, requests: int, keys: int = 0) -> list[Answer]:
    """Ask so many requests or more; every one must have been answered by one release."""
    before = sum(side.requests for side in counted(spec).sides.values())
    with Load([server.http_url], [server.grpc_url], goldens_of(spec.repository), 8, 8, keys) as load:
        while sum(side.requests for side in counted(spec).sides.values()) < before + requests:
            time.sleep(0.2)
    assert load.failures == []
    time.sleep(_FLUSHED_S)
    return load.answers


def _texts(*values: str | bytes) -> triton_grpc.InferInput:
    texts = triton_grpc.InferInput("text", [len(values), 1], "BYTES")
    texts.set_data_from_numpy(np.array([[value] for value in values], dtype=np.object_))
    return texts


def _ask(client: triton_grpc.InferenceServerClient, key: str) -> None:
    client.infer(NAME, [_texts("好")], parameters={"key": key}, client_timeout=30)


def _is_encoder_of(stub: psutil.Process, release: int) -> bool:
    return (model_of(stub), version_of(stub)) == (f"{NAME}_encoder", str(release))


@pytest.mark.parametrize(
    ("requests", "points"), [(2_000, 3.0), pytest.param(20_000, 1.0, marks=pytest.mark.drill)], ids=["few", "many"]
)
def test_a_tenth_of_the_requests_goes_to_the_candidate_and_metrics_say_the_same(
    server: Server, spec: PromotionSpec, requests: int, points: float
) -> None:
    with promoting(spec) as promoter:
        promoter.canary(2, PERCENT)
    time.sleep(_FLUSHED_S)
    before, triton_before = counted(spec), triton_counts(server)
    answers = asked(server, spec, requests)
    answered = Counter(answer.release for answer in answers)
    assert len(answers) >= requests
    assert abs(answered[2] / len(answers) * 100 - PERCENT) < points
    after, triton_after = counted(spec), triton_counts(server)
    compared = after.agreement.texts - before.agreement.texts  # asked of the other side too
    assert 0 < compared < len(answers) / 5
    for release in (1, 2):
        ours, tritons = after.sides[release].requests - before.sides[release].requests, triton_after - triton_before
        assert 0 <= ours - answered[release] <= PULSES
        assert 0 <= tritons[release] - answered[release] <= 2 * PULSES + compared


def test_a_time_out_is_kept_through_the_router(server: Server, spec: PromotionSpec) -> None:
    with promoting(spec) as promoter:
        promoter.canary(2, PERCENT)
    with triton_grpc.InferenceServerClient(server.grpc_url) as client:
        with pytest.raises(InferenceServerException, match="Request timeout expired"):
            client.infer(NAME, [_texts("好")], timeout=1)
        client.infer(NAME, [_texts("好")], timeout=60_000_000)


def test_requests_passed_on_together_get_their_own_rows_outputs_and_failures(
    server: Server, spec: PromotionSpec
) -> None:
    with promoting(spec) as promoter:
        promoter.canary(2, 50)
    goldens = goldens_of(spec.repository)
    texts = goldens[1].columns["text"]

    def ask(number: int) -> None:
        rows, outputs = range(number % len(texts), len(texts))[: number % 4 + 1], ("label", "scores")[: number % 2 + 1]
        wanted = [triton_grpc.InferRequestedOutput(name) for name in outputs]
        if number % 7 == 0:
            with pytest.raises(InferenceServerException, match=f"input 'text', row {len(rows)}"):
                client.infer(NAME, [_texts(*(texts[row] for row in rows), b"\xff")], outputs=wanted)
            return
        answer = client.infer(NAME, [_texts(*(texts[row] for row in rows))], outputs=wanted)
        labels = [label.decode() for label in answer.as_numpy("label")[:, 0]]
        (side,) = (golden for golden in goldens.values() if labels[0] in np.ravel(golden.outputs["label"]))
        assert labels == [side.outputs["label"][row][0] for row in rows]
        scores = answer.as_numpy("scores")
        assert (scores is not None) == ("scores" in outputs)
        if scores is not None:
            assert np.allclose(scores, [side.outputs["scores"][row] for row in rows], atol=side.tolerance)

    with ThreadPoolExecutor(32) as threads, triton_grpc.InferenceServerClient(server.grpc_url) as client:
        assert len(list(threads.map(ask, range(400)))) == 400


def test_each_key_stays_on_one_side_over_both_protocols(server: Server, spec: PromotionSpec) -> None:
    with promoting(spec) as promoter:
        promoter.canary(2, 50)
    sides: defaultdict[str | None, set[int]] = defaultdict(set)
    for answer in asked(server, spec, 2000, keys=40):
        sides[answer.key].add(answer.release)
    assert len(sides) == 40
    assert all(len(releases) == 1 for releases in sides.values())
    assert {release for releases in sides.values() for release in releases} == {1, 2}


def test_a_candidate_that_hangs_holds_up_nobody_whom_the_current_release_answers(
    server: Server, spec: PromotionSpec
) -> None:
    with promoting(spec) as promoter:
        promoter.canary(2, 50)
    split, callers = Split(NAME, 1, 2, 50), [f"user-{number}" for number in range(99)]
    ours, theirs = (next(key for key in callers if split.is_candidates(key) is side) for side in (False, True))
    (encoder,) = (stub for stub in stubs_of(server.pid) if _is_encoder_of(stub, 2))
    encoder.suspend()
    with ThreadPoolExecutor(8) as threads, triton_grpc.InferenceServerClient(server.grpc_url) as client:
        hanging = [threads.submit(_ask, client, theirs) for _ in range(16)]
        began = time.monotonic()
        for _ in range(50):
            _ask(client, ours)
        assert time.monotonic() - began < 5
        assert not all(future.done() for future in hanging)
        # A request within the process that was killed fails; those that still waited for it find it brought back.
        ends = [future.exception(30) for future in hanging]
        assert all(end is None or isinstance(end, InferenceServerException) for end in ends)
