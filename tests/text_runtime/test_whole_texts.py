"""However long a text is and however it begins, its tokens are those of the whole text; what is left out is told."""

import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Encoding, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from converters.corpus import generated_texts
from text_runtime.facts import TokenizerFacts
from text_runtime.tokenizers.prompt_tokenizer import PromptTokenizer
from text_runtime.tokenizers.tokenizer import FILE_NAME, TextTokenizer
from text_runtime.tokenizers.windows import MAX_WINDOWS

_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
_CORPUS = [*generated_texts(150), "the quick brown fox jumps over the lazy dog " * 20, "很好的酒店，服务也不错。" * 20]


def _word_piece() -> tuple[Tokenizer, trainers.Trainer]:
    made = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return made, trainers.WordPieceTrainer(vocab_size=900, special_tokens=_SPECIAL, show_progress=False)


def _byte_bpe() -> tuple[Tokenizer, trainers.Trainer]:
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    return made, trainers.BpeTrainer(
        vocab_size=700, special_tokens=_SPECIAL, initial_alphabet=alphabet, show_progress=False
    )


def _unigram(split: bool) -> tuple[Tokenizer, trainers.Trainer]:
    made = Tokenizer(models.Unigram())
    made.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    made.pre_tokenizer = pre_tokenizers.Metaspace(split=split)
    return made, trainers.UnigramTrainer(
        vocab_size=6000, special_tokens=_SPECIAL, unk_token="[UNK]", show_progress=False
    )


def _bpe_without_words() -> tuple[Tokenizer, trainers.Trainer]:
    made = Tokenizer(models.BPE(unk_token="[UNK]"))
    made.normalizer = normalizers.Replace(" ", "▁")
    return made, trainers.BpeTrainer(vocab_size=600, special_tokens=_SPECIAL, show_progress=False, max_token_length=12)


KINDS: dict[str, Callable[[], tuple[Tokenizer, trainers.Trainer]]] = {
    "WordPiece": _word_piece,
    "byte BPE": _byte_bpe,
    "Unigram": lambda: _unigram(split=False),
    "Unigram of words": lambda: _unigram(split=True),
    "BPE without words": _bpe_without_words,
}


@cache
def folder_of(kind: str) -> Path:
    """A `tokenizer.json` of that kind, trained here."""
    made, trainer = KINDS[kind]()
    made.train_from_iterator(_CORPUS, trainer)
    ids = {token: made.token_to_id(token) for token in ("[CLS]", "[SEP]")}
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=list(ids.items())
    )
    folder = Path(mkdtemp(prefix="tokenizer-"))
    made.save(str(folder / FILE_NAME))
    return folder


def whole(kind: str, max_length: int, stride: int = 0, side: str = "right") -> Tokenizer:
    """The library alone, which reads a text to its end."""
    found = Tokenizer.from_file(str(folder_of(kind) / FILE_NAME))
    found.enable_truncation(max_length, stride=stride, direction=side)
    return found


def unread(encoding: Encoding, text: str, side: str = "right") -> int:
    """Characters of a text that the kept tokens do not reach."""
    if not encoding.overflowing:
        return 0
    if side == "left":
        return min((start for start, _ in own_spans(encoding)), default=len(text))
    return len(text) - max((end for _, end in own_spans(encoding)), default=0)


def own_spans(encoding: Encoding) -> list[tuple[int, int]]:
    """The characters of the tokens that are not special."""
    owners = zip(encoding.offsets, encoding.sequence_ids, strict=True)
    return [span for span, owner in owners if owner is not None]


_RUNS = st.sampled_from(
    [
        " ",
        "\t\n",
        "\u3000",
        "\u200b",
        "\x00",
        "\u0301",
        "a",
        "好",
        "ab",
        "1",
        "。",
        "-",
        "😀",
        "[SEP]",
        "[MASK",
        "e\u0301",
    ]
)
_RUN = st.builds(lambda piece, count: piece * count, _RUNS, st.integers(1, 900))
_PROSE = st.sampled_from(["the fox ", "很好的酒店", "Straße, ", "12.5% ", " don't ", "x" * 120])
TEXTS = st.lists(st.one_of(_RUN, _PROSE, st.text(max_size=12)), max_size=6).map("".join)
_SETTINGS = settings(max_examples=20, deadline=None, derandomize=True)


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_text_has_the_ids_of_the_whole_text(kind: str, side: str) -> None:
    reference = whole(kind, 8, side=side)
    ours = TextTokenizer(folder_of(kind), TokenizerFacts(8, 0, truncation_side=side))

    @given(st.lists(TEXTS, min_size=1, max_size=3))
    @_SETTINGS
    def check(texts: list[str]) -> None:
        for row, text in zip(ours.encode(texts), texts, strict=True):
            their = reference.encode(text)
            assert (row.ids, row.truncated_chars) == (their.ids, unread(their, text, side))

    check()


