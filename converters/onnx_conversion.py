"""A static Paddle graph to ONNX, by Paddle2ONNX, which ends the whole process where it meets what it cannot convert.

So its native part runs in a process of its own, and what it left unsaid is found afterwards: the operator that it does
not know, and the layer that uses it.
"""

import tempfile
from pathlib import Path

from converters.native_conversion import run_conversion
from converters.paddle_runtime import gist, quiet
from trireme.errors import GateError

# Paddle2ONNX lists what it supports by Paddle's old names; these operators of the new graphs are called otherwise.
_OLD_NAMES = {
    **{"add": "elementwise_add", "subtract": "elementwise_sub", "multiply": "elementwise_mul"},
    **{"divide": "elementwise_div", "floor_divide": "elementwise_floordiv", "remainder": "elementwise_mod"},
    **{"maximum": "elementwise_max", "minimum": "elementwise_min", "matmul": "matmul_v2", "unsqueeze": "unsqueeze2"},
    **{name: f"reduce_{name}" for name in ("all", "any", "max", "mean", "min", "prod", "sum")},
    **{"argmax": "arg_max", "argmin": "arg_min", "arange": "range", "nonzero": "where_index", "topk": "top_k_v2"},
    **{"expand": "expand_v2", "flatten": "flatten_contiguous_range", "numel": "size", "add_n": "sum"},
    **{"combine": "builtin_combine", "split": "builtin_split"},
}
_PLUMBING = {"data", "feed", "fetch", "parameter", "constant", "shadow_output"}


def convert(graph: Path, path: Path) -> None:
    """Convert a static graph (`.json` or the older `.pdmodel`, its `.pdiparams` beside) to ONNX.

    Raises:
        GateError: it does not convert; an operator without a counterpart is named with its layer.
    """
    with tempfile.TemporaryDirectory(prefix="trireme-graph-") as scratch:
        try:
            with quiet():
                current = _modernized(graph, Path(scratch)) if graph.suffix == ".pdmodel" else graph
                problem = _convert_apart(current, path)
            if problem is not None:
                raise GateError("graph", f"it does not convert to ONNX: {_unknown_operators(current) or problem}")
            with quiet():
                _fold(path)
        except GateError:
            raise
        except Exception as error:  # Paddle, ONNX and Polygraphy have exception trees of their own
            raise GateError("graph", f"it does not convert to ONNX ({gist(error)})") from error


def _modernized(graph: Path, scratch: Path) -> Path:
    """A `.pdmodel` written again in the format that Paddle 3 writes, which is the one that Paddle2ONNX reads."""
    import paddle

    executor = paddle.static.Executor(paddle.CPUPlace())
    with paddle.pir_utils.OldIrGuard():
        old, _, _ = paddle.static.load_inference_model(str(graph.with_suffix("")), executor)
    program = paddle.pir.translate_to_pir(old.desc)
    operators = program.global_block().ops
    parameters = [value for value in program.list_vars() if value.persistable]
    paddle.base.libpaddle.pir.create_loaded_parameter(
        parameters, paddle.static.global_scope(), executor._default_executor
    )
    feeds = [value for operator in operators if operator.name() == "pd_op.feed" for value in operator.results()]
    fetches = [value for op in operators if op.name() == "pd_op.fetch" for value in op.operands_source()]
    with paddle.pir_utils.IrGuard():
        paddle.static.save_inference_model(str(scratch / "graph"), feeds, fetches, executor, program=program)
    return scratch / "graph.json"


def _convert_apart(graph: Path, path: Path) -> str | None:
    """Convert in a process of its own; gives what went wrong, None where nothing did."""
    ended = run_conversion(graph, path)
    if ended.returncode == 0 and path.is_file():
        return None
    return _reason(ended.stdout + ended.stderr, ended.returncode)


def _reason(spoken: str, code: int) -> str:
    lines = [line.split("[Paddle2ONNX]")[-1].strip() for line in spoken.splitlines() if line.strip()]
    said = [line for line in lines if "[ERROR]" in line] or lines
    return said[-1] if said else f"Paddle2ONNX ended with status {code}"


def _unknown_operators(graph: Path) -> str:
    """The graph's operators that Paddle2ONNX does not know, each with the layers that use it."""
    import paddle
    import paddle2onnx.paddle2onnx_cpp2py_export as native

    known = {*native.get_all_supported_operators_pir(), *_PLUMBING}
    users: dict[str, list[str]] = {}
    with quiet():
        layer = paddle.jit.load(str(graph.with_suffix("")))
    # The operators are views into the layer's program: it must outlive them, or reading one kills this process.
    program = layer.program()
    for operator in program.global_block().ops:
        name = operator.name().split(".", 1)[1].rstrip("_")
        if name not in known and _OLD_NAMES.get(name) not in known:
            users.setdefault(name, []).append(str(operator.attrs().get("struct_name") or "(not named)").strip("/"))
    found = [f"operator '{name}' of layer {', '.join(dict.fromkeys(layers))}" for name, layers in users.items()]
    return f"Paddle2ONNX does not know {'; '.join(found)}" if found else ""


def _fold(path: Path) -> None:
    """Compute what is constant once: engines fuse what is left better."""
    import onnx
    from polygraphy.backend.onnx import fold_constants

    onnx.save(fold_constants(onnx.load(str(path))), str(path))
