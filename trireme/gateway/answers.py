"""Asks a pipeline's rows for a route, and makes its answers JSON."""

from collections.abc import Sequence
from typing import Any

import orjson
from fastapi import Request, Response

from text_runtime.tasks import Answer, Outputs, method_name, task
from trireme.errors import WrongTaskError
from trireme.gateway.failures import BadRequest
from trireme.gateway.fleet import Fleet
from trireme.gateway.presence import while_present

RELEASE = "X-Trireme-Release"
"""The header that names the release, or the releases where a canary answered with both."""


async def answers_of(
    request: Request, pipeline: str, task_name: str, columns: dict[str, list[str]], key: str | None = None
) -> tuple[list[Answer], dict[str, str]]:
    """A pipeline's answers to rows, and the headers that tell its release.

    Raises:
        BadRequest: there are no texts, or too many.
        TriremeError: the pipeline is not there, has another task, or fails.
    """
    fleet: Fleet = request.app.state.fleet
    most = request.app.state.spec.most_texts
    rows = max(map(len, columns.values()), default=0)
    if not 0 < rows <= most:
        raise BadRequest(f"a request has 1 to {most:,} texts, not {rows:,}", next(iter(columns), None))
    await require_task(fleet, pipeline, task_name)
    outputs = await while_present(request, fleet.infer(pipeline, columns, key))
    answers: list[Answer] = task(task_name).answers(outputs)
    return answers, release_header(outputs)


async def require_task(fleet: Fleet, pipeline: str, task_name: str) -> None:
    """Refuse a route whose task is not the pipeline's.

    Raises:
        WrongTaskError: it is another one.
    """
    found = await fleet.task_of(pipeline)
    if found != task_name:
        raise WrongTaskError(pipeline, "the gateway", found, (method_name(task_name), method_name(found)))


async def chosen(fleet: Fleet, wanted: str | None, task_name: str) -> str:
    """The pipeline that a request names, or the only one of the task.

    Raises:
        BadRequest: it names none, and there is not just one.
    """
    if wanted:
        return wanted
    fitting = [name for name, found in (await fleet.pipelines()).items() if found == task_name]
    if len(fitting) != 1:
        raise BadRequest(f"name a model; of {task_name} there are: {', '.join(fitting) or 'none'}", "model")
    return fitting[0]


def release_header(outputs: Outputs) -> dict[str, str]:
    """The header that tells who answered."""
    known = sorted({release for release in outputs.releases if release is not None})
    return {RELEASE: ",".join(map(str, known))} if known else {}


def json_response(content: Any, headers: dict[str, str] | None = None) -> Response:
    """A response of JSON; numpy's arrays become lists."""
    return Response(orjson.dumps(content, option=orjson.OPT_SERIALIZE_NUMPY), 200, headers, "application/json")


def plain(answers: Sequence[Answer]) -> list[dict[str, Any]]:
    """Answers as objects."""
    return [vars(answer) for answer in answers]
