"""`trireme check`: nothing to say about whole repositories, one finding for each fault, and Triton agrees."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import tritonclient.grpc as triton_grpc
from tritonclient.utils import InferenceServerException

from converters.export import EncoderSpec, ExportSpec, export
from tests.conftest import CHECKPOINT, ROOT, TASK
from tests.generation.written_release import write_release as write_writer
from tests.planned import copy_with_plan
from tests.serving.broken_repositories import write_chain, write_graph, write_onnx, write_openvino
from tests.serving.faults import FAULTS, Fault, Proof
from tests.serving.throwaway import ask, write_pipeline
from trireme.contract.repository import Repository
from trireme.errors import TriremeError
from trireme.promotion.disk import PipelineDisk
from trireme.promotion.layout import Traffic
from trireme.serving import Server, ServerSpec, start
from trireme.serving.check import CHECKS, READABLE, check_repository
from trireme.serving.finding import FAIL, WARN

_WRITE = {
    "chain": write_chain,
    "spare": write_chain,
    "onnx": write_onnx,
    "openvino": write_openvino,
    "writer": write_writer,
}
USUAL = ROOT / "tests/testdata/usual_repository"
Copy = Callable[[str], Path]


@pytest.fixture
def copy(repository: Path, gpu_repository: Path, tmp_path: Path) -> Copy:
    """Makes a repository without a fault, to be changed."""

    def make(base: str) -> Path:
        root = tmp_path / base
        if base == "demo":
            return shutil.copytree(repository, root)
        if base == "gpu":
            copy_with_plan(gpu_repository, root)
            return root
        root.mkdir()
        _WRITE[base](root)
        return root

    return make


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A Triton into whose repository others can be moved."""
    with start(ServerSpec(write_pipeline(tmp_path_factory.mktemp("checked")), 0, 0, 0)) as running:
        yield running


@pytest.mark.parametrize("base", ["chain", "demo", "writer"])
def test_nothing_is_found_in_a_whole_repository(copy: Copy, base: str) -> None:
    assert check_repository(copy(base)) == []


@pytest.mark.parametrize("base", ["onnx", "openvino", "gpu"])
def test_a_repository_for_nvidias_image_is_whole_but_for_its_backend(copy: Copy, base: str) -> None:
    (finding,) = check_repository(copy(base))
    assert (finding.check, finding.status) == ("backend", WARN)


def test_a_pipeline_for_onnx_runtime_on_a_gpu_is_whole_but_for_its_backend(tmp_path: Path) -> None:
    export(ExportSpec(CHECKPOINT, TASK, "sentiment", tmp_path / "models", EncoderSpec("onnxruntime", target="gpu")))
    (finding,) = check_repository(tmp_path / "models")
    assert (finding.name, finding.check) == ("sentiment_encoder/config.pbtxt", "backend")


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_fault_gives_one_finding_that_says_how_to_mend_it(copy: Copy, fault: Fault) -> None:
    root = copy(fault.base)
    known = check_repository(root, auto_complete=False)
    fault.edit(root)
    (finding,) = [finding for finding in check_repository(root, auto_complete=False) if finding not in known]
    assert finding.check == fault.check
    assert fault.words in finding.found
    assert finding.remedy
    if fault.proof is Proof.LOADS:
        assert finding.status == WARN
    elif fault.proof is not Proof.UNPROVEN:
        assert finding.status == FAIL


def test_every_check_has_a_fault() -> None:
    assert {fault.check for fault in FAULTS.values()} == {READABLE, *CHECKS}


def _proven_on_triton() -> dict[str, Fault]:
    return {name: fault for name, fault in FAULTS.items() if fault.proof in (Proof.LOADS, Proof.REFUSED, Proof.FAILS)}


@contextmanager
def lent(server: Server, root: Path) -> Iterator[triton_grpc.InferenceServerClient]:
    """A repository's models moved into a server's, and out again."""
    target = server._launch.spec.repository
    names = [folder.name for folder in root.iterdir()]
    for name in names:
        shutil.move(root / name, target / name)
    with triton_grpc.InferenceServerClient(server.grpc_url) as client:
        try:
            yield client
        finally:
            for name in names:
                client.unload_model(name, headers=server.control_headers, client_timeout=60)
                shutil.rmtree(target / name)


@pytest.mark.parametrize("fault", _proven_on_triton().values(), ids=_proven_on_triton())
@pytest.mark.xdist_group("check on Triton")
def test_triton_refuses_what_is_an_error_and_loads_what_is_a_warning(server: Server, copy: Copy, fault: Fault) -> None:
    root = copy(fault.base)
    fault.edit(root)
    with lent(server, root) as client:
        if fault.proof is Proof.REFUSED:
            with pytest.raises(InferenceServerException, match="failed to load|load failed"):
                client.load_model(fault.model, headers=server.control_headers, client_timeout=60)
        else:
            client.load_model(fault.model, headers=server.control_headers, client_timeout=60)
        if fault.proof is Proof.FAILS:
            with pytest.raises(InferenceServerException):
                ask(server.grpc_url, name=fault.model)


@pytest.mark.parametrize("name", [name for name, fault in FAULTS.items() if fault.proof is Proof.NOT_SERVED])
def test_trireme_does_not_serve_what_was_changed_since_it_was_published(copy: Copy, name: str) -> None:
    root = copy("demo")
    FAULTS[name].edit(root)
    with pytest.raises(TriremeError):
        ServerSpec(root)


def test_nothing_is_found_during_a_canary(copy: Copy) -> None:
    root = copy("demo")
    disk = PipelineDisk(Repository(root), "sentiment")
    for release in (1, 2):
        disk.write_side(release)
    disk.write_steps(frozenset({1, 2}))
    disk.write_traffic(Traffic(1, 2, 10.0))
    assert check_repository(root) == []


def test_the_usual_repository_is_told_what_is_wrong_with_it(tmp_path: Path) -> None:
    root = shutil.copytree(USUAL, tmp_path / "usual_repository")
    write_graph(root / "seqcls_encoder/1/model.onnx", made="linear_113.tmp_1")
    result = run(str(root))
    assert result.stdout == (USUAL.parent / "usual_repository.txt").read_text(encoding="utf-8")
    assert result.returncode == 1


def test_json_holds_a_record_for_each_finding(copy: Copy) -> None:
    root = copy("chain")
    FAULTS["dims of 0"].edit(root)
    result = run(str(root), "--json")
    (record,) = json.loads(result.stdout)
    assert record["severity"] == "error"
    assert record["where"] == "spare/config.pbtxt"
    assert set(record) == {"severity", "where", "found", "fix", "check"}
    assert result.returncode == 1


def test_a_warning_alone_is_no_reason_to_fail(copy: Copy) -> None:
    result = run(str(copy("onnx")))
    assert result.stdout.startswith("warning: graph/config.pbtxt: ")
    assert result.returncode == 0


@pytest.mark.parametrize(("folder", "words"), [("nowhere", "no such model repository"), (".", "holds no model")])
def test_what_is_no_repository_is_refused_in_one_line(tmp_path: Path, folder: str, words: str) -> None:
    result = run(str(tmp_path / folder))
    assert (result.returncode, result.stdout) == (1, "")
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command as a user runs it."""
    return subprocess.run([sys.executable, "-m", "trireme", "check", *arguments], capture_output=True, text=True)
