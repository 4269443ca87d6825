"""Colours: as many as are asked for, none twice, readable on their ground."""

import colorsys

import pytest

from trireme.reports import Colour, muted_colours, strong_colours


def saturation(colour: str) -> float:
    """How far a colour is from grey."""
    return colorsys.rgb_to_hls(*rgb(colour))[2]


def rgb(colour: str) -> tuple[float, float, float]:
    """Shares of red, green and blue."""
    red, green, blue = (int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5))
    return red, green, blue


def contrast(one: str, other: str) -> float:
    """The contrast ratio of WCAG 2."""

    def luminance(colour: str) -> float:
        parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in rgb(colour)]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    brighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("count", [1, 2, 5, 12])
def test_no_two_servers_share_a_colour(count: int) -> None:
    found = [*strong_colours(count), *muted_colours(count)]
    assert len({colour.light for colour in found}) == len({colour.dark for colour in found}) == 2 * count


def test_ours_are_strong_and_the_rest_muted() -> None:
    for ours, peer in zip(strong_colours(6), muted_colours(6), strict=True):
        assert saturation(ours.light) > 0.6 > 0.2 > saturation(peer.light)
        assert saturation(ours.dark) > 0.5 > 0.2 > saturation(peer.dark)


@pytest.mark.parametrize("colour", strong_colours(9))
def test_words_inside_a_strong_bar_can_be_read(colour: Colour) -> None:
    assert contrast(colour.light, "#ffffff") >= 4.5
    assert contrast(colour.dark, "#0f1318") >= 4.5
