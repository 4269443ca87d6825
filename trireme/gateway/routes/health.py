"""Whether the gateway lives, and whether it can answer."""

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

router = APIRouter(tags=["health"])


class Health(BaseModel):
    """What stands behind the gateway. `status` is `ok` where at least one server is ready, else `unavailable`."""

    status: str
    servers: dict[str, bool] = {}


@router.get("/health/live")
async def live() -> Health:
    """The process answers."""
    return Health(status="ok")


@router.get("/health")
@router.get("/health/ready", responses={503: {"model": Health}})
async def ready(request: Request, response: Response) -> Health:
    """At least one Triton is ready; else 503."""
    states = await request.app.state.fleet.states()
    if not any(states.values()):
        response.status_code = 503
        return Health(status="unavailable", servers=states)
    return Health(status="ok", servers=states)
