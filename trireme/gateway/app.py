"""The gateway as an ASGI application: stateless, so that any number of it may stand in front of the same Tritons."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI

from trireme import __version__
from trireme.client.address import Address
from trireme.gateway.failures import add_handlers
from trireme.gateway.fleet import Fleet
from trireme.gateway.middleware import BodyLimit, RequestIds
from trireme.gateway.routes import articles, health, openai, pipelines
from trireme.gateway.spec import GatewaySpec
from trireme.promotion.servers import find_targets


def make_app(spec: GatewaySpec) -> FastAPI:
    """The application for a spec.

    Raises:
        ServerError: a server's name cannot be resolved.
    """
    locations = [Address.parse(server).location for server in spec.servers]
    endpoints = find_targets(locations, Path())

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with Fleet(endpoints, spec.pipelines, spec.timeout_s) as fleet:
            app.state.fleet = fleet
            yield

    app = FastAPI(
        title="Trireme gateway",
        version=__version__,
        summary="Text pipelines and language models on Triton, by REST and by OpenAI's routes.",
        lifespan=lifespan,
    )
    app.state.spec = spec
    for routes in (health, articles, openai, pipelines):
        app.include_router(routes.router)
    add_handlers(app)
    app.add_middleware(BodyLimit, most_bytes=spec.most_body_bytes)
    app.add_middleware(RequestIds)
    return app