@pytest.mark.parametrize("max_length", [11, 12], ids=["even room", "odd room"])
@pytest.mark.parametrize("kind", KINDS)
def test_either_text_of_a_pair_has_the_ids_of_the_whole_text(kind: str, max_length: int) -> None:
    reference, bare = whole(kind, max_length), Tokenizer.from_file(str(folder_of(kind) / FILE_NAME))
    ours = TextTokenizer(folder_of(kind), TokenizerFacts(max_length, 0))

    @given(TEXTS, TEXTS)
    @_SETTINGS
    def check(text: str, pair: str) -> None:
        (row,) = ours.encode([text], [pair])
        their = reference.encode(text, pair)
        assert (row.ids, row.type_ids) == (their.ids, their.type_ids)
        owners = list(zip(their.offsets, their.sequence_ids, strict=True))
        lost = 0
        for sequence, given_text in enumerate((text, pair)):
            kept = [span for span, owner in owners if owner == sequence]
            if len(bare.encode(given_text, add_special_tokens=False).ids) > len(kept):
                lost += len(given_text) - max((end for _, end in kept), default=0)
        assert row.truncated_chars == lost

    check()


@pytest.mark.parametrize("kind", KINDS)
def test_windows_are_those_of_the_whole_text(kind: str) -> None:
    facts = TokenizerFacts(16, 0, long_text="window")
    reference, ours = whole(kind, 16, stride=4), TextTokenizer(folder_of(kind), facts)

    @given(TEXTS)
    @_SETTINGS
    def check(text: str) -> None:
        (row,) = ours.encode([text])
        first = reference.encode(text)
        windows = [first, *first.overflowing]
        assert row.ids == [token for window in windows[:MAX_WINDOWS] for token in window.ids]
        is_cut = len(windows) > MAX_WINDOWS
        end = max((end for _, end in own_spans(windows[MAX_WINDOWS - 1])), default=0) if is_cut else len(text)
        assert row.truncated_chars == len(text) - end

    check()


def test_a_text_with_a_prompt_has_the_ids_of_the_whole_text() -> None:
    reference = Tokenizer.from_file(str(folder_of("WordPiece") / FILE_NAME))
    reference.enable_truncation(24, strategy="only_second")
    ours = PromptTokenizer(folder_of("WordPiece"), TokenizerFacts(24, 0))

    @given(TEXTS)
    @_SETTINGS
    def check(text: str) -> None:
        (row,) = ours.encode([text], [["fox"]])
        their = reference.encode("fox", text)
        kept = [span for span, owner in zip(their.offsets, their.sequence_ids, strict=True) if owner == 1]
        assert row.ids == their.ids
        end = max((end for _, end in kept), default=0)
        assert row.truncated_chars == (len(text) - end if their.overflowing else 0)

    check()


def test_a_prompt_with_more_options_than_the_model_reads_is_refused_and_never_cut() -> None:
    ours = PromptTokenizer(folder_of("WordPiece"), TokenizerFacts(24, 0))
    ours.encode(["很好"], [["好[很,好]"]])
    with pytest.raises(ValueError, match=r"input 'schema': '好.*has \d+ tokens, and the model reads at most 20"):
        ours.encode(["很好"], [["好[" + "很，" * 40 + "好]"]])


@pytest.mark.parametrize("character", ["a", " ", "好", "\u200b", "😀", "\u0301"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_very_long_word_is_read_in_a_time_that_does_not_grow_with_its_square(kind: str, character: str) -> None:
    ours = TextTokenizer(folder_of(kind), TokenizerFacts(128, 0))
    began = time.monotonic()
    (row,) = ours.encode([character * 100_000])
    assert time.monotonic() - began < 30
    assert len(row.ids) <= 128
