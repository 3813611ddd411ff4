"""Charts in the terminal: the dots are where the values are."""

import numpy as np
import pytest

from ackclock.cli import chart
from ackclock.cli.chart import Chart


def braille_levels(drawn, columns):
    """The highest dot of each half column, counted from below; -1 where there is none."""
    texts = [curve for _, curve, _ in chart.lines(drawn, braille=True)][: drawn.rows]
    levels = []
    for column in range(columns):
        for side in range(2):
            level = -1
            for row, text in enumerate(texts):
                code = ord(text[column]) - 0x2800 if text[column] != " " else 0
                for part, bits in enumerate(((1, 8), (2, 16), (4, 32), (64, 128))):
                    if code & bits[side]:
                        level = max(level, 4 * drawn.rows - 1 - 4 * row - part)
            levels.append(level)
    return np.array(levels)


def ramp(**changes):
    times = np.linspace(0, 10, 2001)
    given = {"title": "x", "times": times, "values": 5 * times, "span": (0.0, 10.0), "top": 50.0}
    return Chart(**(given | {"rows": 6} | changes))


def test_a_curve_is_where_its_values_are():
    columns = chart.WIDTH - 9
    levels = braille_levels(ramp(), columns)
    middle = (np.arange(2 * columns) + 1) / (2 * columns) * 23
    assert np.abs(levels - middle).max() <= 1


def test_a_spike_between_two_columns_is_drawn():
    times = np.array([0.0, 5.0, 5.0001])
    levels = braille_levels(ramp(times=times, values=np.array([10.0, 50.0, 10.0])), 71)
    assert levels.max() == 23
    assert (levels == 23).sum() == 1


def test_nothing_is_drawn_before_the_first_value_and_where_there_is_none():
    times, values = np.array([4.0, 6.0]), np.array([30.0, np.nan])
    levels = braille_levels(ramp(times=times, values=values), 71)
    drawn = np.flatnonzero(levels >= 0) / 142 * 10
    assert 3.9 <= drawn.min() <= 4.1
    assert 5.8 <= drawn.max() <= 6.1


@pytest.mark.parametrize("braille", [True, False])
def test_lines_fit_into_80_columns(braille):
    drawn = ramp(marks=[("x", np.array([0.0, 5.0, 10.0]))])
    made = chart.lines(drawn, braille=braille)
    assert max(len("".join(parts)) for parts in made) == 80
    assert max(map(len, chart.axis((0.0, 10.0), braille=braille))) == 80
    assert "".join(made[-1]).count("x") == 3
    if not braille:
        assert "".join("".join(parts) for parts in made).isascii()


@pytest.mark.parametrize(
    ("span", "unit", "numbers"),
    [
        ((0.0, 120.0), "s", ["0", "20", "40", "60", "80", "100", "120"]),
        ((0.0, 0.01), "ms", ["0", "2", "4", "6", "8", "10"]),
        ((12.0, 14.0), "s", ["12", "12.5", "13", "13.5", "14"]),
    ],
)
def test_ticks_are_round_numbers(span, unit, numbers):
    assert chart.axis(span, braille=True)[1].split() == [unit, *numbers]


def test_a_run_shows_windows_and_queue(ackclock, small_file):
    out = ackclock("run", small_file, "--no-plots").out
    assert "F1 (Reno (selective)): congestion window, packets" in out
    assert "packets waiting" in out
    assert "\x1b[" not in out  # no colour: this is not a terminal
    assert "congestion window" not in ackclock("run", small_file, "--no-plots", "--no-chart").out


def test_what_was_not_recorded_is_not_drawn(ackclock, small_file):
    done = ackclock("run", small_file, "--no-plots", "--set", "record=none")
    assert done.code == 0
    assert "congestion window" not in done.out


def test_an_output_without_braille_gets_ascii(ackclock, small_file, monkeypatch):
    import io
    import sys

    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="backslashreplace")
    monkeypatch.setattr(sys, "stdout", stream)
    ackclock("run", small_file, "--no-plots")
    stream.flush()
    text = stream.buffer.getvalue().decode("ascii")
    chart_part = text.split("congestion window, packets")[1]
    assert "*" in chart_part
    assert "\\u2" not in chart_part.split("\nWritten")[0]
