"""Becomes another program, apart from the process that asked for it, and gone with it. Run as a script, by `spawn`.

A `preexec_fn` would do the same in a fork, which gRPC's threads in the forking process do not survive unharmed.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Take the asking process's pid and a command line, and run it."""
    parent, command = int(sys.argv[1]), sys.argv[2:]
    # No session of its own: to the kernel that is a group of its own too (autogroup), in which a step that loads lets
    # the others wait for hundreds of milliseconds.
    os.setpgid(0, 0)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() == parent:  # or it died before we asked
        os.execv(command[0], command)


if __name__ == "__main__":
    main()
