"""What docker-compose.yml and the Dockerfile promise, read as Compose reads them, without an engine."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from trireme.contract.gpu_configs import CACHE_FOLDER

ROOT = Path(__file__).resolve().parents[2]
SERVICES = ["triton-cpu", "triton-gpu"]
_VARIABLE = re.compile(r"\$\{(\w+)(?:(:[-?])([^}]*))?\}")


def _settings() -> dict[str, str]:
    lines = (ROOT / ".env").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def _interpolated(text: str, settings: dict[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        name, operator, operand = match.groups()
        if settings.get(name):
            return settings[name]
        if operator == ":-":
            return str(operand)
        raise KeyError(f"{name} is not set: {operand}")

    return _VARIABLE.sub(value, text)


def _compose(**settings: str) -> dict[str, Any]:
    text = (ROOT / "docker-compose.yml").read_text()
    parsed: dict[str, Any] = yaml.safe_load(_interpolated(text, _settings() | settings))
    return parsed


@pytest.fixture(params=SERVICES)
def service(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Each Triton service with the defaults of .env."""
    found: dict[str, Any] = _compose()["services"][request.param]
    return found


def _binds(service: dict[str, Any]) -> list[dict[str, Any]]:
    return [mount for mount in service["volumes"] if mount["type"] == "bind"]


def _mounts(service: dict[str, Any]) -> dict[str, str]:
    return {mount["target"]: mount["source"] for mount in _binds(service)}


def test_each_service_has_the_profile_of_its_device() -> None:
    services = _compose()["services"]
    assert {name: each["profiles"] for name, each in services.items()} == {
        "triton-cpu": ["cpu"],
        "triton-gpu": ["gpu"],
        "build-plan": ["plan"],
    }


def test_the_tag_is_pinned_once_to_a_release_of_2026(service: dict[str, Any]) -> None:
    tag = _settings()["TRITON_TAG"]
    assert re.fullmatch(r"26\.\d\d-py3(@sha256:[0-9a-f]{64})?", tag)
    assert service["build"]["args"]["TRITON_TAG"] == tag
    assert service["image"].endswith(f":{tag}")
    for name in ("docker-compose.yml", "docker/Dockerfile"):
        assert not re.search(r"\d\d\.\d\d-py3", (ROOT / name).read_text())


