"""What a release must show before any server loads it."""

from collections.abc import Sequence

from text_runtime.manifest import Manifest
from trireme.admin import Endpoint
from trireme.contract.integrity import verify_release
from trireme.errors import ContractError
from trireme.promotion.disk import PipelineDisk
from trireme.promotion.golden import golden_of
from trireme.promotion.memory import available_bytes, require_memory


def require_stageable(disk: PipelineDisk, servers: Sequence[Endpoint], release: int) -> Manifest:
    """Verify a release's bytes, contract and golden requests, and that it fits into memory; gives its manifest.

    Raises:
        TriremeError: it must not be loaded.
    """
    manifest = verify_release(disk.repository, disk.pipeline, release)
    golden_of(disk, release)
    _require_same_contract(disk, manifest)
    replicas = sum(target.is_local for target in servers)
    if replicas and release not in disk.layout().loaded:
        require_memory(disk.release_bytes(release), available_bytes(), replicas)
    return manifest


def _require_same_contract(disk: PipelineDisk, manifest: Manifest) -> None:
    current = disk.repository.manifest(disk.pipeline, disk.layout().traffic.current)
    for part in ("pipeline", "family", "task", "width"):
        ours, theirs = getattr(current, part, None), getattr(manifest, part, None)
        if ours != theirs:
            raise ContractError(disk.pipeline, f"{part} {theirs} instead of {ours}")
