"""The rendered Kubernetes overlays: what they promise, and whether Kubernetes' own schemas accept them."""

import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
OVERLAYS = ["cpu", "gpu"]
PROBES = {"startupProbe": "/started", "readinessProbe": "/ready", "livenessProbe": "/live"}


@cache
def _rendered(overlay: str) -> str:
    kubectl = shutil.which("kubectl", path=f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin")
    if kubectl is None:
        pytest.skip("needs kubectl")
    command = [kubectl, "kustomize", str(ROOT / "deploy/kubernetes/overlays" / overlay)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.fixture(params=OVERLAYS)
def objects(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The objects of an overlay as `Kind/name`."""
    found = yaml.safe_load_all(_rendered(request.param))
    return {f"{each['kind']}/{each['metadata']['name']}": each for each in found}


def _pod(objects: dict[str, Any]) -> dict[str, Any]:
    pod: dict[str, Any] = objects["Deployment/triton"]["spec"]["template"]["spec"]
    return pod


def _container(objects: dict[str, Any]) -> dict[str, Any]:
    (container,) = _pod(objects)["containers"]
    assert isinstance(container, dict)
    return container


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_kubernetes_schemas_accept_every_object(overlay: str) -> None:
    validation = pytest.importorskip("kubernetes_validate", reason="needs kubernetes-validate")
    for each in yaml.safe_load_all(_rendered(overlay)):
        validation.validate(each, validation.latest_version(), strict=True)


def test_the_image_is_the_one_that_compose_builds(objects: dict[str, Any]) -> None:
    tag = re.search(r"^TRITON_TAG=(\S+)$", (ROOT / ".env").read_text(), re.MULTILINE)
    assert tag is not None
    assert _container(objects)["image"] == f"trireme-triton:{tag[1]}"


def test_the_pod_has_no_privileges(objects: dict[str, Any]) -> None:
    pod, container = _pod(objects)["securityContext"], _container(objects)["securityContext"]
    assert (pod["runAsNonRoot"], pod["runAsUser"]) == (True, 1000)
    assert pod["seccompProfile"] == {"type": "RuntimeDefault"}
    assert (container["allowPrivilegeEscalation"], container["readOnlyRootFilesystem"]) == (False, True)
    assert container["capabilities"] == {"drop": ["ALL"]}
    assert _pod(objects)["automountServiceAccountToken"] is False
    assert objects["Namespace/trireme"]["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"


def test_every_probe_is_a_real_inference(objects: dict[str, Any]) -> None:
    container = _container(objects)
    assert {"name": "health", "containerPort": 8080} in container["ports"]
    for probe, path in PROBES.items():
        assert container[probe]["httpGet"] == {"path": path, "port": "health"}
    slowest = container["livenessProbe"]["periodSeconds"] * container["livenessProbe"]["failureThreshold"]
    readiness = container["readinessProbe"]["periodSeconds"] * container["readinessProbe"]["failureThreshold"]
    assert slowest >= 10 * readiness


def test_a_pod_drains_before_it_is_killed(objects: dict[str, Any]) -> None:
    container = _container(objects)
    pause_s = int(container["lifecycle"]["preStop"]["exec"]["command"][1])
    exit_s = int({each["name"]: each["value"] for each in container["env"]}["TRIREME_EXIT_TIMEOUT_S"])
    assert _pod(objects)["terminationGracePeriodSeconds"] > pause_s + exit_s


def test_shared_memory_is_memory_and_models_are_read_only(objects: dict[str, Any]) -> None:
    volumes = {each["name"]: each for each in _pod(objects)["volumes"]}
    mounts = {each["mountPath"]: each for each in _container(objects)["volumeMounts"]}
    assert volumes[mounts["/dev/shm"]["name"]]["emptyDir"]["medium"] == "Memory"
    assert mounts["/models"]["readOnly"] is True
    assert volumes[mounts["/models"]["name"]]["persistentVolumeClaim"]["readOnly"] is True


def test_all_selectors_find_the_pods(objects: dict[str, Any]) -> None:
    labels = objects["Deployment/triton"]["spec"]["template"]["metadata"]["labels"]
    spread = [each["labelSelector"] for each in _pod(objects)["topologySpreadConstraints"]]
    selectors = [each["matchLabels"] for each in spread]
    selectors += [objects[name]["spec"]["selector"] for name in ("Service/triton", "Service/triton-control")]
    for name in ("Deployment/triton", "PodDisruptionBudget/triton"):
        selectors.append(objects[name]["spec"]["selector"]["matchLabels"])
    selectors.append(objects["NetworkPolicy/triton"]["spec"]["podSelector"]["matchLabels"])
    for selector in selectors:
        assert selector
        assert selector.items() <= labels.items()


def test_control_is_headless_and_metrics_are_not_on_the_data_service(objects: dict[str, Any]) -> None:
    assert objects["Service/triton-control"]["spec"]["clusterIP"] == "None"
    assert [port["port"] for port in objects["Service/triton"]["spec"]["ports"]] == [8000, 8001]
    outside = [
        rule for rule in objects["NetworkPolicy/triton"]["spec"]["ingress"] if _has_label(rule, "trireme/clients")
    ]
    assert [port["port"] for rule in outside for port in rule["ports"]] == ["http", "grpc"]
    assert objects["NetworkPolicy/triton"]["spec"]["egress"] == []


def _has_label(rule: dict[str, Any], label: str) -> bool:
    return any(label in each.get("namespaceSelector", {}).get("matchLabels", {}) for each in rule["from"])


def test_the_autoscaler_owns_the_replicas(objects: dict[str, Any]) -> None:
    assert "replicas" not in objects["Deployment/triton"]["spec"]
    scaler = objects["HorizontalPodAutoscaler/triton"]["spec"]
    assert scaler["scaleTargetRef"]["name"] == "triton"
    assert 1 < scaler["minReplicas"] < scaler["maxReplicas"]
    assert scaler["metrics"][0]["resource"]["name"] == "cpu"


def test_only_the_gpu_overlay_asks_for_a_gpu_and_scales_on_the_queue(objects: dict[str, Any]) -> None:
    is_gpu = "nvidia.com/gpu" in _container(objects)["resources"]["limits"]
    metrics = objects["HorizontalPodAutoscaler/triton"]["spec"]["metrics"]
    names = [each["pods"]["metric"]["name"] for each in metrics if each["type"] == "Pods"]
    assert names == (["trireme_queue_milliseconds"] if is_gpu else [])
    adapter = yaml.safe_load((ROOT / "deploy/prometheus/adapter.yml").read_text())
    assert adapter["rules"][0]["name"]["as"] == "trireme_queue_milliseconds"
