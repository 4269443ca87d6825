"""The four ways to ask: sync and async, over HTTP and gRPC."""

import asyncio
import json
import urllib.request
from typing import Any

from trireme.client import AsyncClient, Client, Retries
from trireme.serving import Server

WAYS = ("http", "grpc", "http.aio", "grpc.aio")


def url_of(server: Server, way: str) -> str:
    """The address for one of `WAYS`."""
    protocol = way.removesuffix(".aio")
    return f"{protocol}://{server.http_url if protocol == 'http' else server.grpc_url}"


def call(url: str, way: str, pipeline: str, method: str, *arguments: Any, retries: Retries | None = None) -> Any:
    """Call a method of a fresh client."""
    if not way.endswith(".aio"):
        with Client(url, pipeline, retries=retries) as client:
            return getattr(client, method)(*arguments)

    async def asked() -> Any:
        async with AsyncClient(url, pipeline, retries=retries) as client:
            return await getattr(client, method)(*arguments)

    return asyncio.run(asked())


def raw(server: Server, pipeline: str, **columns: list[str]) -> list[dict[str, Any]]:
    """What Triton answers to plain JSON, without any client library: outputs by name for each row."""
    inputs = [
        {"name": name, "shape": [len(texts), 1], "datatype": "BYTES", "data": texts} for name, texts in columns.items()
    ]
    body = json.dumps({"inputs": inputs}).encode()
    with urllib.request.urlopen(f"http://{server.http_url}/v2/models/{pipeline}/infer", body, timeout=30) as answer:
        outputs = json.loads(answer.read())["outputs"]
    return [{output["name"]: _row(output, row) for output in outputs} for row in range(len(columns["text"]))]


def _row(output: dict[str, Any], row: int) -> list[Any]:
    width = output["shape"][1]
    values: list[Any] = output["data"][row * width : (row + 1) * width]
    return values
