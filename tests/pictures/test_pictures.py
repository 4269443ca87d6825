"""The README's pictures: what the generator renders, from figures that the documentation's tables hold too."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.conftest import ROOT
from tests.pictures import FOLDER, pictures
from tests.pictures.canvas import DARK, LIGHT, Theme
from tests.pictures.results import Results, Served, read_results
from tests.pictures.speed import draw_speed

SVG = "{http://www.w3.org/2000/svg}"
NAMES = {f"{picture}-{theme}.svg" for picture in ("speed", "way-of-a-text") for theme in ("light", "dark")}


@pytest.fixture(scope="module")
def results() -> Results:
    """The committed figures."""
    return read_results(FOLDER / "results.json")


def table_rows() -> list[set[str]]:
    """The cells of every table row in the README and the guides."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    lines = [line for page in pages for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    return [{cell.strip().replace(",", "") for cell in line.split("|")} for line in lines]


def bars_of(svg: str) -> dict[tuple[str, str], str]:
    """The colour of each bar by the heading and the name that it stands beside."""
    found, heading, name = {}, "", ""
    for element in ElementTree.fromstring(svg):
        if element.tag == f"{SVG}text" and element.get("x") == "0":
            name = element.text or ""
            heading = name if element.get("font-size") == "19" else heading
        elif element.tag == f"{SVG}rect" and element.get("height") == "19":
            found[heading, name] = element.get("fill", "")
    return found


def test_the_pictures_in_git_are_what_the_generator_renders() -> None:
    rendered = pictures()
    assert {path.name for path in rendered} == NAMES == {path.name for path in FOLDER.glob("*.svg")}
    for path, svg in rendered.items():
        assert path.read_text(encoding="utf-8") == svg, f"run python -m tests.generated: {path.name}"


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_a_server_is_named_once_a_model_and_keeps_its_colour(results: Results, theme: Theme) -> None:
    bars = bars_of(draw_speed(results, theme))
    expected = [(model.name, served.name) for model in results.models for served in model.pictured]
    assert list(bars) == expected
    colours = {name: {colour for (_, other), colour in bars.items() if other == name} for _, name in bars}
    assert all(len(found) == 1 for found in colours.values())
    assert len(set.union(*colours.values())) == len(colours)


def test_ceilings_are_marks_of_ours_and_no_bars(results: Results) -> None:
    svg = ElementTree.fromstring(draw_speed(results, LIGHT))
    marks = [each for each in svg.iter(f"{SVG}rect") if each.get("width") == "3" and each.get("height") == "24"]
    pictured = [served for model in results.models for served in model.pictured]
    assert len(marks) == sum(served.is_ours for served in pictured)
    assert not any("ceiling" in name.lower() for _, name in bars_of(draw_speed(results, LIGHT)))


def test_every_figure_stands_in_a_table_of_the_documentation(results: Results) -> None:
    rows = table_rows()

    def is_told(served: Served) -> bool:
        figures = {f"{figure:g}" for figure in (served.texts_per_s, served.p99_ms)}
        return any(figures <= row for row in rows)

    assert [served.server for model in results.models for served in model.servers if not is_told(served)] == []


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_picture_needs_nothing_beside_itself_and_says_what_it_shows(name: str) -> None:
    svg = (FOLDER / name).read_text(encoding="utf-8")
    assert not re.search(r"<script|<image|href=|url\(|@import", svg.replace("xmlns:xlink", ""))
    title = ElementTree.fromstring(svg).find(f"{SVG}title")
    assert title is not None
    assert title.text


def test_light_and_dark_differ_in_colours_only() -> None:
    def without_colours(path: Path) -> str:
        return re.sub(r"#[0-9a-f]{6}", "", path.read_text(encoding="utf-8"))

    for picture in ("speed", "way-of-a-text"):
        light, dark = (without_colours(FOLDER / f"{picture}-{theme}.svg") for theme in ("light", "dark"))
        assert light == dark
