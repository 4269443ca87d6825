"""Prometheus rules and the Grafana dashboard, judged by promtool and against what a real Triton publishes."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.container import Container
from trireme.contract.families import all_layouts

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
# Published by the backends as custom metrics, not by Triton.
OURS = {"trireme_label_total", "trireme_encoder_tokens_total", "trireme_encoder_padding_tokens_total"}


def _promtool(*arguments: str) -> subprocess.CompletedProcess[str]:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("needs promtool (Debian's package prometheus)")
    command = [promtool, *arguments]
    return subprocess.run(command, cwd=DEPLOY / "prometheus", capture_output=True, text=True, check=False)


def _dashboard() -> dict[str, Any]:
    dashboard: dict[str, Any] = json.loads((DEPLOY / "grafana/trireme.json").read_text())
    return dashboard


def _panel_queries() -> list[str]:
    return [target["expr"] for panel in _dashboard()["panels"] for target in panel["targets"]]


def _rule_queries() -> list[str]:
    groups = yaml.safe_load((DEPLOY / "prometheus/rules.yml").read_text())["groups"]
    return [rule["expr"] for group in groups for rule in group["rules"]]


def test_the_rules_give_what_their_examples_say() -> None:
    finished = _promtool("test", "rules", "rules_test.yml")
    assert finished.returncode == 0, finished.stdout + finished.stderr


def test_prometheus_accepts_the_configuration(tmp_path: Path) -> None:
    config = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text())
    (job,) = config["scrape_configs"]
    # Debian builds promtool without Kubernetes' discovery.
    assert job.pop("kubernetes_sd_configs") == [{"role": "pod", "namespaces": {"names": ["trireme"]}}]
    config["rule_files"] = [str(DEPLOY / "prometheus/rules.yml")]
    (tmp_path / "prometheus.yml").write_text(yaml.safe_dump(config))
    finished = _promtool("check", "config", str(tmp_path / "prometheus.yml"))
    assert finished.returncode == 0, finished.stdout + finished.stderr


def test_every_alert_has_an_example_that_fires() -> None:
    rules = yaml.safe_load((DEPLOY / "prometheus/rules.yml").read_text())
    alerts = {rule["alert"] for group in rules["groups"] for rule in group["rules"] if "alert" in rule}
    examples = yaml.safe_load((DEPLOY / "prometheus/rules_test.yml").read_text())["tests"]
    fired = {each["alertname"] for test in examples for each in test["alert_rule_test"] if each.get("exp_alerts")}
    assert fired == alerts


def test_the_dashboards_queries_are_well_formed(tmp_path: Path) -> None:
    queries = [query.replace("$__rate_interval", "5m").replace("$", "") for query in _panel_queries()]
    rules = [{"record": f"panel:query:{number}", "expr": query} for number, query in enumerate(queries)]
    (tmp_path / "panels.yml").write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    finished = _promtool("check", "rules", str(tmp_path / "panels.yml"))
    assert finished.returncode == 0, finished.stdout + finished.stderr


def test_panels_do_not_overlap_and_have_descriptions() -> None:
    panels = _dashboard()["panels"]
    places = {(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels}
    assert len(places) == len(panels)
    assert all(panel["description"] for panel in panels)


def test_whoever_leaves_steps_out_knows_every_kind_of_step() -> None:
    pattern = re.compile(r"_\(([a-z|]+)\)")
    known = {step.value for layout in all_layouts() for step in layout.steps}
    for path in (DEPLOY / "prometheus/rules.yml", DEPLOY / "grafana/trireme.json"):
        lists = [set(found.split("|")) for found in pattern.findall(path.read_text())]
        assert lists
        assert all(found == known for found in lists), path


def test_triton_publishes_every_metric_that_is_queried(container: Container) -> None:
    assert container.healthcheck().returncode == 0
    published = set(re.findall(r"^# TYPE (\w+)", container.metrics(), re.MULTILINE))
    adapter = (DEPLOY / "prometheus/adapter.yml").read_text()
    queried = set(re.findall(r"\b(?:nv|trireme)_\w+", "\n".join([*_panel_queries(), *_rule_queries(), adapter])))
    writing = {
        name for name in queried if name.startswith("trireme_generation_")
    }  # of a pipeline that is not served here
    assert queried - published - writing == OURS | {"trireme_queue_milliseconds"}
