"""What happens to a request before and after the engine, with the real tokenizer of a release, and without Triton."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from text_runtime.generation.detokenizer import Detokenizer
from text_runtime.generation.prompt import PromptReader
from text_runtime.generation.requests import read_request
from text_runtime.generation.sampling import SamplingParameters, read_sampling
from text_runtime.manifest import GenerationManifest
from trireme.contract.repository import Repository

pytestmark = pytest.mark.xdist_group("generation")
SAMPLING = SamplingParameters()
TEXTS = st.text(st.characters(exclude_categories=["Cs"], max_codepoint=0x1FFFF), min_size=1, max_size=60)


@pytest.fixture(scope="module")
def reader(writer_repository: Path) -> PromptReader:
    """Reads requests of the release."""
    manifest = Repository(writer_repository).manifest("writer", 1)
    assert isinstance(manifest, GenerationManifest)
    return PromptReader(writer_repository / "writer_generator" / "1", manifest.generator)


def chat(reader: PromptReader, content: str, sampling: SamplingParameters = SAMPLING) -> list[int]:
    """The ids of a conversation of one turn."""
    return reader.read_chat(json.dumps([{"role": "user", "content": content}]), sampling).ids


@given(text=TEXTS, cuts=st.lists(st.integers(1, 5), max_size=40))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_pieces_of_an_answer_join_to_the_whole_and_hold_no_half_characters(
    reader: PromptReader, text: str, cuts: list[int]
) -> None:
    ids = reader.tokenizer.encode(text, add_special_tokens=False).ids
    whole = reader.tokenizer.decode(ids)
    detokenizer, pieces, place = Detokenizer(reader.tokenizer, ()), [], 0
    for size in [*cuts, len(ids)]:
        pieces.append(detokenizer.add(ids[place : place + size]))
        place += size
    pieces.append(detokenizer.end())
    assert "".join(pieces) == whole
    if "\ufffd" not in whole:
        assert not any("\ufffd" in piece for piece in pieces)


@given(before=TEXTS, stop=st.text("abc <>.", min_size=1, max_size=6), after=TEXTS)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_nothing_of_a_stop_text_is_ever_given(reader: PromptReader, before: str, stop: str, after: str) -> None:
    ids = reader.tokenizer.encode(before + stop + after, add_special_tokens=False).ids
    whole = reader.tokenizer.decode(ids)
    detokenizer, given_so_far = Detokenizer(reader.tokenizer, (stop,)), ""
    for token in ids:
        given_so_far += detokenizer.add([token])
        assert stop not in given_so_far
    given_so_far += detokenizer.end()
    place = whole.find(stop)
    assert given_so_far == (whole if place < 0 else whole[:place])


@pytest.mark.parametrize("word", ["<|im_end|>", "<|im_start|>", "<|endoftext|>"])
def test_a_special_token_is_plain_text_unless_it_is_asked_for(reader: PromptReader, word: str) -> None:
    token = reader.tokenizer.token_to_id(word)
    asked = SamplingParameters(parse_special_tokens=True)
    alone = chat(reader, "Hello").count(token)
    assert chat(reader, f"Hello {word}").count(token) == alone
    assert chat(reader, f"Hello {word}", asked).count(token) == alone + 1
    assert token not in reader.read_text(f"Hello {word}", SAMPLING).ids
    assert token in reader.read_text(f"Hello {word}", asked).ids


def test_characters_of_the_private_area_are_not_lost(reader: PromptReader) -> None:
    text = "a\ue000b\ue001c\ue0f1d <|im_end|>"
    ids = chat(reader, text)
    assert "a\ue000b\ue001c\ue0f1d <|im_end|>" in reader.tokenizer.decode(ids, skip_special_tokens=False)


@pytest.mark.parametrize(
    ("given_text", "words"),
    [
        ("{", "sampling_parameters"),
        ('{"max_tokens": 0}', "max_tokens must be 1 or more"),
        ('{"stop": [""]}', "none empty"),
        ('{"n": 2}', "unknown field `n`.*known are"),
        ('{"temperature": "hot"}', "temperature"),
        ('{"logprobs": 5}', "logprobs must be 0 or 1"),
    ],
)
def test_sampling_that_cannot_be_is_refused(given_text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_sampling(given_text, {})


def test_sampling_comes_as_numbers_as_texts_and_as_request_parameters() -> None:
    found = read_sampling('{"temperature": "0.5", "stop": "x"}', {"max_tokens": 20, "key": "me", "temperature": 1})
    assert (found.temperature, found.max_tokens, found.stop) == (0.5, 20, ["x"])


def test_a_request_that_cannot_be_read_is_refused(reader: PromptReader) -> None:
    import numpy as np

    def text(value: bytes) -> "np.ndarray[tuple[int], np.dtype[np.object_]]":
        return np.array([value], dtype=np.object_)

    for values, words in (
        ({}, "give one of the inputs"),
        ({"text_input": text(b"x"), "messages": text(b"[]")}, "give one of the inputs"),
        ({"text_input": text(b"\xff\xfe")}, "is not UTF-8"),
        ({"text_input": text(b"x" * (5 << 20))}, "bytes"),
        ({"text_input": text(b"")}, "is empty"),
        ({"messages": text(b"{}")}, "must be a list"),
        ({"messages": text(b'[{"role": "user"}]')}, "its content must be a text"),
        ({"text_input": text(b"x"), "response_format": text(b"[1]")}, "JSON"),
        ({"text_input": text(b"x"), "bad_words": text(b"y")}, "not supported"),
    ):
        with pytest.raises(ValueError, match=words):
            read_request(values, {}, reader)
