"""`make bench-generation`: the demo's language model behind Triton, beside its engine alone and the articles' recipe.

Every round asks every writer in turn, so that a busy moment of the machine meets them all. Prints tables, and writes
JSON into `reports/`.
"""

import asyncio
import json
import logging
import sys
from collections import defaultdict
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from converters.generation.corpus import PROMPTS, prose
from converters.huggingface.interpreter import find_interpreter
from examples.generation.demo import PIPELINE, ensure_release, weights
from loadtest.writing.measure import Figures, Load, measure, measure_whole, merged, quantile
from loadtest.writing.writers import Writer, engine_writer, transformers_writer, triton_writer
from trireme.contract.repository import Repository
from trireme.errors import InterpreterError, ServerError
from trireme.serving import ServerSpec, start

_ROOT = Path(__file__).parents[2]
_REPORT = _ROOT / "reports" / "generation.json"
_REPOSITORY = _ROOT / "build" / "generation"
_stdout = Console(width=140)
_log = logging.getLogger(__name__)


def _workloads() -> dict[str, Sequence[str]]:
    """Real prompts: short ones, long ones that share nothing, and long ones that begin alike."""
    texts = prose(None)
    page = " ".join(texts)
    return {
        "short": PROMPTS,
        "long": [f"{prompt}\n{page[100 * place : 100 * place + 1500]}" for place, prompt in enumerate(PROMPTS)],
        "shared": [f"{page[:1500]}\n{prompt}" for prompt in PROMPTS],
    }


@dataclass(frozen=True)
class Plan:
    """What is measured: each workload with each number of streams, how often and for how many seconds."""

    workloads: tuple[str, ...]
    streams: tuple[int, ...]
    rounds: int
    seconds: float
    tokens: int


def main(
    rounds: int = 3,
    seconds: float = 20.0,
    tokens: Annotated[int, typer.Option(help="Of every answer.")] = 64,
    streams: Annotated[str, typer.Option(help="How many at once, separated by commas.")] = "1,8,32",
    workloads: Annotated[str, typer.Option(help="Of `short`, `long` and `shared`, separated by commas.")] = "short",
) -> None:
    """Measure the release that `make demo-generation` serves, beside its engine alone and FastAPI + transformers."""
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(message)s")
    ensure_release(_REPOSITORY)
    at_once = tuple(int(number) for number in streams.split(","))
    plan = Plan(tuple(workloads.split(",")), at_once, rounds, seconds, tokens)
    with start(ServerSpec(_REPOSITORY, http_port=0, grpc_port=0, metrics_port=0)) as server:
        found = asyncio.run(_measure_all(server.grpc_url, plan))
    for (workload, number), figures in found.items():
        _stdout.print(_table(f"{workload} prompts, {number} streams of {tokens} tokens", figures))
    _REPORT.parent.mkdir(exist_ok=True)
    _REPORT.write_text(json.dumps(_content(found), indent=2), encoding="utf-8")


Found = dict[tuple[str, int], dict[str, list[Figures]]]


async def _measure_all(grpc_url: str, plan: Plan) -> Found:
    found: Found = defaultdict(lambda: defaultdict(list))
    prompts = _workloads()
    async with AsyncExitStack() as stack:
        writers = await _writers(stack, grpc_url)
        for turn, workload, number, writer in product(range(plan.rounds), plan.workloads, plan.streams, writers):
            if writer.is_whole and turn:
                continue  # it takes minutes, and is far from the others
            _log.info("round %d: %s, %s prompts, %d streams", turn + 1, writer.name, workload, number)
            take = measure_whole if writer.is_whole else measure
            figures = await take(writer, prompts[workload], Load(number, plan.seconds, plan.tokens))
            found[workload, number][writer.name].append(figures)
    return found


async def _writers(stack: AsyncExitStack, grpc_url: str) -> list[Writer]:
    repository = Repository(_REPOSITORY)
    folder = repository.release_folders(PIPELINE, max(repository.releases(PIPELINE)))["generator"]
    writers = [
        await stack.enter_async_context(engine_writer(folder, "openvino-genai")),
        await stack.enter_async_context(triton_writer(grpc_url, PIPELINE)),
    ]
    try:
        python = find_interpreter()
        writers.append(await stack.enter_async_context(transformers_writer(python, weights())))
    except (InterpreterError, ServerError) as error:
        _log.warning("without FastAPI + transformers: %s", error)
    return writers


def _table(title: str, figures: dict[str, list[Figures]]) -> Table:
    table = Table("", "tokens/s", "of the ceiling", "first p50", "first p99", "between p50", "between p99", title=title)
    whole = {name: merged(rounds) for name, rounds in figures.items()}
    ceiling = next(iter(whole.values())).tokens_per_s
    for name, each in whole.items():
        lists = (each.first_s, each.between_s)
        times = (f"{1e3 * quantile(values, percent):.0f} ms" for values in lists for percent in (50, 99))
        table.add_row(name, f"{each.tokens_per_s:.1f}", f"{each.tokens_per_s / ceiling:.2f}", *times)
    return table


def _content(found: Found) -> list[dict[str, object]]:
    return [
        {
            "workload": workload,
            "streams": number,
            "writer": name,
            "tokens_per_s": [each.tokens_per_s for each in rounds],
            "first_ms_p50": 1e3 * quantile(merged(rounds).first_s, 50),
            "between_ms_p50": 1e3 * quantile(merged(rounds).between_s, 50),
        }
        for (workload, number), figures in found.items()
        for name, rounds in figures.items()
    ]


if __name__ == "__main__":
    typer.run(main)
