"""Refuses releases whose TensorRT plan is not of this machine; the container's launcher asks before Triton starts.

    python3 -m text_runtime.plan_check REPOSITORY PIPELINE…

Exit 0: every loaded release may be served; 1: some may not, each with a line on stderr and the command to rebuild it.
"""

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from text_runtime.machine import Machine, MachineError, read_machine
from text_runtime.manifest import read_manifest
from text_runtime.plan import needs_plan, plan_problems, rebuild_command

# This room has no Triton client, which knows the config's grammar; ours are rendered, so these two facts are found.
_LOADED = re.compile(r"version_policy\s*\{\s*specific\s*\{([^}]*)\}")
_ROWS = re.compile(r"^max_batch_size:\s*(\d+)", re.MULTILINE)


def refusals(repository: Path, pipelines: Sequence[str]) -> Iterator[str]:
    """A line for every loaded release that this machine may not serve."""
    machine: Machine | None = None
    for pipeline in pipelines:
        encoder = repository / f"{pipeline}_encoder"
        config = (encoder / "config.pbtxt").read_text(encoding="utf-8")
        rows = int(_ROWS.findall(config)[0])
        for release in map(int, re.findall(r"\d+", "".join(_LOADED.findall(config)))):
            folder = encoder / str(release)
            manifest = read_manifest(folder)
            if not needs_plan(manifest):
                continue
            machine = machine or read_machine()
            for problem in plan_problems(folder, manifest, machine, rows):
                yield f"'{pipeline}' release {release}: {problem}: `{rebuild_command(pipeline, release)}`"


def main(arguments: Sequence[str]) -> int:
    """Check, and say what is wrong; gives the exit code."""
    repository, pipelines = Path(arguments[0]), arguments[1:]
    try:
        found = list(refusals(repository, pipelines))
    except MachineError as error:
        found = [f"a TensorRT plan cannot be served here: {error}"]
    except (OSError, ValueError, IndexError) as error:
        found = [f"a release cannot be read: {error}"]
    sys.stderr.writelines(f"plan check: {line}\n" for line in found)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
