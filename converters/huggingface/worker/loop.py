"""Reads calls from stdin and writes results to stdout, one JSON object a line each way, until stdin ends.

A call is `{"call": NAME, "arguments": {...}}`. A result is `{"value": ...}`, or `{"refused": {"problem", "remedy"}}`,
`{"failed": "..."}` for what nobody expected, or `{"missing": NAME}` where the interpreter lacks a library. An array
travels as `{"npy": PATH}`, a file that the caller deletes.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import traceback
from typing import Any

from .refusal import Refusal, gist


def main() -> None:
    """Answer calls. Libraries print to stdout as they like: what they print goes to stderr."""
    results = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    session = _session()
    for line in sys.stdin:
        request = json.loads(line)
        result = session if isinstance(session, dict) else _answer(session, request)
        results.write(json.dumps(result, default=_encoded) + "\n")
        results.flush()


def _session() -> Any:
    """The session, or for an interpreter that lacks a library the only result that it can give."""
    try:
        from .session import Session
    except ImportError as error:
        traceback.print_exc()
        return {"missing": error.name or gist(error)}
    return Session()


def _answer(session: Any, request: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"value": session.reply(request["call"], request["arguments"])}
    except Refusal as refusal:
        return {"refused": {"problem": refusal.problem, "remedy": refusal.remedy}}
    except ImportError as error:
        traceback.print_exc()
        return {"missing": error.name or gist(error)}
    except Exception as error:  # a library's error is the caller's to tell; the log has all of it
        traceback.print_exc()
        return {"failed": f"{type(error).__name__}: {gist(error)}"}


def _encoded(array: Any) -> dict[str, Any]:
    """A numpy array as a file in the scratch folder."""
    import numpy as np

    handle, path = tempfile.mkstemp(suffix=".npy")
    with os.fdopen(handle, "wb") as stream:
        np.save(stream, array)
    return {"npy": path}
