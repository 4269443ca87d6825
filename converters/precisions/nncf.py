"""int8 and int4 for OpenVINO, by NNCF."""

import logging
from typing import Any

from converters.precisions.base import Recipe
from converters.precisions.plain import read_openvino, save_openvino
from trireme.errors import MissingLibraryError

_GROUP = 32
"""Weights that share an int4 scale. It must divide every matrix's rows, as it does in all known models."""


def quantize_static(recipe: Recipe) -> str:
    """Static quantization with the transformer preset: ranges come from the calibration texts.

    Tables of embeddings become int8 with the matrices: NNCF compresses what it does not quantize.
    """
    nncf = _import_nncf()
    calibration = recipe.required_calibration()
    # A text as long as the one before spares OpenVINO another compilation of the graph.
    feeds = sorted(calibration.feeds(recipe.inputs), key=lambda feed: feed["input_ids"].shape[1])
    dataset = nncf.Dataset(feeds)
    model = read_openvino(recipe.graph)
    quantized = nncf.quantize(model, dataset, subset_size=len(calibration.rows), model_type=nncf.ModelType.TRANSFORMER)
    return save_openvino(quantized, recipe.folder)


def compress_to_int8(recipe: Recipe) -> str:
    """int8 weights and tables, computed with in fp32: no calibration, little lost, less memory to read."""
    nncf = _import_nncf()
    model = nncf.compress_weights(read_openvino(recipe.graph), mode=nncf.CompressWeightsMode.INT8_ASYM)
    return save_openvino(model, recipe.folder)


def compress_to_int4(recipe: Recipe) -> str:
    """int4 weights and tables in groups of 32 weights with a scale and a zero point each, computed with in fp32."""
    nncf = _import_nncf()
    model = nncf.compress_weights(
        read_openvino(recipe.graph),
        mode=nncf.CompressWeightsMode.INT4_ASYM,
        group_size=_GROUP,
        ratio=1.0,
        all_layers=True,
    )
    return save_openvino(model, recipe.folder)


def _import_nncf() -> Any:
    try:
        import nncf
    except ImportError as error:
        raise MissingLibraryError("nncf", "convert") from error
    nncf.set_log_level(logging.ERROR)
    return nncf
