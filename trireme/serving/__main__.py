"""The first process of a container: `python3 -m trireme.serving`. Arguments go on to tritonserver.

It starts the image's Triton with every pipeline, brings back what dies, answers an orchestrator's probes, and ends
Triton gently on SIGTERM. Its settings are environment variables; see `container_spec`.
"""

import logging
import os
import sys

from trireme.errors import TriremeError
from trireme.serving.container import serve
from trireme.serving.container_spec import read_spec


def main() -> int:
    """Serve; gives the exit code."""
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    try:
        return serve(read_spec(os.environ, sys.argv[1:]))
    except TriremeError as error:
        sys.stderr.write(f"trireme.serving: {error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
