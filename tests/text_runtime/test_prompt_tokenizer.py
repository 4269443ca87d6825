"""Prompts and texts as UIE reads them, beside the plain tokenizer on the whole of both."""

from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from converters.paddle_runtime import import_paddlenlp
from tests.tasks.checkpoints import vocabulary
from text_runtime.facts import TokenizerFacts
from text_runtime.tasks.schema import ANSWER_END
from text_runtime.tokenizers.prompt_tokenizer import PromptTokenizer

MAX_LENGTH = 32
FACTS = TokenizerFacts(MAX_LENGTH, 0)
ROOM = MAX_LENGTH - 4
"""Tokens that a prompt may have: special ones and one of the text are left."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `tokenizer.json` that an export makes of an ERNIE tokenizer."""
    from converters.tokenizers.wordpiece import write_wordpiece

    made = tmp_path_factory.mktemp("tokenizer")
    (made / "vocab.txt").write_text("\n".join(dict.fromkeys(vocabulary())) + "\n", encoding="utf-8")
    write_wordpiece(import_paddlenlp().ErnieTokenizer(str(made / "vocab.txt")), made / "tokenizer.json")
    return made


TEXTS = {
    "a long run of blanks": "北" + " " * 3000 + "京" * 60,
    "blanks of four prefixes": "北" + " \t\u3000" * 3000 + "京都",
    "nothing but blanks behind": "北京" + " " * 5000,
    "control characters": "北\x00" + "\x01" * 3000 + "京" * 60,
    "zero-width characters": "北" + "\u200b" * 3000 + "京" * 60,
    "a long word": "北" + "a" * 3000 + "京" * 60,
    "a long word at the border": "北" * 5 + " " * 450 + "john" * 20 + "京" * 60,
    "marks upon one character": "北" + "\u0301" * 3000 + "京" * 60,
    "an ordinary one": "在北京工作" * 300,
    "a short one": "在北京工作",
}


@pytest.mark.parametrize("case", TEXTS)
def test_a_text_has_the_tokens_of_the_whole_text_and_counts_what_was_not_read(folder: Path, case: str) -> None:
    text, prompt = TEXTS[case], "地点"
    (row,) = PromptTokenizer(folder, FACTS).encode([text], [[prompt]])
    plain = Tokenizer.from_file(str(folder / "tokenizer.json"))
    plain.no_padding()
    plain.enable_truncation(MAX_LENGTH, strategy="only_second")
    whole = plain.encode(prompt, text)
    assert row.ids == whole.ids
    ends = [end for (_, end), owner in zip(whole.offsets, whole.sequence_ids, strict=True) if owner == 1]
    assert row.truncated_chars == (len(text) - max(ends, default=0) if whole.overflowing else 0)


def test_the_prompt_that_leaves_least_of_a_text_says_how_much_was_cut(folder: Path) -> None:
    (row,) = PromptTokenizer(folder, FACTS).encode(["京" * 40], [["时", "时" * 20]])
    assert row.truncated_chars == 40 - (MAX_LENGTH - 3 - 20)
    assert row.lengths == [MAX_LENGTH, MAX_LENGTH]


@pytest.mark.parametrize("long_text", ["truncate", "window"])
def test_every_option_is_asked_or_the_prompt_is_refused(folder: Path, long_text: str) -> None:
    tokenizer = PromptTokenizer(folder, TokenizerFacts(MAX_LENGTH, 0, long_text=long_text))
    room = ROOM if long_text == "truncate" else ROOM - MAX_LENGTH // 4
    (row,) = tokenizer.encode(["北京" * 4], [["丁" * room]])
    (character,) = set(row.ids[1 : room + 1])
    assert row.ids.count(character) == room * len(row.lengths), "the whole prompt stands in every window"
    wanted = f"has {room + 1} tokens, and the model reads at most {room} of a name; ask fewer options"
    with pytest.raises(ValueError, match=wanted):
        tokenizer.encode(["北京"], [["丁" * (room + 1)]])


def test_an_answer_that_became_a_prompt_loses_its_beginning_and_never_what_is_asked(folder: Path) -> None:
    tokenizer = PromptTokenizer(folder, FACTS)
    assert tokenizer.readable_prompt(f"京都{ANSWER_END}的时间") == "京都的时间"
    assert tokenizer.readable_prompt(f"{'京' * 40}都{ANSWER_END}的时间") == "京" * (ROOM - 4) + "都的时间"
    long = tokenizer.readable_prompt(f"{'johnson ' * 40}{ANSWER_END}的时间")
    assert long.endswith("johnson 的时间")
    with pytest.raises(ValueError, match=f"has {ROOM + 1} tokens"):
        tokenizer.readable_prompt(f"京{ANSWER_END}的{'时' * ROOM}")


@pytest.mark.parametrize("prompt", ["  地  点", "地\u200b点", "地\x00点", "a" * 300 + "点", "e\u0301点"])
def test_characters_of_a_prompt_are_counted_from_its_end(folder: Path, prompt: str) -> None:
    (row,) = PromptTokenizer(folder, FACTS).encode(["北京"], [[prompt]])
    own = row.spans[(row.spans[:, 2] == 0) & (row.spans[:, 1] < 0)]
    start = int(own[-1, 0]) + len(prompt) + 1
    assert prompt[start : int(own[-1, 1]) + len(prompt) + 1] == "点"
    assert np.all(own[:, 0] >= -len(prompt) - 1)
