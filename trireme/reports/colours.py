"""Colours that never repeat: as many as are wanted, from a strong family for ours and a muted one for the rest."""

from collections.abc import Sequence
from dataclasses import dataclass

_Rgb = tuple[int, int, int]
_STRONG = (
    ((88, 28, 200), (28, 92, 225), (2, 122, 140), (16, 124, 74)),
    ((176, 140, 255), (96, 165, 255), (52, 205, 215), (80, 215, 140)),
)
"""Violet over blue to green, on a light and on a dark ground."""
_MUTED = (
    ((118, 112, 130), (146, 140, 146), (164, 150, 138), (140, 142, 128)),
    ((136, 130, 150), (118, 114, 124), (138, 124, 112), (112, 116, 104)),
)
"""Greys with a breath of colour."""


@dataclass(frozen=True)
class Colour:
    """One colour as `#rrggbb`, on a light and on a dark ground."""

    light: str
    dark: str


def strong_colours(count: int) -> list[Colour]:
    """Different colours for what should be seen first."""
    return _spread(_STRONG, count)


def muted_colours(count: int) -> list[Colour]:
    """Different colours for what it is compared with."""
    return _spread(_MUTED, count)


def _spread(family: tuple[Sequence[_Rgb], Sequence[_Rgb]], count: int) -> list[Colour]:
    """Colours at even distances along both of a family's gradients."""
    places = [(number + 0.5) / count for number in range(count)]
    return [Colour(*(_at(gradient, place) for gradient in family)) for place in places]


def _at(gradient: Sequence[_Rgb], place: float) -> str:
    """The colour at a place between 0 and 1 of a gradient."""
    left = min(int(place * (len(gradient) - 1)), len(gradient) - 2)
    share = place * (len(gradient) - 1) - left
    mixed = (round(a + (b - a) * share) for a, b in zip(gradient[left], gradient[left + 1], strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)
