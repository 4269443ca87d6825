"""Strings by chance become the same tokens in a release and in the checkpoint's own library, with the same offsets."""

import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from tests.parity.answers import NAME
from tests.parity.cases import is_long_run
from tests.parity.strings import any_string
from text_runtime.tokenizers.tokenizer import TextTokenizer
from trireme.contract.repository import Repository

pytestmark = [
    pytest.mark.huggingface,
    pytest.mark.drill,
    pytest.mark.xdist_group("parity-strings"),
    pytest.mark.timeout(900),
]
_SCRIPT = Path(__file__).with_name("library_tokens.py")
_BATCH = 100
_COUNT = 2000
_LONG_COUNT = 6000
_KINDS = (
    *("pair_bert", "pair_roberta", "family_xlm_roberta", "family_albert", "family_modernbert", "truncated_left"),
    *("conflict_lower_false", "conflict_accents", "conflict_prefix_space", "conflict_added_token", "vocabulary_only"),
)
_LONG_KINDS = (
    *("family_deberta_v2", "family_mpnet", "family_camembert", "family_distilbert", "conflict_chinese"),
    *("merges_only", "vocabulary_only_cased", "conflict_added_single_word", "conflict_added_normalized"),
    *("conflict_clean_text", "conflict_no_prefix_space"),
)


@dataclass
class Library:
    """The process that answers for `AutoTokenizer`, and what has been compared with it."""

    process: "subprocess.Popen[str]"
    kinds: int = 0
    strings: int = 0
    differences: list[str] = field(default_factory=list)

    def ask(self, folder: Path, texts: list[str], pairs: list[str] | None, max_length: int) -> dict[str, Any]:
        """One batch."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        call = {"folder": str(folder), "texts": texts, "pairs": pairs, "max_length": max_length}
        self.process.stdin.write(json.dumps(call) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer


@pytest.fixture(scope="module")
def library(python: Path) -> Iterator[Library]:
    """One process for all kinds; at the end a line says what was compared."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([str(python), str(_SCRIPT)], text=True, encoding="utf-8", **pipes) as process:
        found = Library(process)
        yield found
        process.stdin.close()
    count = len(found.differences)
    sys.__stderr__.write(f"\n{found.kinds} kinds of tokenizers, {found.strings} strings, {count} differences\n")


@pytest.mark.parametrize("kind", [*_KINDS, *(_LONG_KINDS if is_long_run() else ())])
def test_strings_become_the_tokens_that_the_library_makes_of_them(
    kind: str, matrix: Path, exported: Callable[[str], Path], library: Library
) -> None:
    folder, repository = matrix / kind, Repository(exported(kind))
    specials = library.ask(folder, [], None, 0)["specials"]
    chance = random.Random(f"strings of {kind}")
    wrong: list[str] = []
    for index in range((_LONG_COUNT if is_long_run() else _COUNT) // _BATCH):
        texts = [any_string(chance, specials) for _ in range(_BATCH)]
        pairs = [any_string(chance, specials) for _ in range(_BATCH)] if index % 4 == 3 else None
        length = chance.choice((5, 8, 9, 16, 17, 33, 64)) if index % 2 else 64
        theirs = library.ask(folder, texts, pairs, length)
        wrong += _differences(repository, texts, pairs, length, theirs)
        library.strings += _BATCH
    library.kinds += 1
    library.differences += wrong
    assert not wrong, "\n".join([f"{len(wrong)} strings of {kind}", *wrong[:4]])


def _differences(
    repository: Repository, texts: list[str], pairs: list[str] | None, length: int, theirs: dict[str, Any]
) -> Iterator[str]:
    facts = replace(repository.manifest(NAME, 1).tokenizer, max_length=length)
    folder = repository.release_folders(NAME, 1)["tokenizer"]
    rows = TextTokenizer(folder, facts).encode(texts, pairs)
    with_spans = rows if pairs else TextTokenizer(folder, facts, has_spans=True).encode(texts)
    for index, (row, spanned) in enumerate(zip(rows, with_spans, strict=True)):
        their_types = theirs["types"][index] if theirs["types"] else row.type_ids
        asked = f"{texts[index]!r} with {pairs[index]!r}" if pairs else f"{texts[index]!r}"
        ours, right = (row.ids, row.type_ids), (theirs["ids"][index], their_types)
        if ours != right:
            yield f"{asked} at {length} tokens: {ours} instead of {right}"
        elif spanned.ids != row.ids:
            yield f"{asked} at {length} tokens: {spanned.ids} with offsets, {row.ids} without"
        elif not pairs and (found := _offsets(spanned.spans.tolist())) != theirs["offsets"][index]:
            yield f"{asked} at {length} tokens: offsets {found} instead of {theirs['offsets'][index]}"


def _offsets(spans: list[list[int]]) -> list[list[int] | None]:
    return [None if start < 0 else [start, end] for start, end, _ in spans]
