"""int8: weights, and the activations that meet them in matrix products."""

from converters.precisions.base import PrecisionError, Recipe
from trireme.errors import MissingLibraryError


def quantize_dynamic(recipe: Recipe) -> str:
    """ONNX Runtime's dynamic quantization: weights once, activations anew for every batch; no calibration needed.

    Token embeddings are quantized with the matrices (`Gather`): in a small model they are most of the bytes.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from onnxruntime.quantization.shape_inference import quant_pre_process

    prepared = recipe.folder / "prepared.onnx"
    try:
        quant_pre_process(str(recipe.onnx), str(prepared), skip_symbolic_shape=True)
        quantize_dynamic(
            prepared,
            recipe.folder / "model.onnx",
            weight_type=QuantType.QInt8,
            op_types_to_quantize=["MatMul", "Gather"],
        )
    except (RuntimeError, ValueError) as error:
        raise PrecisionError(
            recipe.precision, f"ONNX Runtime cannot quantize the graph ({error})", "use fp32"
        ) from error
    finally:
        prepared.unlink(missing_ok=True)
    return "model.onnx"


def quantize_static(recipe: Recipe) -> str:
    """NNCF's static quantization for OpenVINO with the transformer preset: ranges come from the calibration texts.

    Embeddings keep their precision in NNCF; they are looked up, not multiplied.
    """
    try:
        import nncf
        import openvino
    except ImportError as error:
        raise MissingLibraryError("nncf and openvino", "convert") from error
    calibration = recipe.required_calibration()
    dataset = nncf.Dataset(list(calibration.feeds(recipe.inputs)))
    model = openvino.convert_model(str(recipe.onnx))
    quantized = nncf.quantize(model, dataset, subset_size=len(calibration.rows), model_type=nncf.ModelType.TRANSFORMER)
    openvino.save_model(quantized, str(recipe.folder / "model.xml"), compress_to_fp16=False)
    return "model.xml"
