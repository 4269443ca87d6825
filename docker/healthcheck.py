"""Asks every pipeline that this Triton was started with for a real answer, over HTTP, without any large library.

Triton's own health stays green when a model's process has died or a load has failed: only an answer proves a
pipeline. The names come from the file that the entrypoint wrote. Exit 0 when every answer is whole; else 1, and
why on stderr.
"""

import json
import math
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from text_runtime.probe import probe_of

SERVER = os.environ.get("TRIREME_HTTP_URL", "http://127.0.0.1:8000")
LOADED_FILE = Path(os.environ.get("TRIREME_LOADED_FILE", "/tmp/trireme-pipelines"))
TIMEOUT_S = float(os.environ.get("TRIREME_HEALTH_TIMEOUT_S", "4"))


class UnhealthyError(Exception):
    """A pipeline did not answer, or its answer is not whole."""


def fetch(path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """GET, or POST when there is a body, and parse the JSON that comes back.

    Raises:
        UnhealthyError: no answer in time, or a status other than 200.
    """
    content = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{SERVER}/v2/models/{path}", data=content)
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as response:
            answer: dict[str, Any] = json.load(response)
            return answer
    except urllib.error.HTTPError as error:
        raise UnhealthyError(f"{error.code} {error.read(300).decode(errors='replace')}") from error
    except (OSError, ValueError) as error:
        raise UnhealthyError(str(error)) from error


def probe(pipeline: str) -> None:
    """Send one row to a pipeline and judge the answer.

    Raises:
        UnhealthyError: no answer, or an output that the pipeline promises is missing, empty or not finite.
    """
    promised = fetch(pipeline)
    answer = fetch(f"{pipeline}/infer", {"id": "health", "inputs": rows(promised["inputs"])})
    outputs = {output["name"]: output["data"] for output in answer["outputs"]}
    for name in (spec["name"] for spec in promised["outputs"]):
        if not is_whole(outputs.get(name, [])):
            raise UnhealthyError(f"output '{name}' is missing, empty or not finite")


def rows(inputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One small row of every input: each of a pipeline's is STRING [1]."""
    texts = probe_of(spec["name"] for spec in inputs)
    return [{"name": name, "datatype": "BYTES", "shape": [1, 1], "data": [text]} for name, text in texts.items()]


def is_whole(values: list[Any]) -> bool:
    """Whether there are values, and no number among them is NaN or infinite."""
    return bool(values) and all(isinstance(value, str) or math.isfinite(value) for value in values)


def main() -> int:
    """Probe all pipelines."""
    try:
        names = LOADED_FILE.read_text(encoding="utf-8").split()
    except OSError as error:
        sys.stderr.write(f"Triton was not started by the entrypoint: {error}\n")
        return 1
    failed = False
    for name in names:
        try:
            probe(name)
        except UnhealthyError as error:
            sys.stderr.write(f"pipeline '{name}': {error}\n")
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
