"""What happens to a text before its tokenizer, and how its unread characters are counted all the same."""

import pytest

from text_runtime.tokenizers.preparation import TextPreparation


def test_a_prompt_stands_in_front_and_both_are_stripped_and_lowered_together() -> None:
    preparation = TextPreparation("Query: ", is_stripped=True, is_lowered=True)
    assert preparation.apply("  Straße İZMİR \n") == "query:   straße i̇zmi̇r"
    assert preparation.apply("X", prompt="") == "x"


@pytest.mark.parametrize(
    ("text", "unread", "expected"),
    [("abcdef", 0, 0), ("abcdef", 2, 2), ("abcdef  ", 2, 4), ("abc", 9, 3), ("aİİb", 3, 2), ("aİİb", 5, 3)],
)
def test_characters_unread_at_the_end_are_counted_in_the_text_as_it_was_sent(
    text: str, unread: int, expected: int
) -> None:
    """A capital dotted I becomes two characters in lower case."""
    preparation = TextPreparation("query: ", is_stripped=True, is_lowered=True)
    assert preparation.unread_chars(text, unread) == expected


def test_characters_unread_at_the_start_do_not_count_the_prompt() -> None:
    preparation = TextPreparation("query: ", is_stripped=True)
    assert preparation.unread_chars("  abcdef", 10, is_from_start=True) == 5
    assert preparation.unread_chars("abcdef", 3, is_from_start=True) == 0


def test_a_request_may_name_a_prompt_that_the_release_has() -> None:
    preparation = TextPreparation("q: ", {"query": "q: ", "document": "d: "})
    assert preparation.prompt_named("document") == "d: "
    with pytest.raises(ValueError, match="has no prompt 'title'; it has: document, query"):
        preparation.prompt_named("title")
    left_out = TextPreparation("q: ", {"query": "q: ", "document": "d: "}, prompt_tokens=3)
    assert left_out.prompt_named("query") == "q: "
    with pytest.raises(ValueError, match="leaves its own prompt out of the pooling"):
        left_out.prompt_named("document")
