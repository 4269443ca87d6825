"""What a container serves, read from its environment.

MODEL_REPOSITORY            the repository (/models)
TRIREME_PIPELINES           names to load, separated by blanks; all pipelines when empty
TRIREME_CONTROL_TOKEN_FILE  file with the token that opens the control APIs (/run/secrets/control_token)
TRIREME_CONTROL_TOKEN       the token itself; the file goes first
TRIREME_HEALTH_ADDRESS      where liveness, readiness and start-up are answered (0.0.0.0:8080)
TRIREME_HEALTH_TIMEOUT_S    how long a pipeline may take to answer the health probe (4)
TRIREME_EXIT_TIMEOUT_S      how long requests in flight may take to finish after SIGTERM (30)
TRIREME_LATENCY_SUMMARIES   whether p50, p95 and p99 of every model are among the metrics (true); see `trireme serve`
TRIREME_SHARED_MEMORY       whether clients may send data through system shared memory (false); see `trireme serve`
TRIREME_ALLOCATOR           library to preload in place of glibc's memory allocator (mimalloc); none when empty
"""

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trireme.contract.families import all_layouts
from trireme.contract.repository import CONFIG_NAME, Repository
from trireme.errors import ControlTokenError, RepositoryError, SettingError, TriremeError

TOKEN = "TRIREME_CONTROL_TOKEN"
_TOKEN_FILE = "/run/secrets/control_token"
# Triton's flag has no quoting: a comma or a blank would change its meaning.
_SAFE_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,}")
_ADDRESS = re.compile(r"([^:\s]+):(\d{1,5})")


@dataclass(frozen=True)
class ContainerSpec:
    """What one container serves. `arguments` go on to tritonserver; an empty `given_token` shuts the control APIs.

    Raises:
        RepositoryError: there is no pipeline to load.
    """

    repository: Path
    models: tuple[str, ...]
    given_token: str = field(default="", repr=False)
    health_host: str = "0.0.0.0"
    health_port: int = 8080
    health_timeout_s: float = 4.0
    exit_timeout_s: int = 30
    latency_summaries: bool = True
    shared_memory: bool = False
    arguments: tuple[str, ...] = ()
    # Without a token the control APIs are shut with one that nobody knows.
    _own_token: str = field(default_factory=lambda: secrets.token_hex(32), repr=False)

    def __post_init__(self) -> None:
        if not self.models:
            remedy = "export one, or mount the right model repository"
            raise RepositoryError(self.repository, f"no pipeline in {self.repository}", remedy)

    @property
    def control_token(self) -> str:
        """What opens the control APIs."""
        return self.given_token or self._own_token

    @property
    def names(self) -> tuple[str, ...]:
        """The pipelines, without the ensembles that are there because a release is staged."""
        repository = Repository(self.repository)
        sides = {f"{name}_v{release}" for name in self.models for release in repository.sides(name)}
        return tuple(name for name in self.models if name not in sides)

    @property
    def steps(self) -> tuple[str, ...]:
        """The models that the ensembles call."""
        return tuple(dict.fromkeys(step for name in self.models for step in self._steps_of(name)))

    def _steps_of(self, name: str) -> list[str]:
        try:
            config = Repository(self.repository).config(name)
        except TriremeError:
            return []  # Triton says of it what is wrong, and the health check that it does not answer
        return [step.model_name for step in config.ensemble_scheduling.step]


def read_spec(environment: Mapping[str, str], arguments: Sequence[str]) -> ContainerSpec:
    """What the environment says.

    Raises:
        TriremeError: a setting means nothing, there is no pipeline, or the control token cannot be read or used.
    """
    repository = Path(environment.get("MODEL_REPOSITORY") or "/models")
    host, port = _address(environment, "TRIREME_HEALTH_ADDRESS", "0.0.0.0:8080")
    return ContainerSpec(
        repository,
        tuple(environment.get("TRIREME_PIPELINES", "").split() or _loadable(repository)),
        _token(environment),
        host,
        port,
        _seconds(environment, "TRIREME_HEALTH_TIMEOUT_S", "4"),
        round(_seconds(environment, "TRIREME_EXIT_TIMEOUT_S", "30")),
        _switch(environment, "TRIREME_LATENCY_SUMMARIES", "true"),
        _switch(environment, "TRIREME_SHARED_MEMORY", "false"),
        tuple(arguments),
    )


def _loadable(repository: Path) -> list[str]:
    """Every model but the steps: a step comes with its pipeline, as Triton loads what an ensemble is made of."""
    names = sorted(path.parent.name for path in repository.glob(f"*/{CONFIG_NAME}"))
    return [name for name in names if not name.startswith(".") and not _is_step(repository, name)]


def _is_step(repository: Path, name: str) -> bool:
    endings = {f"_{step.value}" for layout in all_layouts() for step in layout.steps}
    pipelines = (name.removesuffix(ending) for ending in endings if name.endswith(ending))
    return any((repository / pipeline / CONFIG_NAME).is_file() for pipeline in pipelines)


def _token(environment: Mapping[str, str]) -> str:
    path = Path(environment.get(f"{TOKEN}_FILE") or _TOKEN_FILE)
    try:
        content = path.read_bytes().decode(errors="replace")
    except FileNotFoundError:
        content = ""  # an optional secret that was not made
    except OSError as error:
        remedy = "let this user read it, or give no file to keep the control APIs shut"
        raise ControlTokenError(f"cannot be read from {path} ({error.strerror})", remedy) from error
    token = content.replace("\r", "").replace("\n", "") or environment.get(TOKEN, "")
    if token and not _SAFE_TOKEN.fullmatch(token):
        remedy = "make one with openssl rand -hex 32"
        raise ControlTokenError("must be 16 or more letters, digits, '-' or '_'", remedy)
    return token


def _switch(environment: Mapping[str, str], variable: str, usual: str) -> bool:
    value = environment.get(variable) or usual
    if value not in ("true", "false"):
        raise SettingError(variable, value, "say true or false")
    return value == "true"


def _seconds(environment: Mapping[str, str], variable: str, usual: str) -> float:
    value = environment.get(variable) or usual
    try:
        seconds = float(value)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise SettingError(variable, value, "give a positive number of seconds")
    return seconds


def _address(environment: Mapping[str, str], variable: str, usual: str) -> tuple[str, int]:
    value = environment.get(variable) or usual
    found = _ADDRESS.fullmatch(value)
    if not found or not 1 <= int(found[2]) <= 65535:
        raise SettingError(variable, value, "give a host and a port, such as 0.0.0.0:8080")
    return found[1], int(found[2])
