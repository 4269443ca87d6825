"""Rows to judge a plan on: real and generated texts, encoded by the release's tokenizer, for every bucket."""

import bisect
from pathlib import Path

from converters.corpus import generated_texts
from text_runtime.manifest import EncoderManifest
from text_runtime.tokenizers.tokenizer import TextTokenizer
from trireme.text_files import read_texts

_GENERATED_TEXTS = 1000

Rows = dict[int, list[list[int]]]
"""For every bucket the token ids of rows that are padded to it."""


def rows_by_bucket(folder: Path, manifest: EncoderManifest, corpus: Path | None) -> Rows:
    """Encode generated texts and the user's own; a bucket that none falls into gets longer rows, cut.

    Raises:
        TextFileError: the user's file of texts cannot be used.
    """
    buckets = manifest.tokenizer.buckets
    texts = generated_texts(_GENERATED_TEXTS) + (read_texts(corpus) if corpus else [])
    found: Rows = {bucket: [] for bucket in buckets}
    for row in TextTokenizer(folder, manifest.tokenizer).encode(texts):
        found[buckets[bisect.bisect_left(buckets, len(row.ids))]].append(row.ids)
    for shorter, longer in zip(reversed(buckets[:-1]), reversed(buckets[1:]), strict=True):
        if not found[shorter]:
            found[shorter] = [ids[: shorter - 1] + ids[-1:] for ids in found[longer]]
    return found
