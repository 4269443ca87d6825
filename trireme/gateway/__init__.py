"""The front door: REST routes in front of one or several Tritons, for those who bring `curl` or an OpenAI client."""

from trireme.gateway.app import make_app
from trireme.gateway.running import run
from trireme.gateway.spec import GatewaySpec

__all__ = ["GatewaySpec", "make_app", "run"]
