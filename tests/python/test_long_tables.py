"""Tables that are too long for memory: what is made of them piece by piece is what they hold."""

import numpy as np
import pyarrow as pa
import pytest

from ackclock import InputError, Results, Scenario, metrics, plots, report, run
from ackclock.metrics import condense, series
from ackclock.metrics.goodput import arrival_counts, first_arrivals
from ackclock.metrics.steps import step_mean
from ackclock.plots import PlotError
from ackclock.plots.options import Options
from ackclock.plots.view import View
from ackclock.theory import compare, predict

FAST = {
    "name": "tests/long",
    "topology": {
        "kind": "dumbbell",
        "leaves": 2,
        "access": {"rate": "50 Mbps", "delay": "1 ms"},
        "bottleneck": {"rate": "5 Mbps", "delay": "10 ms", "queue": {"limit": "300 packets"}},
    },
    "flows": [
        {"id": "F1", "from": "S1", "to": "D1", "tcp": {"cc": "fast"}},
        {"id": "F2", "from": "S2", "to": "D2", "start": "10 s", "tcp": {"cc": "fast"}},
    ],
    "stop": {"when": "time", "at_latest": "40 s"},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run in a directory, in many parts."""
    place = tmp_path_factory.mktemp("long") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ackclock.recording._OnDisk.most_rows", 20_000)
        patch.setattr("ackclock.record_stream.LEAST_ROWS", 1000)
        run(Scenario.from_dict(FAST), directory=place)
    return place


@pytest.fixture
def plain(folder):
    """The run, its tables read as they are."""
    return Results.load(folder)


@pytest.fixture
def long(folder, monkeypatch):
    """The same, and its tables count as long."""
    monkeypatch.setattr(series, "LONG", 1000)
    monkeypatch.setattr(condense, "_MOST_BINS", 2000)
    return Results.load(folder)


def test_pieces_make_the_table(plain):
    pieces = list(plain.pieces("packets", ["time_s", "seq"]))
    assert len(pieces) > 3
    whole = Results.load(plain.directory).table("packets")
    assert plain.rows("packets") == whole.num_rows
    assert pa.concat_tables(pieces)["seq"].to_pylist() == whole["seq"].to_pylist()
    assert plain.columns("packets", ["seq"])["seq"].to_pylist() == whole["seq"].to_pylist()
    with pytest.raises(InputError, match="did you mean 'packets'"):
        next(plain.pieces("packet"))


def test_a_condensed_level_keeps_extremes_and_mean(plain, long):
    times, values = series.select(
        plain, "queue", ("time_s", "queue_packets"), link="bottleneck", direction="forward"
    )
    short, kept = long.condensed("queue", "queue_packets")["bottleneck", "forward"]
    assert len(short) < len(times) / 2
    assert np.all(np.diff(short) >= 0)
    assert (kept.min(), kept.max()) == (values.min(), values.max())
    assert step_mean(short, kept, 0, 40) == pytest.approx(step_mean(times, values, 0, 40), rel=1e-9)
    for start, end in ((5, 10), (12.34, 31.7)):
        mean = step_mean(times, values, start, end)
        assert step_mean(short, kept, start, end) == pytest.approx(mean, rel=2e-3)


def test_condensed_samples_keep_extremes_and_mean(plain, long):
    times, values = series.select(plain, "rtt", ("time_s", "rtt_s"), flow="F1")
    short, kept = long.condensed("rtt", "rtt_s", (10.0, 30.0))["F1",]
    inside = values[(times >= 10) & (times <= 30)]
    assert kept[1:].min() == inside.min()
    assert kept[1:].max() == inside.max()
    assert short[0] == times[times < 10][-1]
    assert kept[1:].mean() == pytest.approx(inside.mean(), rel=2e-3)


def test_a_narrow_span_is_drawn_row_by_row(plain, long):
    (times,) = series.select(plain, "queue", ("time_s",), link="bottleneck", direction="forward")
    short, _ = long.condensed("queue", "queue_data_packets", (20.0, 20.5))["bottleneck", "forward"]
    expected = times[(times >= 20.0) & (times <= 20.5)]
    np.testing.assert_array_equal(short[1:], expected)
    assert short[0] == times[times < 20.0][-1]


def test_a_window_without_limit_stays_without(long):
    """An infinite threshold must not become a number, or none."""
    _, values = long.condensed("cwnd", "ssthresh_bytes")["F1",]
    assert not np.isnan(values).any()


def test_first_arrivals_are_counted_piece_by_piece(plain, long):
    for flow, (times, counts) in arrival_counts(long, 40.0).items():
        arrivals = first_arrivals(plain, flow)
        assert counts[-1] == len(arrivals)
        np.testing.assert_array_equal(counts, np.searchsorted(arrivals, times, side="left"))


def test_the_theory_measures_the_same(plain, folder, monkeypatch):
    prediction = predict(plain.model)
    expected = compare(prediction, plain)
    monkeypatch.setattr(series, "LONG", 1000)
    monkeypatch.setattr(condense, "_MOST_BINS", 2000)
    monkeypatch.setattr(Results, "table", _refuse)
    found = compare(prediction, Results.load(folder))
    assert found.agrees == expected.agrees
    assert len(found.figures) == len(expected.figures) > 10
    for ours, theirs in zip(found.figures, expected.figures, strict=True):
        assert ours.measured == pytest.approx(theirs.measured, rel=5e-3, abs=1e-3)


def _refuse(_: Results, name: str) -> pa.Table:
    if name == "routes":
        return pa.table({"time_s": [], "previous_link": []})
    raise AssertionError(f"'{name}' is read as a whole")


def test_rates_of_long_tables_are_exact(plain, folder, monkeypatch):
    expected = View(plain)
    ways = [(flow, event) for flow in ("F1", "F2") for event in ("sent", "received")]
    flows = {way: expected.flow_rate(*way) for way in ways}
    hosts = {host: expected.host_rate(host, "sent") for host in expected.hosts}
    links = {lane: expected.link_rate(lane) for lane in expected.lanes}
    monkeypatch.setattr(series, "LONG", 1000)
    monkeypatch.setattr(Results, "table", _refuse)
    found = View(Results.load(folder))
    assert found.long("packets") is not None
    assert found.lanes == expected.lanes
    for way, (edges, rates) in flows.items():
        np.testing.assert_allclose(found.flow_rate(*way)[0], edges)
        np.testing.assert_allclose(found.flow_rate(*way)[1], rates)
    for host, (_, rates) in hosts.items():
        np.testing.assert_allclose(found.host_rate(host, "sent")[1], rates)
    for lane, (_, rates) in links.items():
        np.testing.assert_allclose(found.link_rate(lane)[1], rates, rtol=1e-6, atol=1.0)


@pytest.mark.slow
def test_plots_of_long_tables_are_drawn(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(series, "LONG", 1000)
    monkeypatch.setattr(Results, "table", _refuse)
    results = Results.load(folder)
    drawn = plots.plot(results, out=tmp_path)
    assert {"overview.png", "rates.png"} <= {path.name for path in drawn}
    part = Options(from_s=5.0, to_s=6.0)
    assert plots.plot(results, kinds=["link-queue"], out=tmp_path, options=part)


def test_a_plot_of_each_packet_refuses_too_many(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("ackclock.plots.records._MOST_ROWS", 1000)
    with pytest.raises(PlotError, match="too many to draw each"):
        plots.plot(Results.load(folder), kinds=["sequence"], out=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("rows", ["every 50 ms", "min-max every 50 ms"])
def test_sampled_tables_are_a_part_of_all_and_say_so(rows, folder, tmp_path):
    record = {"queue": rows, "cwnd": rows, "rtt": rows}
    sampled = run(Scenario.from_dict({**FAST, "record": record}))
    full = Results.load(folder)
    assert sampled.summary["digest"] == full.summary["digest"]
    for name in record:
        some, every = sampled.table(name).to_pylist(), full.table(name).to_pylist()
        assert 0 < len(some) < len(every) or name == "cwnd"  # changes once a round trip
        kept = {tuple(row.values()) for row in every}
        assert all(tuple(row.values()) in kept for row in some)
        assert sampled.table(name).schema.metadata[b"rows"].decode() == rows
    times, values = metrics.queue_series(sampled, "bottleneck", "forward")
    all_times, all_values = metrics.queue_series(full, "bottleneck", "forward")
    bins = np.floor(all_times / 0.05)
    if rows.startswith("every"):
        assert len(np.unique(np.floor(times / 0.05))) == len(times) == len(np.unique(bins))
        at = np.arange(0.05, 40, 0.05) - 1e-9
        np.testing.assert_array_equal(
            metrics.step_at(times, values, at), metrics.step_at(all_times, all_values, at)
        )
    else:
        extremes = (np.min, np.max)
        for number in np.unique(bins)[::50]:
            mine, there = values[np.floor(times / 0.05) == number], all_values[bins == number]
            assert [f(mine) for f in extremes] == [f(there) for f in extremes]
    comparison = compare(predict(sampled.model), sampled)
    assert any(f"queue {rows}" in note for note in comparison.notes)
    figure = plots.figure(sampled, "link-queue")
    words = " ".join(text.get_text() for text in figure.findobj(lambda a: hasattr(a, "get_text")))
    assert f"not all rows are recorded: cwnd, rtt, queue {rows}" in words


def test_a_long_table_is_read_once_for_all_that_a_report_shows(folder, tmp_path, monkeypatch):
    """Not once more for each link or flow, nor with an own step for each in each piece."""
    monkeypatch.setattr(series, "LONG", 1000)
    read, steps, pieces = [], [], Results.pieces

    def counted(self, name, columns=None):
        read.append((name, *(columns or ())))
        for piece in pieces(self, name, columns):
            steps.append(name)
            yield piece

    thin = condense._thin
    thinned = []
    monkeypatch.setattr(condense, "_thin", lambda *a, **k: thinned.append(1) or thin(*a, **k))
    monkeypatch.setattr(Results, "pieces", counted)
    report.write(Results.load(folder), tmp_path / "report.html", links=["bottleneck"])
    rates = [one for one in read if "bytes" in one and "link" in one]
    assert [one[0] for one in rates] == ["transmissions"]
    assert 0 < len(thinned) <= len(steps)
