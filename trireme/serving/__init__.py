"""Starts Triton on this machine, waits until it really answers, keeps it alive, and ends it without a trace.

Triton, its Python backend and their libraries come from the `nvidia-pytriton` wheel; no container and no GPU is needed.
It listens on loopback only: the wheel's Triton lacks the security fixes of later releases, so production runs NVIDIA's
patched image instead (see `docker-compose.yml`).
"""

from trireme.serving.server import Server, serve, start
from trireme.serving.spec import ServerSpec

__all__ = ["Server", "ServerSpec", "serve", "start"]
