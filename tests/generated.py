"""Files in git that code renders: `python -m tests.generated` writes them, `--check` compares."""

import argparse
import sys
from pathlib import Path

from converters.sources.architectures import architectures_table
from tests.pictures import pictures
from trireme.contract.configs import ensemble_config, render, step_config
from trireme.contract.pipelines import CHAIN, Contract, GpuLayout, Step
from trireme.contract.repository import CONFIG_NAME, Repository

ROOT = Path(__file__).parents[1]


def demo_configs() -> dict[Path, str]:
    """The demo pipeline's configs by their path."""
    repository, contract = (
        Repository(ROOT / "model_repository"),
        Contract("sentiment", "text-classification", 2),
    )
    steps = {repository.step_folder("sentiment", step): step_config(contract, step, [1]) for step in CHAIN}
    ensemble = {repository.pipeline_folder("sentiment"): ensemble_config(contract, 1)}
    return {folder / CONFIG_NAME: render(config) for folder, config in (steps | ensemble).items()}


def gpu_configs() -> dict[Path, str]:
    """The configs of pipelines of target gpu, in every variant, by their path: nothing here can load them."""
    folder, graph = ROOT / "tests" / "testdata" / "gpu", ("input_ids", "token_type_ids", "attention_mask")
    plan = Contract("sentiment", "text-classification", 2, GpuLayout("tensorrt", (32, 64), graph))
    fallback = Contract("sentiment", "text-classification", 2, GpuLayout("onnxruntime", (32, 64), graph, "fp16"))
    tags = Contract("tags", "token-classification", 5, GpuLayout("tensorrt", (64,), graph))
    configs = {f"plan_{step.value}": step_config(plan, step, [1]) for step in CHAIN}
    configs["plan_ensemble"] = ensemble_config(plan, 1)
    configs["fallback_encoder"] = step_config(fallback, Step.ENCODER, [1])
    configs["tags_encoder"] = step_config(tags, Step.ENCODER, [1])
    configs["tags_tokenizer"] = step_config(tags, Step.TOKENIZER, [1])
    return {folder / f"{name}.pbtxt": render(config) for name, config in configs.items()}


def generated_files() -> dict[Path, str]:
    """Everything that is generated, by its path."""
    return demo_configs() | gpu_configs() | pictures() | {ROOT / "docs" / "architectures.md": architectures_table()}


def _is_written(path: Path, text: str) -> bool:
    return path.exists() and path.read_text(encoding="utf-8") == text


def main() -> int:
    """Write the generated files, or with `--check` name those that differ; gives the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare only; exit 1 where a file differs")
    is_check = parser.parse_args().check
    stale = [
        path
        for path, text in generated_files().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    for path in stale:
        if not is_check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(generated_files()[path], encoding="utf-8")
        sys.stdout.write(f"{'differs' if is_check else 'written'}: {path.relative_to(ROOT)}\n")
    return int(is_check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
