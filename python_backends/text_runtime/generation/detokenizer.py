"""Token ids to text as they come: whole characters only, and never a part of what may be a stop string."""

from collections.abc import Sequence

from tokenizers import Tokenizer
from tokenizers.decoders import DecodeStream


class Detokenizer:
    """Turns one sequence's tokens into text, piece by piece.

    Args:
        tokenizer: the release's.
        stop: texts that end the answer and are not part of it.
    """

    def __init__(self, tokenizer: Tokenizer, stop: Sequence[str]) -> None:
        self._tokenizer = tokenizer
        self._stream = DecodeStream(skip_special_tokens=True)
        self._ids: list[int] = []
        self._stop = tuple(stop)
        self._held = ""
        self._length = 0
        self.is_stopped = False
        """Whether a stop string has come: nothing after it belongs to the answer."""

    def add(self, ids: Sequence[int]) -> str:
        """The text that is certain by now: characters that are whole, and no beginning of a stop string."""
        if self.is_stopped:
            return ""
        pieces = (self._stream.step(self._tokenizer, token) for token in ids)
        self._ids.extend(ids)
        self._held += "".join(piece for piece in pieces if piece)
        return self._released()

    def end(self) -> str:
        """What is left when no more tokens come: a held beginning of a stop string, and bytes that are no character."""
        if self.is_stopped:
            return ""
        whole: str = self._tokenizer.decode(self._ids, skip_special_tokens=True)
        rest, self._held = self._held + whole[self._length + len(self._held) :], ""
        self._length += len(rest)
        return rest

    def _released(self) -> str:
        places = [place for stop in self._stop if (place := self._held.find(stop)) >= 0]
        if places:
            self.is_stopped = True
            text, self._held = self._held[: min(places)], ""
            return text
        keep = max((_overlap(self._held, stop) for stop in self._stop), default=0)
        text, self._held = self._held[: len(self._held) - keep], self._held[len(self._held) - keep :]
        self._length += len(text)
        return text


def _overlap(text: str, stop: str) -> int:
    """How many characters at the end of a text may be the beginning of a stop string."""
    return next((size for size in range(min(len(stop) - 1, len(text)), 0, -1) if text.endswith(stop[:size])), 0)
