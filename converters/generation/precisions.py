"""Weights of a causal language model in fewer bits: NNCF's weight compression, with real texts or without."""

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from converters.generation.graph import GRAPH_NAME, feeds_of
from converters.paddle_runtime import quiet
from trireme.errors import MissingLibraryError

METHODS = ("awq", "gptq", "scale-estimation")
"""Ways to int4 that look at real texts: scales by the activations they meet, errors passed on to weights that are not
rounded yet, and scales chosen for the least error of outputs."""
_GROUP_SIZE = 64


def compress_weights(folder: Path, precision: str, method: str = "", rows: Sequence[Sequence[int]] = ()) -> None:
    """Rewrite the graph in a folder with weights in `int8` or `int4`. Activations stay as they are.

    int8 is asymmetric, a scale for each output channel. int4 is symmetric with a scale for each 64 weights of a
    channel; embeddings and the last layer, which lose the most, stay int8.

    Args:
        folder: where the graph lies.
        precision: `int8` or `int4`.
        method: one of `METHODS` for int4; empty for none, which takes no texts.
        rows: token ids of the texts that a method looks at.

    Raises:
        MissingLibraryError: OpenVINO or NNCF is not installed.
    """
    try:
        import nncf
        import openvino
    except ImportError as error:
        raise MissingLibraryError("nncf", "convert") from error
    with quiet(), tempfile.TemporaryDirectory(dir=folder, prefix=".compressing-") as scratch:
        model = openvino.Core().read_model(folder / GRAPH_NAME)
        settings = _settings(nncf, precision)
        if method:
            names = {name for port in model.inputs for name in port.names}
            settings["dataset"] = nncf.Dataset([feeds_of(ids, names) for ids in rows])
            settings["subset_size"] = len(rows)
            settings[method.replace("-", "_")] = True
        compressed = nncf.compress_weights(model, **settings)
        written = Path(scratch) / GRAPH_NAME
        openvino.save_model(compressed, written, compress_to_fp16=False)
        del model, compressed
        for path in Path(scratch).iterdir():
            shutil.move(path, folder / path.name)


def _settings(nncf: Any, precision: str) -> dict[str, Any]:
    modes = nncf.CompressWeightsMode
    if precision == "int8":
        return {"mode": modes.INT8_ASYM}
    return {"mode": modes.INT4_SYM, "group_size": _GROUP_SIZE, "ratio": 1.0, "all_layers": False}
