"""`python -m loadtest PIPELINE`: a load test without a browser. Exit 0: all right; 1: a failure; 2: usage."""

# ruff: noqa: E402, I001 - gevent replaces the blocking parts of the standard library before anything else uses them.
from gevent import monkey

monkey.patch_all()

import sys

from loadtest.command import main

sys.exit(main())