def test_the_image_is_built_with_the_uv_of_the_makefile() -> None:
    (version,) = re.findall(r"^UV_VERSION := (\S+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert _settings()["UV_TAG"] == version


def test_a_missing_tag_stops_compose() -> None:
    with pytest.raises(KeyError, match="TRITON_TAG is not set"):
        _compose(TRITON_TAG="")


def test_every_mount_exists_and_is_read_only(service: dict[str, Any]) -> None:
    for mount in _binds(service):
        assert (ROOT / mount["source"]).is_dir(), mount
        assert mount["read_only"] is True
        assert mount["bind"]["create_host_path"] is False


def test_only_tensorrts_cache_can_be_written_to(service: dict[str, Any]) -> None:
    (volume,) = (mount for mount in service["volumes"] if mount["type"] != "bind")
    assert volume == {"type": "volume", "source": "tensorrt-cache", "target": CACHE_FOLDER}
    assert "tensorrt-cache" in _compose()["volumes"]
    assert f"install -d -o 1000 -g 1000 {CACHE_FOLDER}" in _dockerfile()


def test_a_plan_is_built_by_the_image_and_on_the_card_that_serve_it() -> None:
    services = _compose()["services"]
    builder, server = services["build-plan"], services["triton-gpu"]
    assert builder["build"]["args"] == server["build"]["args"]
    assert builder["deploy"] == server["deploy"]
    assert (builder["user"], builder["cap_drop"], builder["read_only"]) == ("1000:1000", ["ALL"], True)
    assert (builder["ports"], builder["secrets"]) == ([], [])
    assert _mounts(builder) == {"/models": "./model_repository"}
    for stage in ("triton AS plan-builder", "triton"):
        assert f"FROM {stage}\n" in _dockerfile()
    assert _dockerfile().rstrip().endswith("FROM triton")


def test_the_backends_are_mounted_one_by_one(service: dict[str, Any]) -> None:
    backends = sorted(path.parent.name for path in ROOT.glob("python_backends/*/model.py"))
    expected = {f"/opt/tritonserver/backends/{name}": f"./python_backends/{name}" for name in backends}
    expected["/opt/trireme/lib/text_runtime"] = "./python_backends/text_runtime"
    expected["/models"] = "./model_repository"
    assert _mounts(service) == expected


def test_every_mounted_backend_is_in_the_image_at_the_same_place(service: dict[str, Any]) -> None:
    copies = re.findall(r"^COPY (python_backends/\S+) (\S+)$", _dockerfile(), re.MULTILINE)
    code = {target: source for target, source in _mounts(service).items() if target != "/models"}
    assert {target: f"./{source}" for source, target in copies} == code
    assert re.search(r"PYTHONPATH=/opt/trireme/lib:", _dockerfile())


def test_only_data_ports_are_published_and_on_loopback(service: dict[str, Any]) -> None:
    assert service["ports"] == ["127.0.0.1:8000:8000", "127.0.0.1:8001:8001"]
    assert service["expose"] == ["8002"]


def test_the_container_has_no_privileges(service: dict[str, Any]) -> None:
    assert service["user"] == "1000:1000"
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["tmpfs"][0].startswith("/tmp:")
    assert not {"privileged", "cap_add", "network_mode", "pid", "ipc"} & service.keys()


def test_resources_are_limited(service: dict[str, Any]) -> None:
    assert (service["cpus"], service["mem_limit"], service["shm_size"]) == (2, "4g", "1g")
    assert service["pids_limit"] > 0
    assert service["logging"]["options"].keys() == {"max-size", "max-file"}


def test_health_is_a_real_inference(service: dict[str, Any]) -> None:
    health = service["healthcheck"]
    assert health["test"] == ["CMD", "python3", "/opt/trireme/bin/healthcheck.py"]
    assert "docker/healthcheck.py" in _dockerfile()
    assert json.dumps(health["test"][1:]) in _dockerfile()


def test_a_stop_leaves_triton_longer_than_its_own_exit_timeout(service: dict[str, Any]) -> None:
    assert service["init"] is True
    assert service["stop_signal"] == "SIGTERM"
    grace_s = int(service["stop_grace_period"].removesuffix("s"))
    assert grace_s > int(service["environment"]["TRIREME_EXIT_TIMEOUT_S"])
    assert re.search(r'^ENTRYPOINT \[".*"-m", "trireme.serving"\]$', _dockerfile(), re.MULTILINE)


def test_the_control_token_is_a_file_and_never_in_the_environment(service: dict[str, Any]) -> None:
    assert service["secrets"] == ["control_token"]
    assert _compose()["secrets"] == {"control_token": {"file": "/dev/null"}}
    assert not any("TOKEN" in name for name in service["environment"])


def test_only_the_gpu_profile_reserves_a_gpu() -> None:
    services = _compose(TRIREME_GPUS="2")["services"]
    (device,) = services["triton-gpu"]["deploy"]["resources"]["reservations"]["devices"]
    assert device == {"driver": "nvidia", "count": 2, "capabilities": ["gpu"]}
    assert "deploy" not in services["triton-cpu"]
    assert services["triton-cpu"]["environment"]["NVIDIA_VISIBLE_DEVICES"] == "void"


def test_every_setting_of_compose_has_a_value_in_env_or_a_default() -> None:
    names = {match[1] for match in _VARIABLE.finditer((ROOT / "docker-compose.yml").read_text())}
    assert _settings().keys() <= names
    assert names - _settings().keys() == {"TRIREME_PIPELINES"}


def test_compose_itself_accepts_the_file() -> None:
    command = ["docker", "compose", "--profile", "cpu", "--profile", "gpu", "config", "--format", "json"]
    if shutil.which("docker") is None or _fails(["docker", "compose", "version"]):
        pytest.skip("needs the docker compose plugin")
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, env=os.environ)
    assert sorted(json.loads(finished.stdout)["services"]) == SERVICES


def _fails(command: list[str]) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode != 0


def _dockerfile() -> str:
    return (ROOT / "docker/Dockerfile").read_text()
