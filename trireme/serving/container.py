"""Serves a container's pipelines from start to stop, as the container's first process."""

import logging

from text_runtime import plan_check
from trireme.contract.pipelines import Step
from trireme.contract.repository import Repository
from trireme.errors import RepositoryError, ServerError, TriremeError
from trireme.serving.container_spec import ContainerSpec
from trireme.serving.health import Health, answering
from trireme.serving.image_launch import ImageLaunch, image_ports
from trireme.serving.server import Server, interrupt_on_signals
from trireme.serving.workspace import Workspace

_PLAN = "tensorrt_plan"
_BY_SIGNAL = 128
_log = logging.getLogger(__name__)


def serve(spec: ContainerSpec) -> int:
    """Serve until SIGTERM, or until Triton ends and does not come back; gives the exit code, which is Triton's own.

    On SIGTERM it is not ready at once; requests in flight are answered, and Triton is ended.

    Raises:
        TriremeError: nothing was started.
    """
    interrupt_on_signals()
    _require_plans(spec)
    if not spec.given_token:
        _log.warning("no control token: the control APIs are shut")
    workspace = Workspace()
    server = Server(ImageLaunch(spec, image_ports(spec), workspace.folder), workspace)
    health = Health(spec, server)
    try:
        with answering(health, spec.health_host, spec.health_port):
            return _serve(server, health)
    except KeyboardInterrupt:
        _log.info("stopped before it was up")
        return 0
    finally:
        server.stop()


def _serve(server: Server, health: Health) -> int:
    try:
        server.launch()
        _log.info("Triton is up: %s", server.addresses)
        server.wait()
    except ServerError as error:
        _log.error("%s", error)
    finally:
        health.is_stopping = True
    server.stop()
    code = server.triton.exit_code or 0
    return (_BY_SIGNAL - code if code < 0 else code) or int(server.failure is not None)


def _require_plans(spec: ContainerSpec) -> None:
    """A TensorRT plan serves the card, driver and TensorRT that it was built with; elsewhere Triton fails late.

    Raises:
        RepositoryError: a plan is not of this machine; each is named on stderr before.
    """
    planned = [name for name in spec.models if _has_plan(spec, name)]
    if planned and plan_check.main([str(spec.repository), *planned]):
        raise RepositoryError(spec.repository, "these plans may not be served here", "rebuild them, then start again")


def _has_plan(spec: ContainerSpec, name: str) -> bool:
    try:
        return str(Repository(spec.repository).config(Step.ENCODER.model_name(name)).platform) == _PLAN
    except TriremeError:
        return False
