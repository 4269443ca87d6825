"""Our own routes: every task of every pipeline."""

from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Body, Request, Response
from pydantic import BaseModel

from text_runtime.tasks import task, task_names
from text_runtime.tensors import SCHEMA, TEXT, TEXT_PAIR
from trireme.gateway.answers import answers_of, json_response, plain
from trireme.gateway.failures import BadRequest

router = APIRouter(prefix="/v1/pipelines", tags=["pipelines"])


class Pipeline(BaseModel):
    """A pipeline on offer."""

    name: str
    task: str


class Rows(BaseModel, extra="forbid"):
    """Texts to be answered, one answer each. Pair tasks take as many `pairs`; an extraction takes one `schema`."""

    texts: list[str]
    pairs: list[str] | None = None
    schema_: Annotated[Any, Body(alias="schema")] = None
    key: str | None = None


@router.get("")
async def list_pipelines(request: Request) -> list[Pipeline]:
    """The pipelines on offer, and their tasks."""
    return [Pipeline(name=name, task=found) for name, found in (await request.app.state.fleet.pipelines()).items()]


@router.post("/{name}/{task_name}")
async def ask(request: Request, name: str, task_name: str, rows: Rows) -> Response:
    """Ask a pipeline; the answers stand in the order of the texts."""
    if task_name not in task_names():
        raise BadRequest(f"there is no task '{task_name}' of rows; there are: {', '.join(task_names())}", "task_name")
    answers, headers = await answers_of(request, name, task_name, _columns(task_name, rows), rows.key)
    return json_response({"pipeline": name, "task": task_name, "answers": plain(answers)}, headers)


def _columns(task_name: str, rows: Rows) -> dict[str, list[str]]:
    """What the task takes, no more and no less."""
    schema = rows.schema_
    given = {TEXT.name: rows.texts}
    if rows.pairs is not None:
        given[TEXT_PAIR.name] = rows.pairs
    if schema is not None:
        given[SCHEMA.name] = [schema if isinstance(schema, str) else orjson.dumps(schema).decode()] * len(rows.texts)
    wanted = [tensor.name for tensor in task(task_name).inputs]
    if set(given) != set(wanted):
        raise BadRequest(f"{task_name} takes {', '.join(wanted)}, and was given {', '.join(given)}", "texts")
    if any(len(column) != len(rows.texts) for column in given.values()):
        raise BadRequest(f"there are {len(rows.texts)} texts and {len(rows.pairs or [])} pairs", "pairs")
    return given
