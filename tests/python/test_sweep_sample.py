"""Samples of a study: how points are drawn, what ranges give, how sweeps go on and are drawn."""

import numpy as np
import pytest
from small import document

from ackclock import InputError, ScenarioError, tables
from ackclock._core import quantity
from ackclock.plots import Options, PlotError, figure_of_sweep
from ackclock.plots.across import across
from ackclock.sweep import Study, load
from ackclock.sweep.sample import METHODS, Range, draw, range_of

RATE = {"from": "1 Mbps", "to": "100 Mbps", "scale": "log"}


def study(points=8, method="latin-hypercube", **more):
    over = {
        "links.L1.rate": RATE,
        "delay": {"path": "links.L1.delay", "from": "1 ms", "to": "9 ms"},
        "window": {"paths": ["flows.F1.tcp.initial_window"], "from": 1, "to": 3},
        "flows.F2.tcp.cc": ["reno", "fast"],
    }
    sample = {"points": points, "method": method, "over": over}
    return Study(document(), name="drawn", sample=sample, **more)


def drawn(of, name):
    (axis,) = (a for d in of.dimensions for a in d.axes if a.name == name)
    return [choice.label for choice in axis.choices]


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_points_are_those_of_their_seed_and_fill_the_cube(method):
    found = draw(method, 256, 3, 7)
    assert found.shape == (256, 3)
    assert np.array_equal(found, draw(method, 256, 3, 7))
    assert not np.array_equal(found, draw(method, 256, 3, 8))
    assert 0 <= found.min() < found.max() < 1
    assert np.abs(found.mean(axis=0) - 0.5).max() < 0.05
    assert np.abs(np.corrcoef(found.T) - np.eye(3)).max() < 0.2


def test_each_part_of_a_latin_hypercube_has_one_point():
    for column in draw("latin-hypercube", 100, 4, 1).T:
        assert sorted((column * 100).astype(int)) == [*range(100)]


@pytest.mark.parametrize("method", ["random", "sobol"])
def test_more_points_begin_with_the_same_ones(method):
    assert np.array_equal(draw(method, 32, 2, 1), draw(method, 64, 2, 1)[:32])


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        (("1 Mbps", "100 Mbps", "log"), ["1 Mbps", "3.16228 Mbps", "10 Mbps"]),
        (("1 ms", "9 ms", "linear"), ["1 ms", "3 ms", "5 ms"]),
        (("10 KiB", "1 MiB", "log"), ["10240 B", "32574 B", "103622 B"]),
        (("0.5 BDP", "4 BDP", "log"), ["0.5 BDP", "0.841 BDP", "1.414 BDP"]),
        (("1 packets", "4 packets", "linear"), ["1 packets", "2 packets", "3 packets"]),
        ((1, 8, "linear"), [1, 3, 5]),
        ((0.001, 0.1, "log"), [0.001, 0.00316228, 0.01]),
        ((-1.0, 1.0, "linear"), [-1.0, -0.5, 0.0]),
    ],
)
def test_values_of_a_range_can_be_read(ends, expected):
    found = range_of(*ends)
    assert isinstance(found, Range)
    assert [found.at(share) for share in (0.0, 0.25, 0.5)] == expected
    assert not found.unit or all(quantity(found.at(i / 1009)) for i in range(1009))


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_whole_numbers_are_drawn_with_the_ends_and_evenly(scale):
    found = range_of(1, 4, scale)
    assert isinstance(found, Range)
    values = [found.at(i / 10_000) for i in range(10_000)]
    shares = [values.count(i) / 10_000 for i in (1, 2, 3, 4)]
    even = [0.25] * 4
    # Of a logarithmic range each number has the share of its interval up to the next one.
    ratios = [np.log((i + 1) / i) / np.log(5) for i in (1, 2, 3, 4)]
    assert shares == pytest.approx(even if scale == "linear" else ratios, abs=2e-4)


