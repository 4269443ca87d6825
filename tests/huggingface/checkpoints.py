"""A small BERT in Hugging Face's layout, written without torch."""

from pathlib import Path

from tests.converters.checkpoints import make_model, pad_of, write_vocabulary


def write_hugging_face(folder: Path, name: str) -> Path:
    """The same model in Hugging Face's layout: linear weights transposed, their names, and a `tokenizer.json`."""
    from safetensors.numpy import save_file
    from tokenizers.implementations import BertWordPieceTokenizer

    model = make_model(name, len(write_vocabulary(folder, pad_of(name))))
    model.config.architectures = [name]
    model.config.save_pretrained(str(folder))
    weights = {key: value.numpy() for key, value in model.state_dict().items()}
    mappings = [entry for entry in type(model)._get_name_mappings(model.config) if entry.target_name in weights]
    tensors = {
        entry.source_name: (weights[entry.target_name].T if entry.should_transpose() else weights[entry.target_name])
        for entry in mappings
    }
    tensors |= {name: weights[name] for name in ("classifier.bias",) if name in weights}  # BERT's mappings forget it
    save_file({key: value.copy() for key, value in tensors.items()}, folder / "model.safetensors", {"format": "pt"})
    BertWordPieceTokenizer(str(folder / "vocab.txt")).save(str(folder / "tokenizer.json"))
    return folder
