"""One real Triton, administered: what it says, counts and publishes, and what it says where it refuses."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.serving.throwaway import BROKEN_MODEL, NAME, ask, write_pipeline
from trireme.admin import Administrator, Deadlines, Endpoint, exception_of
from trireme.contract.pipelines import CHAIN, Step
from trireme.contract.repository import Repository
from trireme.errors import ClosedControlError, InferenceError, LoadError, ServerError, SilentServerError
from trireme.machine.free_ports import free_ports
from trireme.serving import Server, ServerSpec, start

ENCODER = Step.ENCODER.model_name(NAME)
POSTPROCESS = Step.POSTPROCESS.model_name(NAME)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with the throwaway pipeline."""
    return write_pipeline(tmp_path_factory.mktemp("administered"))


@pytest.fixture(scope="module")
def server(root: Path) -> Iterator[Server]:
    """A Triton that serves it. Every test leaves it whole."""
    with start(ServerSpec(root, 0, 0, 0)) as running:
        yield running


@pytest.fixture
def endpoint(server: Server) -> Endpoint:
    """Where it is administered, with its token."""
    return server._launch.endpoint


@pytest.fixture
def admin(endpoint: Endpoint) -> Iterator[Administrator]:
    """Its administrator."""
    with Administrator(endpoint) as opened:
        yield opened


def test_the_index_has_every_step_and_the_pipeline_ready(admin: Administrator) -> None:
    ready = {row.name for row in admin.index() if row.is_ready}
    assert ready == {NAME, *(step.model_name(NAME) for step in CHAIN)}
    assert admin.ready_versions(NAME) == {1}
    assert admin.ready_versions("macaw") == frozenset()
    assert admin.config(NAME).platform == "ensemble"
    assert admin.is_live()


def test_statistics_and_metrics_count_the_same_rows(admin: Administrator, server: Server) -> None:
    before = admin.statistics()[ENCODER]
    for _ in range(3):
        ask(server.grpc_url)
    after = admin.statistics()[ENCODER]
    assert after.rows - before.rows >= 3
    assert after.success_ns > before.success_ns
    (counted,) = (
        sample.value
        for sample in admin.metrics()
        if sample.name == "nv_inference_count" and sample.labels["model"] == ENCODER
    )
    assert counted >= after.rows


def test_a_load_that_fails_is_told_by_the_exception_of_its_traceback(admin: Administrator, root: Path) -> None:
    model = root / ENCODER / "1" / "model.py"
    whole = model.read_text()
    model.write_text(BROKEN_MODEL)
    try:
        with pytest.raises(LoadError, match=rf"'{ENCODER}' does not load: .*ValueError: the labels are gone;"):
            admin.reload(ENCODER)
        assert [row.version for row in admin.index() if row.name == ENCODER and row.is_broken] == []
    finally:
        model.write_text(whole)
    admin.reload(ENCODER)
    assert admin.ready_versions(ENCODER) == {1}


def test_an_unloaded_pipeline_is_not_ready_and_a_load_brings_it_back(admin: Administrator) -> None:
    admin.unload(NAME)
    assert admin.ready_versions(NAME) == frozenset()
    assert admin.ready_versions(ENCODER) == {1}
    with pytest.raises(ServerError, match="see the server's log"):
        admin.config(NAME)
    admin.load(NAME)
    assert admin.ready_versions(NAME) == {1}


def test_a_probe_passes_an_answer_that_is_whole_and_names_what_is_not(admin: Administrator, root: Path) -> None:
    config = Repository(root).config(NAME)
    admin.probe(NAME, config, timeout_s=10)
    with pytest.raises(InferenceError, match=r"'macaw' on .*macaw"):
        admin.probe("macaw", config, timeout_s=10)
    config.output.add(name="mood")
    with pytest.raises(InferenceError, match="output 'mood' is missing, empty or not finite"):
        admin.probe(NAME, config, timeout_s=10)


def test_every_model_answers_a_request_of_ones(admin: Administrator) -> None:
    assert all(admin.is_answering(model, "", 10) for model in (NAME, ENCODER, POSTPROCESS))


def test_a_wrong_token_opens_nothing_but_what_everybody_may_ask(endpoint: Endpoint) -> None:
    with Administrator(replace(endpoint, token="wrong")) as stranger:
        assert stranger.statistics()
        for question in (stranger.index, lambda: stranger.config(NAME), lambda: stranger.load(NAME)):
            with pytest.raises(ClosedControlError, match="closed to you; give its token in TRIREME_CONTROL_TOKEN"):
                question()


def test_a_server_that_is_not_there_is_silent() -> None:
    (grpc, metrics) = free_ports("127.0.0.1", 2)
    with Administrator(Endpoint(f"127.0.0.1:{grpc}", f"127.0.0.1:{metrics}")) as admin:
        with pytest.raises(SilentServerError, match="does not answer; start it again"):
            admin.index()
        with pytest.raises(ServerError, match=rf"127.0.0.1:{metrics}: its metrics cannot be read"):
            admin.metrics()


def test_a_deadline_is_a_positive_number() -> None:
    with pytest.raises(ValueError, match="positive"):
        Deadlines(ask_s=0)


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("Traceback (most recent call last):\\n  File a\\n\\nKeyError: 'x'\\nat the end", "KeyError: 'x'"),
        ("load failed for model 'a'\nno more", "load failed for model 'a'"),
        ("", "no reason given"),
    ],
    ids=["traceback", "a message", "nothing"],
)
def test_a_traceback_is_told_by_its_exception(message: str, told: str) -> None:
    assert exception_of(message) == told