def test_a_sample_is_combined_with_the_grid_and_with_replications():
    whole = study(grid={"flows.F1.tcp.cc": ["reno", "fast"]}, replications=2)
    plan = whole.plan(1)
    assert len(plan) == 2 * 8 * 2
    rows = [plan.labels(i)[1:] for i in range(0, 16, 2)]
    assert rows == [plan.labels(16 + i)[1:] for i in range(0, 16, 2)], "the same points for both"
    assert sorted(drawn(whole, "flows.F2.tcp.cc")) == ["fast"] * 4 + ["reno"] * 4
    assert set(drawn(whole, "window")) == {1, 2, 3}
    rates = [quantity(rate)[1] for rate in drawn(whole, "links.L1.rate")]
    assert sorted(np.floor(np.log10(np.array(rates) / 1e6) * 4).astype(int)) == [*range(8)]


def test_the_engine_refuses_a_drawn_value_at_its_range():
    sample = {"points": 9, "over": {"flows.F1.tcp.initial_window": {"from": 0, "to": 1}}}
    with pytest.raises(ScenarioError, match="too small"):
        Study(document(), sample=sample).plan(1)


@pytest.mark.slow
def test_a_random_sample_goes_on_and_a_latin_hypercube_is_another_study(tmp_path):
    for method, goes_on in (("random", True), ("latin-hypercube", False)):
        place = tmp_path / method
        first = study(4, method).run(place, 1).table["key"].to_pylist()
        if goes_on:
            more = study(8, method).run(place, 1)
            assert more.table["key"].to_pylist()[:4] == first
        else:
            with pytest.raises(InputError, match="another study"):
                study(8, method).run(place, 1)


def test_the_table_knows_what_was_drawn_and_others_say_nothing_of_it(tmp_path):
    study(4).run(tmp_path / "drawn", 1)
    assert load(tmp_path / "drawn").sampled == study(4).columns
    plain = Study(document(), grid={"links.L1.delay": ["1 ms", "2 ms"]}).run(tmp_path / "plain", 1)
    assert plain.sampled == []
    assert b"sampled" not in plain.table.schema.metadata


@pytest.fixture(scope="module")
def results():
    return study(8, grid={"flows.F1.send": ["2 KB", "4 KB"]}).run(workers=1)


def test_each_point_is_drawn_and_none_are_joined(results):
    page = figure_of_sweep(results, "sweep-lines", options=Options(x="delay"))
    curves = [line for axes in page.axes for line in axes.lines]
    assert {line.get_linestyle() for line in curves} == {"None"}
    assert sum(len(line.get_xdata()) for line in curves) == len(results) == 16
    # A panel or colour for each value of the grid, and for the choices that were drawn.
    assert len(curves) == 4


def test_whole_numbers_that_were_drawn_run_along_with_a_point_for_each(results):
    page = figure_of_sweep(results, "sweep-lines", options=Options(x="window"))
    assert sum(len(line.get_xdata()) for axes in page.axes for line in axes.lines) == 16


def test_along_the_grid_there_are_means_over_the_sample(results):
    page = figure_of_sweep(results, "sweep-lines", options=Options(x="flows.F1.send"))
    (curve,) = page.axes[0].lines
    rows = results.table.to_pylist()
    for send, mean in zip(("2 KB", "4 KB"), curve.get_ydata(), strict=True):
        mine = [row["goodput_bps"] for row in rows if row["flows.F1.send"] == send]
        assert mean * 1e6 == pytest.approx(np.mean(mine))


@pytest.mark.parametrize(
    ("values", "logarithmic"),
    [
        ([f"{i} ms" for i in range(1, 101)], False),
        ([f"{10 ** (i / 50):.4g} ms" for i in range(101)], True),
    ],
)
def test_many_values_that_were_drawn_have_the_scale_they_were_drawn_on(values, logarithmic):
    found = across("delay", values, drawn=True)
    assert found.logarithmic is logarithmic
    assert (found.unit, found.label) == (pytest.approx(1e-3), "delay (ms)")
    assert across("rate", ["500 kbps", "2 Mbps"] * 9, drawn=True).unit == 0


