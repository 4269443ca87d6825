"""Builds the checkpoints of the matrix, and records what the libraries answer. For an interpreter with torch.

    PYTHON tests/parity/checkpoints.py FOLDER [--record VALUES] [--only NAME,NAME] [--long]
    PYTHON tests/parity/checkpoints.py tests/testdata/parity/onnx --graphs
    PYTHON tests/parity/checkpoints.py tests/testdata/parity/tokens --tokens

It imports nothing of ours. Every checkpoint goes to FOLDER/NAME, drawn from numpy's legacy `RandomState`, so that it is
the same under any version of torch; what its own library answers goes to VALUES/NAME.json.
"""

import argparse
import json
import os
import shutil
import sys
import warnings
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
warnings.filterwarnings("ignore")

from matrix import classifiers, conflicts, encoders, refusals, sentences, settings, taggers  # noqa: E402
from matrix.case import Cases  # noqa: E402
from matrix.graphs import write_graphs  # noqa: E402
from matrix.record import record  # noqa: E402
from matrix.tokens import write_tokens  # noqa: E402

_MODULES = (classifiers, taggers, encoders, sentences, settings, conflicts, refusals)


def all_cases() -> Cases:
    """Every case of the matrix; no two have one name."""
    cases = [case for module in _MODULES for case in module.cases()]
    names = [case.name for case in cases]
    assert len(set(names)) == len(names), sorted(name for name in names if names.count(name) > 1)
    return cases


def main() -> None:
    """Build, and record where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--record", type=Path, help="the folder of values")
    parser.add_argument("--only", default="", help="names, or beginnings of names, with commas between")
    parser.add_argument("--long", action="store_true", help="the long cases too")
    parser.add_argument("--graphs", action="store_true", help="the ONNX folders and their values instead, into FOLDER")
    parser.add_argument("--tokens", action="store_true", help="a tokenizer of each kind instead, into FOLDER")
    arguments = parser.parse_args()
    if arguments.graphs:
        write_graphs(arguments.folder)
    if arguments.tokens:
        write_tokens(arguments.folder)
    if arguments.graphs or arguments.tokens:
        return
    wanted = tuple(arguments.only.split(",")) if arguments.only else ("",)
    chosen = [case for case in all_cases() if case.name.startswith(wanted)]
    for case in chosen if arguments.long or arguments.only else [case for case in chosen if not case.is_long]:
        folder = arguments.folder / case.name
        shutil.rmtree(folder, ignore_errors=True)
        case.make(folder)
        if arguments.record:
            arguments.record.mkdir(parents=True, exist_ok=True)
            text = json.dumps(record(case, folder), ensure_ascii=False, separators=(",", ":"))
            (arguments.record / f"{case.name}.json").write_text(text + "\n", encoding="utf-8")
            sys.stdout.write(f"{case.name}\n")


if __name__ == "__main__":
    main()
