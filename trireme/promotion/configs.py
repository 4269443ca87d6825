"""Renders the only parts of a pipeline's configs that ever move: pins, version policies, and the canary's router.

All else is taken over from the configs on disk, so that a tuned instance count or queue survives every promotion.
"""

from tritonclient.grpc.model_config_pb2 import (
    ModelConfig,
    ModelDynamicBatching,
    ModelInstanceGroup,
    ModelParameter,
    ModelTransactionPolicy,
)

from text_runtime.routing.split import Split
from trireme.contract.configs import identity_of, specific_versions
from trireme.contract.families import family_named
from trireme.contract.repository import ROUTER_BACKEND, ROUTER_BACKENDS, ROUTER_VERSION, STREAM_ROUTER_BACKEND
from trireme.promotion.layout import Traffic

_ROUTERS = 2  # the next requests are tokenized while the last ones are encoded


def pinned_ensemble(ensemble: ModelConfig, name: str, release: int) -> ModelConfig:
    """The same ensemble under a name, with every step pinned to one release."""
    pinned = ModelConfig()
    pinned.CopyFrom(ensemble)
    pinned.name = name
    pinned.version_policy.CopyFrom(specific_versions([release]))
    for step in pinned.ensemble_scheduling.step:
        step.model_version = release
    return pinned


def with_versions(config: ModelConfig, releases: frozenset[int]) -> ModelConfig:
    """The same step with exactly these releases loaded."""
    changed = ModelConfig()
    changed.CopyFrom(config)
    changed.version_policy.CopyFrom(specific_versions(releases))
    return changed


def router(ensemble: ModelConfig, split: Split) -> ModelConfig:
    """A router with the ensemble's inputs, outputs and batch size, and what the ensemble says of itself."""
    texts = {
        "current": str(split.current),
        "candidate": str(split.candidate),
        "percent": f"{split.percent:g}",
        "mirror": str(split.is_mirror).lower(),
        "task": identity_of(ensemble).task or "",
        "FORCE_CPU_ONLY_INPUT_TENSORS": "yes",
    }
    is_stream = family_named(identity_of(ensemble).family).is_decoupled
    return ModelConfig(
        name=split.pipeline,
        backend=STREAM_ROUTER_BACKEND if is_stream else ROUTER_BACKEND,
        max_batch_size=ensemble.max_batch_size,
        input=ensemble.input,
        output=ensemble.output,
        dynamic_batching=None if is_stream else ModelDynamicBatching(),
        model_transaction_policy=ModelTransactionPolicy(decoupled=True) if is_stream else None,
        instance_group=[ModelInstanceGroup(count=1 if is_stream else _ROUTERS, kind=ModelInstanceGroup.KIND_CPU)],
        parameters={
            **ensemble.parameters,
            **{name: ModelParameter(string_value=text) for name, text in texts.items()},
        },
        version_policy=specific_versions([ROUTER_VERSION]),
    )


def traffic_of(config: ModelConfig) -> Traffic | None:
    """What a pipeline's config sends its requests to; None where its steps are not pinned to one release."""
    if config.backend in ROUTER_BACKENDS:
        texts = {name: parameter.string_value for name, parameter in config.parameters.items()}
        current, candidate = int(texts["current"]), int(texts["candidate"])
        return Traffic(current, candidate, float(texts["percent"]), texts["mirror"] == "true")
    pins = {step.model_version for step in config.ensemble_scheduling.step}
    return Traffic(pins.pop()) if len(pins) == 1 and min(pins) > 0 else None
