"""The README's pictures as SVG, each for a light and for a dark page: `python -m tests.generated` writes them."""

from pathlib import Path

from tests.pictures.canvas import DARK, LIGHT
from tests.pictures.results import read_results
from tests.pictures.speed import draw_speed
from tests.pictures.way import draw_way

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"


def pictures() -> dict[Path, str]:
    """Every picture by its path."""
    results = read_results(FOLDER / "results.json")
    found = {}
    for theme in (LIGHT, DARK):
        found[FOLDER / f"speed-{theme.name}.svg"] = draw_speed(results, theme)
        found[FOLDER / f"way-of-a-text-{theme.name}.svg"] = draw_way(theme)
    return found
