"""The benchmark's page: one server one colour, ceilings as marks, and every number in a table."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from loadtest.bench.figures import target_row
from loadtest.bench.report import write
from loadtest.bench.run import BenchSpec, Measurement, ceiling_of
from tests.reports.page_reader import bars_of, mark_of, of_class, read, text_of, width_of

OURS = ("Trireme int8", "Trireme fp32")
PEERS = ("FastAPI", "Mosec")
CONCURRENCIES = (8, 64)
RATES = {"Trireme int8": 3600.0, "Trireme fp32": 1900.0, "FastAPI": 300.0, "Mosec": 1600.0}
P99_MS = {"Trireme int8": 36.0, "Trireme fp32": 54.0, "FastAPI": 2300.0, "Mosec": 66.0}
CEILING = 4000.0


@pytest.fixture(scope="module")
def measurements() -> list[Measurement]:
    """Two of ours with their ceilings, and two peers; FastAPI answers so late that it would flatten all others."""
    found = []
    for concurrency in CONCURRENCIES:
        for server, rate in RATES.items():
            found.append(Measurement(server, concurrency, 1, rate, 10.0, 20.0, P99_MS[server], 0.5, 0.1, 250.0))
        found.extend(Measurement(ceiling_of(server), concurrency, 1, CEILING) for server in OURS)
    return found


@pytest.fixture
def page_of(tmp_path: Path) -> Callable[[list[Measurement]], str]:
    """Writes the report and gives its page."""

    def written(measurements: list[Measurement]) -> str:
        spec = BenchSpec(tmp_path, "sentiment", 1, tmp_path, CONCURRENCIES, 1, 4.0)
        write(spec, measurements, tmp_path, "sentiment")
        return (tmp_path / "bench-sentiment.html").read_text(encoding="utf-8")

    return written


@pytest.fixture
def page(page_of: Callable[[list[Measurement]], str], measurements: list[Measurement]) -> str:
    """The page of all measurements."""
    return page_of(measurements)


def test_the_legend_names_each_server_once_with_one_colour(page: str) -> None:
    (legend,) = of_class(read(page), "legend")
    entries = {text_of(entry): entry.get("class", "") for entry in legend}
    servers = [name for name in entries if "ceiling" not in name]
    assert servers == sorted(RATES, key=lambda server: -RATES[server])
    for theme in (
        page.split("@media(prefers-color-scheme:dark)")[0],
        page.split("@media(prefers-color-scheme:dark)")[1],
    ):
        colours = [re.findall(rf"\.{entries[server]}{{--c:(#\w{{6}})}}", theme) for server in servers]
        assert all(len(found) == 1 for found in colours)
        assert len({found[0] for found in colours}) == len(RATES)


def test_a_server_keeps_its_colour_and_its_place_in_every_chart(page: str) -> None:
    tree = read(page)
    (legend,) = of_class(tree, "legend")
    colour = {text_of(entry): entry.get("class") for entry in legend}
    charts = [rows for _, rows in bars_of(tree)]
    assert len(charts) == 2 * len(CONCURRENCIES)
    for rows in charts:
        assert list(rows) == ["Trireme int8", "Trireme fp32", "Mosec", "FastAPI"]
        assert all(colour[name] in row.get("class", "").split() for name, row in rows.items())


def test_ours_stand_out_and_peers_do_not(page: str) -> None:
    for _, rows in bars_of(read(page)):
        assert tuple(name for name, row in rows.items() if "strong" in row.get("class", "").split()) == OURS


def test_a_ceiling_is_a_mark_on_the_row_that_it_limits_and_no_bar(page: str) -> None:
    for title, rows in bars_of(read(page)):
        assert not any("ceiling" in name for name in rows)
        marks = {name: mark_of(row) for name, row in rows.items()}
        if title == "texts/s":
            assert marks == {"Trireme int8": 100.0, "Trireme fp32": 100.0, "Mosec": None, "FastAPI": None}
            assert "90%" in text_of(rows["Trireme int8"])
        else:
            assert set(marks.values()) == {None}


def test_bars_are_as_long_as_their_values_and_labelled_with_value_and_ratio(page: str) -> None:
    rows = next(rows for title, rows in bars_of(read(page)) if title == "texts/s")
    assert {name: width_of(row) for name, row in rows.items()} == {
        name: pytest.approx(100 * rate / CEILING, abs=0.01) for name, rate in RATES.items()
    }
    labels = {name: text_of(of_class(row, "label")[-1]) for name, row in rows.items()}
    assert labels == {
        "Trireme int8": "3,600 2.2×",
        "Trireme fp32": "1,900 1.2×",
        "Mosec": "1,600 1.0×",
        "FastAPI": "300 0.19×",
    }


def test_one_late_server_puts_latencies_on_a_logarithmic_axis(page: str) -> None:
    rates, latencies, *_ = of_class(read(page), "chart")
    assert "logarithmic axis" in text_of(latencies)
    assert "logarithmic axis" not in text_of(rates)


def test_the_tables_have_every_row_with_the_exact_numbers(page: str, measurements: list[Measurement]) -> None:
    found = [[text_of(cell) for cell in row] for row in read(page).iter("tr")]
    for concurrency in CONCURRENCIES:
        for target in (*RATES, *map(ceiling_of, OURS)):
            assert target_row(measurements, target, concurrency) in found


def test_the_page_says_what_to_remember(page: str) -> None:
    (lead,) = of_class(read(page), "lead")
    assert text_of(lead) == ("64 requests in flight: Trireme int8 answers 3,600 texts/s, 2.2× as many as Mosec.")


def test_a_server_that_answers_nothing_is_named_and_has_no_bar(
    page_of: Callable[[list[Measurement]], str], measurements: list[Measurement]
) -> None:
    changed = [replace(each, texts_per_s=0.0, p99_ms=0.0) if each.target == "Mosec" else each for each in measurements]
    for _, rows in bars_of(read(page_of(changed))):
        assert width_of(rows["Mosec"]) is None
        assert "no answer" in text_of(rows["Mosec"])


def test_a_pipeline_alone_is_shown_against_its_ceiling(
    page_of: Callable[[list[Measurement]], str], measurements: list[Measurement]
) -> None:
    alone = [each for each in measurements if each.target in (OURS[0], ceiling_of(OURS[0]))]
    assert [list(rows) for _, rows in bars_of(read(page_of(alone)))] == [[OURS[0]]] * 4


def test_the_page_needs_nothing_beside_itself(page: str) -> None:
    assert not re.search(r"<script|<link|<img|https?://|@import|url\(", page)
    assert len(page) < 100_000
