"""The only place that imports Paddle, PaddleNLP and Paddle2ONNX: each import is slow, loud, and has a trap."""

import contextlib
import importlib.metadata
import importlib.util
import json
import logging
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy.typing as npt

from trireme.errors import CheckpointError, GateError, MissingLibraryError

_log = logging.getLogger(__name__)

# Polygraphy, which Paddle2ONNX calls, would pip-install packages by itself; it reads this when it is imported.
os.environ["POLYGRAPHY_AUTOINSTALL_DEPS"] = "0"


def load_model(
    copy: Path, origin: Path, architecture: str, dtype: str | None = None
) -> tuple[Any, list[str], list[str]]:
    """Load a model in evaluation mode from a private copy of the checkpoint at `origin`.

    `dtype` is what its weights become; None leaves it to the checkpoint. Gives the model, the names of the weights that
    the checkpoint does not hold, which are random, and the names of those that it holds and the model has no place for.

    Raises:
        CheckpointError: the weights do not load.
        MissingLibraryError: PaddleNLP is not installed.
    """
    kind = getattr(import_paddlenlp(), architecture)
    try:
        with quiet(), _recorded(kind) as (missing, unused):
            model = kind.from_pretrained(str(copy), **({"dtype": dtype} if dtype else {}))
    except Exception as error:  # safetensors and Paddle have exception trees of their own
        problem = f"the weights do not load as {architecture} ({gist(error)})"
        remedy = "save it again with save_pretrained; id2label in config.json must name every output of the head"
        raise CheckpointError(origin, problem, remedy) from error
    model.eval()
    return model, missing, unused


@contextlib.contextmanager
def _recorded(kind: Any) -> Iterator[tuple[list[str], list[str]]]:
    """PaddleNLP only warns of weights that it does not find or use: listen to where it counts them."""
    missing: list[str] = []
    unused: list[str] = []
    load = kind._load_pretrained_model

    def recording(*arguments: Any, **named: Any) -> Any:
        result = load(*arguments, **named)
        missing.extend(result[1])
        unused.extend(result[2])
        return result

    kind._load_pretrained_model = recording
    try:
        yield missing, unused
    finally:
        del kind._load_pretrained_model


def load_tokenizer(copy: Path, origin: Path) -> Any:
    """Load the checkpoint's tokenizer, of the class that its `tokenizer_config.json` names.

    Raises:
        CheckpointError: it has none, or it does not load.
    """
    transformers = import_paddlenlp()
    try:
        with quiet():
            # AutoTokenizer does not know every class that PaddleNLP itself names (RobertaChineseTokenizer).
            named = _tokenizer_class(copy) or "AutoTokenizer"
            return getattr(transformers, named, transformers.AutoTokenizer).from_pretrained(str(copy))
    except Exception as error:  # SentencePiece's errors are its own
        problem = f"its tokenizer does not load ({gist(error)})"
        raise CheckpointError(origin, problem, "save the tokenizer into the same folder") from error


def _tokenizer_class(copy: Path) -> str | None:
    path = copy / "tokenizer_config.json"
    settings = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return settings.get("init_class") or settings.get("tokenizer_class")


def forward(model: Any, inputs: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """One dynamic forward pass without gradients."""
    import paddle

    with quiet(), paddle.no_grad():
        result = model(*(paddle.to_tensor(array) for array in inputs))
    output: npt.NDArray[Any] = (result[0] if isinstance(result, (tuple, list)) else result).numpy()
    return output


def write_static(model: Any, inputs: Sequence[str], stem: Path, is_traced: bool = False) -> None:
    """Trace the model into Paddle's static graph: `STEM.json` and `STEM.pdiparams`.

    Raises:
        GateError: the model cannot be traced.
    """
    import paddle

    specs = [paddle.static.InputSpec([None, None], "int64", name) for name in inputs]
    try:
        with quiet():
            if is_traced:
                paddle.jit.ignore_module([sys.modules[type(model.model).__module__]])
            static = paddle.jit.to_static(model, input_spec=specs, full_graph=True)
            try:
                paddle.jit.save(static, str(stem))
            finally:
                static.forward.rollback()  # or the model would go on answering, and not learning, by its static graph
    except Exception as error:
        raise GateError("graph", f"the model cannot be traced ({gist(error)})") from error


def import_paddlenlp() -> Any:
    """PaddleNLP's models and tokenizers, without the rest of the library.

    `import paddlenlp` also imports Taskflow, trainers and datasets, and with them scikit-learn, pandas and Arrow: three
    quarters of 13 s of CPU, for nothing that an export uses. So the package stands as an empty one, whose other modules
    are imported when they are asked for. Where a caller has imported all of PaddleNLP, that one is used.

    Raises:
        MissingLibraryError: PaddleNLP is not installed.
    """
    try:
        with quiet():
            if "paddlenlp" not in sys.modules:
                _stand_in_for_package()
            import paddlenlp.data  # before its models, which import it in a circle
            import paddlenlp.transformers
            from paddlenlp.utils.log import logger
    except ImportError as error:
        raise MissingLibraryError("paddlenlp", "convert") from error
    logger.set_level("ERROR")
    return paddlenlp.transformers


def _stand_in_for_package() -> None:
    import paddle

    found = importlib.util.find_spec("paddlenlp")
    if found is None:
        raise ModuleNotFoundError("paddlenlp")
    package: Any = importlib.util.module_from_spec(found)
    package.__version__ = importlib.metadata.version("paddlenlp")
    package.__getattr__ = _import_part
    sys.modules["paddlenlp"] = package
    paddle.disable_signal_handler()  # as the whole package does


def _import_part(name: str) -> Any:
    try:
        return importlib.import_module(f"paddlenlp.{name}")
    except ModuleNotFoundError as error:
        raise AttributeError(f"paddlenlp has no {name}; import it from the module that defines it") from error


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """The chatter of these libraries goes to our debug log: stdout belongs to results.

    Much of it is printed by native code, so the file descriptors themselves are turned aside.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    saved = os.dup(1), os.dup(2)
    with tempfile.TemporaryFile() as spoken:
        try:
            os.dup2(spoken.fileno(), 1)
            os.dup2(spoken.fileno(), 2)
            yield
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os.dup2(saved[0], 1)
            os.dup2(saved[1], 2)
            for handle in saved:
                os.close(handle)
            spoken.seek(0)
            _log.debug("%s", spoken.read().decode(errors="replace"))


def gist(error: BaseException) -> str:
    """The line of a library's error that says most: shapes that disagree, or else the last one."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    return next((line for line in lines if " shape" in line), lines[-1])
