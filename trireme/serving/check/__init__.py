"""Looks through any Triton model repository, also one that Trireme did not write, before Triton meets it.

It stands in `serving` because it asks what a server would ask: which backends there are, what a policy loads, whether a
release is what was published. A check is one function in the module of its theme and one line in `CHECKS`.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from trireme.contract.repository import Repository
from trireme.errors import RepositoryError
from trireme.serving.check import (
    artifacts,
    backends,
    batching,
    configs,
    ensembles,
    generators,
    graphs,
    pins,
    plans,
    portability,
    releases,
    versions,
)
from trireme.serving.check.model import Check, read_models
from trireme.serving.finding import Finding

CHECKS: Mapping[str, Check] = {
    "config": configs.values,
    "tensors": configs.tensors,
    "backend": backends.exists,
    "versions": versions.exist,
    "empty-version": versions.are_filled,
    "version-policy": versions.follow_policy,
    "artifact": artifacts.exist,
    "python-model": artifacts.python_model,
    "graph": graphs.agree,
    "ensemble-steps": ensembles.steps,
    "ensemble-map": ensembles.maps,
    "ensemble-result": ensembles.results,
    "ensemble-chain": ensembles.chain,
    "ensemble-batch": ensembles.batch_sizes,
    "ensemble-pin": pins.exist,
    "evicted-pin": pins.stay,
    "mixed-pins": pins.agree,
    "ragged": batching.ragged_flags,
    "batching": batching.is_on,
    "warm-up": batching.warm_up,
    "absolute-path": portability.paths,
    "accidental-name": portability.names,
    "manifest": releases.manifests,
    "encoder": releases.encoder,
    "contract": releases.contract,
    "tokenizer": releases.tokenizer,
    "labels": releases.labels,
    "generator": generators.load,
    "plan": plans.fit,
    "integrity": releases.integrity,
}
"""Every check by the name that its findings carry."""

READABLE = "readable"
"""The name of the findings about configs that cannot be read at all; no check looks at these models."""

__all__ = ["CHECKS", "READABLE", "check_repository", "is_completed_by_its_server"]


def is_completed_by_its_server(root: Path) -> bool:
    """Whether Triton will complete configs: so it does unless it is told not to, as all of Trireme's servers are."""
    return not Repository(root).pipelines()


def check_repository(root: Path, auto_complete: bool | None = None) -> list[Finding]:
    """Look at every model; nothing is changed. Findings stand in the order of the models' names.

    `auto_complete` says whether Triton will complete configs; None goes by `is_completed_by_its_server`.

    Raises:
        RepositoryError: there is no such folder, or no model in it.
    """
    if not root.is_dir():
        raise RepositoryError(root, "there is no such model repository", "give the folder that Triton is started with")
    is_completed = is_completed_by_its_server(root) if auto_complete is None else auto_complete
    models = read_models(root, is_completed)
    if not models:
        raise RepositoryError(root, "holds no model", "export a pipeline first (`trireme export --help`)")
    found = []
    for model in models.values():
        if model.fault:
            found.append(replace(configs.unreadable(model), check=READABLE))
            continue
        for name, check in CHECKS.items():
            found += [replace(finding, check=name) for finding in check(model, models)]
    return found
