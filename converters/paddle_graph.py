"""A static graph as Paddle Inference runs it: the truth that a release exported from it is compared with."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from converters.paddle_runtime import gist, quiet
from trireme.errors import CheckpointError, GateError, MissingLibraryError

Array = npt.NDArray[Any]


class PaddleGraph:
    """A loaded graph (`.json` or `.pdmodel`, its `.pdiparams` beside), in fp32, without oneDNN's rewriting of it.

    Raises:
        CheckpointError: it does not load.
        MissingLibraryError: Paddle is not installed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            with quiet():
                self._predictor = _predictor(path)
        except ImportError as error:
            raise MissingLibraryError("paddlepaddle", "convert") from error
        except Exception as error:  # Paddle raises whatever its native code threw
            problem = f"{path.name} and {path.stem}.pdiparams do not load ({gist(error)})"
            raise CheckpointError(path.parent, problem, "export the graph again") from error
        self.inputs: tuple[str, ...] = tuple(self._predictor.get_input_names())

    def __call__(self, feeds: Mapping[str, Array]) -> list[Array]:
        """Every output, in the graph's order, for INT64 [rows, tokens] inputs.

        Raises:
            ValueError, RuntimeError: Paddle refused, for example a row longer than the table of positions.
        """
        with quiet():
            for name in self.inputs:
                self._predictor.get_input_handle(name).copy_from_cpu(np.ascontiguousarray(feeds[name]))
            self._predictor.run()
            names = self._predictor.get_output_names()
            return [self._predictor.get_output_handle(name).copy_to_cpu() for name in names]


def check(path: Path, inputs: tuple[str, ...]) -> str:
    """The graph gate for a graph that stays Paddle's: it loads, and has our inputs. Gives a line of facts.

    Raises:
        CheckpointError: it does not load.
        GateError: it has other inputs.
    """
    found = PaddleGraph(path).inputs
    if sorted(found) != sorted(inputs):
        raise GateError("graph", f"its inputs are {sorted(found)}, not {sorted(inputs)}")
    return f"Paddle's static graph of {', '.join(found)}"


def _predictor(path: Path) -> Any:
    import paddle.inference

    config = paddle.inference.Config(str(path), str(path.with_suffix(".pdiparams")))
    config.disable_gpu()
    config.disable_glog_info()
    config.disable_mkldnn()
    return paddle.inference.create_predictor(config)
