"""The ONNX graph of a served module, by either of torch's exporters."""

from __future__ import annotations

import importlib
import inspect
import logging
import warnings
from typing import Any

import torch

from .refusal import Refusal, gist

OUTPUT = "output"
_ROWS, _TOKENS = 2, 7
_OPSETS = {"torchscript": 17, "dynamo": 18}
"""17 is the first opset with LayerNormalization as one operator; torch's newer exporter begins at 18."""


def write(module: Any, inputs: list[str], path: str, exporter: str, token: int) -> None:
    """Export with dynamic rows and tokens.

    Args:
        module: what is served, in evaluation mode.
        inputs: names of its tensors, INT64 [rows, tokens].
        path: where the graph goes.
        exporter: `torchscript` or `dynamo`.
        token: the id of any real token.

    Raises:
        ImportError: the interpreter lacks what the exporter needs.
        Refusal: the exporter cannot express the model.
    """
    importlib.import_module("onnx" if exporter == "torchscript" else "onnxscript")  # torch itself says it less clearly
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            _export(module, inputs, path, exporter, _example(inputs, token))
    except Exception as error:
        problem = f"its graph cannot be exported by torch's {exporter} exporter ({type(error).__name__}: {gist(error)})"
        raise Refusal(problem, "try another version of torch and transformers with --python") from error
    finally:
        module.eval()  # an export that failed may leave it in training mode


def _example(inputs: list[str], token: int) -> tuple[torch.Tensor, ...]:
    """Two rows, the second with padding, so that the mask is not all ones while tracing."""
    mask = torch.ones(_ROWS, _TOKENS, dtype=torch.int64)
    mask[1, _TOKENS - 2 :] = 0
    made = {
        "input_ids": torch.full((_ROWS, _TOKENS), token, dtype=torch.int64),
        "attention_mask": mask,
        "token_type_ids": torch.zeros(_ROWS, _TOKENS, dtype=torch.int64),
    }
    return tuple(made[name] for name in inputs)


def _export(module: Any, inputs: list[str], path: str, exporter: str, example: tuple[torch.Tensor, ...]) -> None:
    named: dict[str, Any] = {"input_names": inputs, "output_names": [OUTPUT], "opset_version": _OPSETS[exporter]}
    has_choice = "dynamo" in inspect.signature(torch.onnx.export).parameters
    if exporter == "dynamo":
        if not has_choice:
            raise RuntimeError(f"torch {torch.__version__} has none")
        rows, tokens = torch.export.Dim("rows", max=1 << 16), torch.export.Dim("tokens", max=1 << 16)
        shapes = tuple({0: rows, 1: tokens} for _ in inputs)
        named |= {"dynamo": True, "dynamic_shapes": (shapes,), "external_data": False, "verbose": False}
    else:
        named["dynamic_axes"] = {name: {0: "rows", 1: "tokens"} for name in inputs}
        named |= {"dynamo": False} if has_choice else {}
    torch.onnx.export(module, example, path, **named)
