"""Answers for tokenizers as `AutoTokenizer` loads them: a line of JSON in, a line of JSON out. For an interpreter with
transformers; it imports nothing of ours.

A call is `{"folder", "texts", "pairs", "max_length"}`. The answer has `ids`, `types` (null where the model gets none),
`offsets` (null for special tokens; none for pairs) and `specials`, the words that stand for no text.
"""

import functools
import json
import os
import sys
import warnings
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"
warnings.filterwarnings("ignore")

import transformers  # noqa: E402


@functools.cache
def _load(folder: str) -> Any:
    return transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)


def _answer(folder: str, texts: list[str], pairs: list[str] | None, max_length: int) -> dict[str, Any]:
    tokenizer = _load(folder)
    specials = [str(word) for word in tokenizer.all_special_tokens]
    if not texts:
        return {"specials": specials}
    rows = tokenizer(texts, pairs, truncation=True, max_length=max_length, return_offsets_mapping=True)
    offsets = [
        [None if owner is None else span for span, owner in zip(spans, rows.sequence_ids(index), strict=True)]
        for index, spans in enumerate(rows["offset_mapping"])
    ]
    return {
        "ids": rows["input_ids"],
        "types": rows.get("token_type_ids"),
        "offsets": offsets if pairs is None else None,
        "specials": specials,
    }


def main() -> None:
    """Answer until stdin ends."""
    results = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        results.write(json.dumps(_answer(**json.loads(line))) + "\n")
        results.flush()


if __name__ == "__main__":
    main()
