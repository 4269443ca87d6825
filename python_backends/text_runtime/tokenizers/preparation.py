"""What a source's own library does to a text before its tokenizer sees it, and what that means for its characters."""

from dataclasses import dataclass, field

from text_runtime.records import Record


@dataclass(frozen=True)
class TextPreparation(Record):
    """A prompt in front, blanks stripped from both ends, lower case: in this order, as Python does them.

    `prompts` are those that a request may name in place of `prompt`. `prompt_tokens` tokens at the beginning of a row,
    the prompt's, are left out of the pooling by the graph: then the prompt is the release's and no other.
    """

    prompt: str = ""
    prompts: dict[str, str] = field(default_factory=dict)
    prompt_tokens: int = 0
    is_stripped: bool = False
    is_lowered: bool = False

    def __post_init__(self) -> None:
        if self.prompt_tokens < 0:
            raise ValueError(f"prompt_tokens {self.prompt_tokens} is negative")

    @property
    def changes_texts(self) -> bool:
        """Whether a text may differ from what the tokenizer gets."""
        return bool(self.prompt) or self.is_stripped or self.is_lowered

    def prompt_named(self, name: str) -> str:
        """The prompt of a name that a request gives.

        Raises:
            ValueError: the release has none of that name, or its graph is made for its own prompt.
        """
        if name not in self.prompts:
            known = ", ".join(sorted(self.prompts)) or "none"
            raise ValueError(f"parameter 'prompt_name': this release has no prompt '{name}'; it has: {known}")
        if self.prompt_tokens and self.prompts[name] != self.prompt:
            raise ValueError(
                "parameter 'prompt_name': this release leaves its own prompt out of the pooling, and no other"
            )
        return self.prompts[name]

    def apply(self, text: str, prompt: str | None = None) -> str:
        """The text as the tokenizer gets it; `prompt` takes the place of the release's own."""
        whole = (self.prompt if prompt is None else prompt) + text
        if self.is_stripped:
            whole = whole.strip()
        return whole.lower() if self.is_lowered else whole

    def unread_chars(self, text: str, unread: int, is_from_start: bool = False) -> int:
        """How many characters of the text itself are unread where `unread` at an end of the prepared one are.

        Blanks that were stripped from that end count with the rest; the prompt does not.

        Args:
            text: the text as it was sent.
            unread: characters at the end of the prepared text; at its start where `is_from_start`.
            is_from_start: whether the tokenizer cuts at the start.
        """
        if not unread:
            return 0
        stripped = (text.rstrip() if not is_from_start else text.lstrip()) if self.is_stripped else text
        blanks = len(text) - len(stripped)
        beyond = len(self.prompt) if is_from_start else 0
        counted = self._characters(stripped[::-1] if not is_from_start else stripped, max(0, unread - beyond))
        return min(len(text), blanks + counted)

    def _characters(self, text: str, lowered: int) -> int:
        """How many characters at the start of a text make so many in lower case: a few become two."""
        if not self.is_lowered or len(text.lower()) == len(text):
            return lowered
        made = 0
        for count, character in enumerate(text):
            if made >= lowered:
                return count
            made += len(character.lower())
        return len(text)
