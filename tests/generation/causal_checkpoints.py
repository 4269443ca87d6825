"""Small causal language models in the layouts of both libraries, each written by its own."""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

from converters import paddle_runtime

_HERE = Path(__file__).parent
_PROSE = _HERE.parents[1] / "converters" / "generation" / "prose.txt"
_TOKENIZER_FILES = {
    "tokenizer.model": "sentencepiece.bpe.model",
    "vocab.json": "vocab.json",
    "merges.txt": "merges.txt",
    "special_tokens_map.json": "special_tokens_map.json",
    "added_tokens.json": "added_tokens.json",
}


def write_huggingface(python: Path, folder: Path, kind: str) -> None:
    """A `llama` or a `qwen2`, taught a little by Hugging Face's own library."""
    subprocess.run([python, _HERE / "library_checkpoints.py", folder, kind, _PROSE], check=True)


def write_paddlenlp(source: Path, folder: Path, architecture: str) -> None:
    """Load a Hugging Face folder with PaddleNLP, and save it as PaddleNLP does; its tokenizer's files go along."""
    transformers = paddle_runtime.import_paddlenlp()
    with tempfile.TemporaryDirectory() as scratch, paddle_runtime.quiet():
        copy = shutil.copytree(source, Path(scratch) / "copy")  # PaddleNLP writes beside what it reads
        kind = getattr(transformers, architecture)
        kind.from_pretrained(str(copy), convert_from_torch=True, dtype="float32").save_pretrained(str(folder))
    for name, target in _TOKENIZER_FILES.items():
        if (source / name).is_file():
            shutil.copy(source / name, folder / target)
    settings = json.loads((source / "tokenizer_config.json").read_text(encoding="utf-8"))
    settings["chat_template"] = (source / "chat_template.jinja").read_text(encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
