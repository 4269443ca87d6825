"""Axes: bars start at zero, unless one value would flatten the others."""

import pytest

from trireme.reports import Axis, axis_from_zero, axis_of_close_values, number, ratio


def test_a_bars_length_is_its_value() -> None:
    axis = axis_from_zero([1000.0, 4000.0, 3000.0])
    assert axis.is_from_zero
    assert [axis.place(value) for value in (1000, 3000, 4000)] == [0.25, 0.75, 1.0]


def test_one_slow_server_does_not_flatten_the_others() -> None:
    latencies_ms = [36.0, 46.0, 66.0, 86.0, 2300.0]
    axis = axis_from_zero(latencies_ms)
    assert axis.is_logarithmic
    assert axis.place(86.0) - axis.place(36.0) > 0.15  # of the width; 0.02 on an axis from zero


def test_values_that_span_two_decades_are_on_a_logarithmic_axis() -> None:
    assert axis_from_zero([10.0, 900.0, 1000.0, 1000.0]).is_logarithmic
    assert not axis_from_zero([11.0, 900.0, 1000.0, 1000.0]).is_logarithmic


def test_even_the_smallest_value_of_a_logarithmic_axis_can_be_seen() -> None:
    assert axis_from_zero([1.0, 10.0, 1000.0]).place(1.0) > 0.05


@pytest.mark.parametrize("end", [0.7, 1.0, 3.47, 60.0, 4129.0, 99_999.0])
def test_two_to_four_round_numbers_are_named(end: float) -> None:
    for axis in (Axis(0.0, end), Axis(end / 300, end, is_logarithmic=True), Axis(0.9 * end, end)):
        assert 2 <= len(axis.ticks()) <= 4
        assert all(axis.start <= tick <= axis.end * (1 + 1e-9) for tick in axis.ticks())


def test_small_differences_of_close_values_are_shown_and_said() -> None:
    axis = axis_of_close_values([0.95, 0.97, 1.0])
    assert axis.place(0.97) - axis.place(0.95) > 0.3
    assert axis.caution == "axis starts above zero"
    assert axis_of_close_values([1.0, 1.0]).place(1.0) > 0


def test_numbers_keep_the_figures_that_matter() -> None:
    assert [number(value) for value in (3713.6, 101.4, 36.14, 1.444, 0.0)] == ["3,714", "101", "36.1", "1.44", "0.00"]
    assert [ratio(value, 10.0) for value in (23.0, 9.99, 1.8, 340.0)] == ["2.3×", "1.0×", "0.18×", "34×"]
