"""Counts the forks of this process, which gRPC's threads in it do not survive unharmed."""

import os


def forks_from_now() -> list[int]:
    """A list that grows with every fork. Python never takes the hook back, so it grows until the process ends."""
    seen: list[int] = []
    os.register_at_fork(before=lambda: seen.append(os.getpid()))
    return seen
