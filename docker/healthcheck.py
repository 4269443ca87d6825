"""Asks the launcher in this container whether it is ready. Exit 0 when it is; else 1, and why on stderr."""

import os
import sys
import urllib.error
import urllib.request

PORT = os.environ.get("TRIREME_HEALTH_ADDRESS", "0.0.0.0:8080").rpartition(":")[2]
TIMEOUT_S = 9


def main() -> int:
    """Ask."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/ready", timeout=TIMEOUT_S):
            return 0
    except urllib.error.HTTPError as error:
        sys.stderr.write(error.read().decode(errors="replace"))
    except OSError as error:
        sys.stderr.write(f"the launcher does not answer: {error}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
