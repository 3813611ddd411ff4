"""The figure of replications: distribution, quantiles, what is unfinished, tail."""

import math

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from ackclock.metrics.statistics import summarize
from ackclock.plots import PlotError
from ackclock.plots.replications import Sample, figure, write

HEAVY = np.random.default_rng(1).pareto(0.415, 2000) + 1


def sample(values, missing="above"):
    values = np.asarray(values, np.float64)
    return Sample(values, summarize(values, missing=missing))


def draw(**samples):
    return figure(
        {name: sample(values) for name, values in samples.items()},
        title="Title",
        quantity="Finish",
        unit="s",
        caption="Caption",
    )


def labels(axes):
    return [words.get_text() for words in axes.get_legend().get_texts()]


def curve(axes, label):
    (line,) = (line for line in axes.get_lines() if line.get_label() == label)
    return line.get_data()


def test_the_curve_is_the_distribution():
    (axes,) = draw(F1=[1, 1, 2, 4]).axes
    values, shares = curve(axes, "F1")
    np.testing.assert_array_equal(values, [1, 1, 2, 4])
    np.testing.assert_array_equal(shares, [0, 0.5, 0.75, 1])
    assert axes.get_xscale() == "linear"
    assert axes.get_xlabel() == "Finish (s)"


def test_dots_are_the_quantiles():
    (axes,) = draw(F1=np.arange(1, 101)).axes
    dots = [line.get_data() for line in axes.get_lines() if line.get_marker() == "o"]
    assert [(float(x[0]), float(y[0])) for x, y in dots] == [
        (5, 0.05), (25, 0.25), (50, 0.5), (75, 0.75), (95, 0.95),
    ]  # fmt: skip


def test_what_is_unfinished_is_named_and_missing_from_the_curve():
    (axes,) = draw(F1=[1, 2, 3, math.nan]).axes
    assert labels(axes) == ["F1 (25 % unfinished)"]
    _, shares = curve(axes, "F1 (25 % unfinished)")
    assert shares[-1] == 0.75


def test_a_heavy_tail_has_logarithmic_axes_and_a_panel_of_its_own():
    whole, tail = draw(F1=HEAVY).axes
    assert whole.get_xscale() == tail.get_xscale() == tail.get_yscale() == "log"
    assert labels(tail)[0].startswith("F1 (tail index 0.")
    index = sample(HEAVY).statistics.tail
    (line,) = (line for line in tail.get_lines() if line.get_label().startswith("_"))
    x, y = line.get_data()
    slope = math.log(y[1] / y[0]) / math.log(x[1] / x[0])
    assert slope == pytest.approx(-index.value)
    assert y[0] == pytest.approx(np.mean(index.threshold < HEAVY))


def test_both_panels_share_an_axis_with_numbers_below_the_last():
    whole, tail = draw(F1=HEAVY, F2=HEAVY * 1000).axes
    assert whole.get_xlim() == tail.get_xlim()
    assert (whole.get_xlabel(), tail.get_xlabel()) == ("", "Finish (s)")


@pytest.mark.slow
def test_long_titles_and_names_stay_on_the_page():
    drawn = figure(
        {f"F{i} with a name that is long": sample([*HEAVY, math.nan]) for i in range(6)},
        title="Replications of a scenario whose title has more words than one line can hold " * 2,
        quantity="Finish",
        unit="s",
    )
    canvas = FigureCanvasAgg(drawn)
    canvas.draw()
    legends = [axes.get_legend() for axes in drawn.axes]
    for part in (*drawn.texts, *legends):
        place = part.get_window_extent(canvas.get_renderer())
        assert 0 <= place.x0 < place.x1 <= drawn.bbox.width


def test_the_tail_is_that_of_what_was_finished():
    half = np.concatenate((HEAVY, np.full(2000, math.nan)))
    _, tail = draw(F1=half).axes
    values, shares = curve(tail, labels(tail)[0])
    assert shares[-1] == pytest.approx(1 / 2000)
    assert len(values) == len(shares)


def test_zeros_have_no_place_on_a_logarithmic_axis_but_count():
    values = np.concatenate((np.zeros(100), np.geomspace(1, 1e6, 100)))
    axes = draw(F1=values).axes[0]
    assert axes.get_xscale() == "log"
    _, shares = curve(axes, "F1")
    assert 0.5 in shares
    assert shares[-1] == 1


def test_nothing_to_draw_is_an_error():
    with pytest.raises(PlotError, match="nothing to draw"):
        draw(F1=[math.nan, math.nan])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_a_file_is_the_same_every_time(tmp_path, kind):
    for name in ("one", "other"):
        write(
            tmp_path / f"{name}.{kind}",
            {"F1": sample(HEAVY), "$F_2$": sample([1, 2, math.nan])},
            title="$Title$",
            quantity="Timeouts",
            unit="",
            caption="",
        )
    one, other = ((tmp_path / f"{name}.{kind}").read_bytes() for name in ("one", "other"))
    assert one == other
    assert len(one) > 5000


def test_an_unknown_format(tmp_path):
    with pytest.raises(PlotError, match="unknown format 'gif'"):
        write(tmp_path / "x.gif", {"F1": sample([1])}, title="", quantity="", unit="", caption="")
    assert list(tmp_path.iterdir()) == []