def test_a_scatter_has_a_mark_for_each_point(results):
    page = figure_of_sweep(results, "scatter", options=Options(x="drops"))
    marks = [line for axes in page.axes for line in axes.lines if line.get_marker() != "None"]
    assert sum(len(line.get_xdata()) for line in marks) == 16
    assert any("Each mark is one of the 8 points" in text.get_text() for text in page.texts)


def test_means_of_a_table_are_over_the_points_of_the_sample(results):
    runs, send = tables.of_sweep(results, "runs", results.axes), "flows.F1.send"
    drawn = ", ".join(results.sampled)
    found = tables.grouped(runs, [send], ["drops"], "mean", results.axes, results.sampled)
    assert found.notes == (f"Each mean is over the points of the sample ({drawn}).",)
    point = results.sampled
    found = tables.grouped(runs, point, ["drops"], "p95", results.axes, results.sampled)
    assert found.notes == (
        f"Each 95th percentile is over all values of {send}, too; choose one with --where, or "
        "name it with --by.",
    )
    across = (send, "seed", "drops", "mean", results.axes, results.sampled)
    assert "points of the sample" in tables.pivoted(runs, *across).notes[0]


def test_flows_are_compared_point_by_point(results):
    flows, send = tables.of_sweep(results, "flows", results.axes), "flows.F1.send"
    assert not flows.column("seed").usual
    made = tables.paired(
        flows, [send, "flow"], ["bytes_delivered"], (send, "2 KB"), results.sampled
    )
    found = {row["flow"]: (row["pairs"], row["bytes_delivered_difference"]) for row in made.rows()}
    assert found == {"F1": (8, 2000.0), "F2": (8, 0.0)}


def test_replications_of_a_point_are_averaged_before_points_are_compared():
    rows = [
        {"cc": cc, "rate": rate, "seed": seed, "x": base + gain * (cc == "b")}
        for cc in "ab"
        for rate, gain in ((1, 1.0), (2, 2.0), (3, 3.0))
        for seed, base in ((1, 10.0), (2, 20.0))
    ]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    kinds = {"cc": "word", "x": "real"}
    table = tables.ResultTable.of(
        {tables.Column(n, n, kinds.get(n, "count")): cells for n, cells in columns.items()}
    )
    (row,) = tables.paired(table, ["cc"], ["x"], ("cc", "a"), ["rate"]).rows()
    # Of 1, 2, 3: mean 2, s = 1, t(0.975, 2) = 4.302653.
    assert (row["pairs"], row["x_difference"]) == (3, 2.0)
    assert row["x_difference_high"] == pytest.approx(2 + 4.302653 / 3**0.5)


@pytest.mark.parametrize("options", [Options(), Options(x="delay", y="flows.F1.send")])
def test_a_heat_map_of_drawn_values_is_refused(results, options):
    with pytest.raises(PlotError, match=r"drawn.* make no grid"):
        figure_of_sweep(results, "heat-map", options=options)


@pytest.mark.slow
def test_points_of_a_zip_in_no_order_are_not_joined():
    over = {"links.L1.delay": ["1 ms", "2 ms", "3 ms"], "links.L1.rate": ["2 Mbps", "9 Mbps"]}
    for rates, joined in (
        (["1 Mbps", "2 Mbps", "3 Mbps"], "-"),
        (["3 Mbps", "1 Mbps", "2 Mbps"], "None"),
    ):
        results = Study(document(), zip={**over, "links.L1.rate": rates}).run(workers=1)
        (curve,) = figure_of_sweep(results, "sweep-lines").axes[0].lines
        assert curve.get_linestyle() == joined
