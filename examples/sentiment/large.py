"""A larger model for the benchmark: an ERNIE of 6 layers x 768 with random weights and the demo's vocabulary.

Its answers mean nothing; its cost is that of `ernie-3.0-medium`.
"""

import shutil
from pathlib import Path

_CHECKPOINT = Path(__file__).parent / "checkpoint"


def write_large_checkpoint(folder: Path) -> Path:
    """Write the checkpoint; gives its folder."""
    import paddle
    from paddlenlp.transformers import ErnieConfig, ErnieForSequenceClassification

    paddle.seed(0)
    config = ErnieConfig.from_pretrained(str(_CHECKPOINT))
    config.hidden_size, config.intermediate_size = 768, 3072
    config.num_hidden_layers, config.num_attention_heads = 6, 12
    config.hidden_act = "gelu"
    ErnieForSequenceClassification(config).save_pretrained(str(folder))
    for name in ("vocab.txt", "tokenizer_config.json", "special_tokens_map.json"):
        shutil.copy(_CHECKPOINT / name, folder / name)
    return folder
