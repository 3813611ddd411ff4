"""What is given where arrays, columns, tables and numbers are needed becomes that or is refused."""

import sys
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import ackclock
from ackclock import InputError, Results, bench, measured, metrics, plots, run, tables
from ackclock.metrics import statistics
from ackclock.metrics.carried import windowed_link_rates
from ackclock.metrics.tail import tail_index
from ackclock.replications import Replications
from ackclock.sweep import SweepResults
from ackclock.tables import ResultTable

# What is called here is not what their types say.
m: Any = metrics
s: Any = statistics
t: Any = tables
plotting: Any = plots
timing: Any = bench
reading: Any = measured
api: Any = ackclock
T, V = [1.0, 2.0, 3.0], [5.0, 6.0, 7.0]
NUMBERS = "a list, an array or a column of numbers, such as [1.0, 2.5]"
SCENARIO = "teach/tail-loss"
RATE = "links.path1.rate"

ARRAYS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "jain": ("shares", m.jain),
    "alpha_mean": ("shares", lambda x: m.alpha_mean(x, 1)),
    "outstanding, sent_s": ("sent_s", lambda x: m.outstanding(x, V, T, V)),
    "outstanding, acked": ("acked", lambda x: m.outstanding(T, V, T, x)),
    "smoothed_rtt": ("samples_s", m.smoothed_rtt),
    "variations_s": ("delays", m.variations_s),
    "sample_mean, time_s": ("time_s", lambda x: m.sample_mean(x, V)),
    "sample_mean, value": ("value", lambda x: m.sample_mean(T, x)),
    "step_at, at_s": ("at_s", lambda x: m.step_at(T, V, x)),
    "step_mean, time_s": ("time_s", lambda x: m.step_mean(x, V, 0, 5)),
    "step_range, value": ("value", lambda x: m.step_range(T, x, 0, 5)),
    "windowed_sums, time_s": ("time_s", lambda x: m.windowed_sums(x, 1, 0, 5, 1)),
    "windowed_sums, amount": ("amount", lambda x: m.windowed_sums(T, x, 0, 5, 1)),
    "sliding_rates": ("size_bytes", lambda x: m.sliding_rates(T, x, 5)),
    "windowed_link_rates": ("size_bytes", lambda x: windowed_link_rates(T, x, 1e6, 0, 5, 1)),
    "new_bytes": ("start", lambda x: m.new_bytes(x, [1, 1, 1])),
    "summarize": ("value", s.summarize),
    "quantile": ("value", lambda x: s.quantile(x, 0.5)),
    "mean": ("value", s.mean),
    "t_interval": ("value", s.t_interval),
    "tail_index": ("value", tail_index),
}
"""Functions of an array of numbers, and what they call it."""


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize(
    ("given", "fault"),
    [
        (None, "is None"),
        ("12", "is '12'"),
        (1j, "is of the class `complex`"),
        ({"a": 1.0}, "is of the class `dict`"),
        ((x for x in T), "is of the class `generator`"),
        (["1", "2", "3"], "holds text"),
        ([1, "2", None], "holds text"),
        (pd.Series(["a", "b"]).astype("category"), "holds text"),
        (pd.date_range("2020", periods=3), "holds dates"),
        (pd.to_timedelta([1, 2, 3], "s"), "holds time spans"),
        (np.array([1 + 2j, 2, 3]), "holds complex numbers"),
        (np.zeros(3, [("a", int)]), "holds records"),
        ([date(2020, 1, 1)] * 3, "holds what is not a number"),
        ([10**400, 1, 2], "holds a number that is too large"),
        ([[1.0, 2.0], [3.0]], "has rows of different lengths"),
        (np.ones((2, 2)), "has the shape (2, 2)"),
        (pd.DataFrame({"a": T, "b": V}), "has the shape (3, 2)"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_what_is_no_array_of_numbers_is_refused_with_its_fault(name: str, given: Any, fault: str):
    argument, call = ARRAYS[name]
    with pytest.raises(InputError) as caught:
        call(given)
    assert str(caught.value) == f"`{argument}` {fault}; needed is {NUMBERS}"


@pytest.mark.parametrize(
    "given",
    [
        (5, 6, 7),
        range(5, 8),
        np.array([5, 6, 7], np.uint8),
        np.array([5, 6, 7], dtype=np.float32),
        [Decimal(5), 6, 7.0],
        pd.Series(V, index=[4, 2, 9]),
        pd.Series([5, 6, 7], dtype="Int64"),
        pa.array([5, 6, 7]),
        pa.chunked_array([[5.0, 6.0], [7.0]]),
        np.ma.array([5, 6, 7], mask=[False] * 3),
    ],
    ids=lambda given: type(given).__name__,
)
def test_lists_arrays_and_columns_of_other_libraries_are_arrays(given: Any):
    assert m.jain(given) == m.jain(V)
    assert m.step_mean(T, given, 0.0, 4.0) == m.step_mean(T, V, 0.0, 4.0)
    assert list(m.max_min({"A": 1.0}, [])) == []
    assert np.isnan(m.step_at(T, given, 0.0, initial=np.nan))


@pytest.mark.parametrize(
    "given",
    [
        [5.0, None, 7.0],
        [5.0, float("nan"), 7.0],
        pd.Series([5.0, None, 7.0]),
        pd.Series([5, pd.NA, 7], dtype="Int64"),
        pa.array([5.0, None, 7.0]),
        np.ma.array([5, 6, 7], mask=[False, True, False]),
    ],
    ids=lambda given: type(given).__name__,
)
def test_a_gap_is_nan_among_values_and_refused_among_times_and_shares(given: Any):
    np.testing.assert_array_equal(m.smoothed_rtt(given)[:1], [5.0])
    assert np.isnan(m.step_at(T, given, 2.5))
    assert statistics.summarize(given).missing.count == 1
    for call in (m.jain, lambda x: m.alpha_mean(x, 2), lambda x: m.windowed_counts(x, 0, 9, 1)):
        with pytest.raises(InputError, match="has no value in row 1, counted from 0"):
            call(given)


def test_arrays_are_taken_while_another_thread_loads_the_module_of_masked_ones(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setitem(sys.modules, "numpy.ma", ModuleType("numpy.ma"))  # without its class yet
    assert m.jain([5.0, 5.0]) == 1.0
    # Equal shares, whose sums are rounded.
    assert max(m.jain([0.1 * share] * n) for n in (3, 7, 400) for share in (1, 3, 7)) <= 1.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: m.sample_mean(T, V[:2]), "`value` has 2 values, but `time_s` has 3"),
        (lambda: m.step_mean(T, [1.0], 0, 5), "`value` has 1 value, but `time_s` has 3"),
        (lambda: m.windowed_rates(T, V[:2], 0, 5, 1), "`size_bytes` has 2 values, but `time_s` ha"),
        (lambda: m.outstanding(T, V, T, V[:2]), "`acked` has 2 values, but `acked_s` has 3"),
        (lambda: m.new_bytes([0, 1], [1]), "`length` has 1 value, but `start` has 2"),
        (lambda: m.new_bytes([0.5, 1], [1, 1]), "`start` holds numbers that are not whole; needed"),
        (lambda: m.new_bytes([np.nan, 1], [1, 1]), "`start` holds numbers that are not whole"),
        (lambda: m.step_at([2.0, 1.0], [1, 1], 0), "`time_s` goes back in row 1, counted from 0"),
        (lambda: m.outstanding([2, 1], [1, 1], T, V), "`sent_s` goes back in row 1, counted"),
        (lambda: m.step_mean(T, V, 2, 1), "there is no time between 2 s and 1 s"),
        (lambda: m.step_mean(T, V, "0", 1), "`start_s` is '0'; needed is a number"),
        (lambda: m.step_mean(T, V, 0, np.inf), "between 0 s and inf s to average over is infinite"),
        (lambda: m.jain([1, -1]), "`shares` holds -1 in row 1, counted from 0; needed are finite"),
        (lambda: m.jain([np.inf, 1]), "`shares` holds inf in row 0, counted from 0; needed are fi"),
        (lambda: m.alpha_mean([1, -1], 0.5), "`shares` holds -1 in row 1, counted from 0"),
        (lambda: m.step_mean(T, V, 0, 5, initial=None), "`initial` is None; needed is a number"),
        (lambda: m.sample_mean(T, V, end_s=[1]), "`end_s` is of the class `list`; needed is a num"),
        (lambda: m.window_edges(0, np.inf, 1), "inf s in windows of 1 s: both must be finite"),
        (lambda: m.window_edges(0, 1, 1e-300), "1 s are more than 1e+08 windows of 1e-300 s; choo"),
        (lambda: m.window_edges(0, 1, True), "`width_s` is True; needed is a number above 0"),
        (lambda: m.sliding_rates(T, V, 5, reach_s=0), "`reach_s` is 0; needed is a number above 0"),
        (lambda: m.alpha_mean(V, -1), "`alpha` is -1; needed is a number, 0 or above"),
        (lambda: m.alpha_mean(V, 10**400), "`alpha` is a number of 1329 bits; needed is a number"),
        (lambda: m.harm(None, 1, more_is_better=True), "`alone` is None; needed is a number"),
        (lambda: m.harm(1, 1, more_is_better="no"), "`more_is_better` is 'no'; needed is True or"),
        (lambda: m.harm(1, 1, more_is_better=np.ones(2)), "`more_is_better` is of the class `nda"),
        (lambda: m.max_min(5, [["A"]]), "`capacities` is 5; needed is a mapping of links"),
        (lambda: m.max_min({"A": "1"}, [["A"]]), "`capacities` is '1'; needed is a number, 0 or"),
        (lambda: m.max_min({"A": 1}, [[]]), "`paths` is of the class `list`; needed is a list of"),
        (lambda: m.max_min({"A": 1}, ["A"]), "a list of links for each flow, of A"),
        (lambda: m.max_min({"A": 1}, [["B"]]), "a list of links for each flow, of A"),
        (lambda: m.even_after(V, 0, 5), "`shares` is of the class `list`; needed is a function"),
        (lambda: m.even_after(lambda a, b: V, 0, 5, every_s=0), "`every_s` is 0; needed is a num"),
        (lambda: m.even_after(lambda a, b: V, 0, np.inf), "both must be finite"),
        (lambda: m.queueing_s(5, []), "`segments` is 5; needed is `Segments`"),
        (lambda: m.select(5, "drops", ("seq",)), "`results` is 5; needed is the results of a run"),
        (lambda: s.quantile([], 0.5), "a quantile needs values"),
        (lambda: s.summarize(V, missing="abov"), "unknown missing 'abov'; did you mean 'above'"),
        (lambda: s.wilson(1.5, 2), "`count` is 1.5; needed is a whole number"),
        (lambda: s.t_interval(V, "0.9"), "a confidence level must be between 0 and 1, not '0.9'"),
        (lambda: s.mean(V, tail=5), "`tail` is 5; needed is what `tail_index` returns"),
        (lambda: tail_index(V, level=2), "a confidence level must be between 0 and 1, not 2"),
        (lambda: timing.measure(int), "`scenario_document` is the class `int`"),
        (
            lambda: timing.measure({"name": {1}}),
            "`scenario_document` is of the class `set`; needed",
        ),
        (lambda: timing.measure({}), "the document: "),
        (
            lambda: timing.measure({}, np.float64(1)),
            "`threads` is np.float64(1.0); needed is a who",
        ),
        (
            lambda: api.run(SCENARIO, threads=np.ones(2)),
            "`threads` is of the class `ndarray`; needed ",
        ),
        (lambda: timing.document("chain", [5], 1), "'[5]' is not a size of the workload 'chain'"),
        (lambda: timing.document("chain", "1", "1"), "`seconds` is '1'; needed is a number"),
        (lambda: reading.read(5), "`path` is 5; needed is a path"),
        (lambda: reading.read("a\0b"), "needed is a path"),
        (lambda: Replications(5), "`table` is 5; needed is the `table` of replications"),
        (lambda: Replications(pa.table({"a": T})), "needed is the `table` of replications"),
        (
            lambda: plotting.Options(style=np.ones(2)),
            "`style` is of the class `ndarray`; needed is",
        ),
        (lambda: plotting.Options(lines=np.ones(2)), "`lines` is of the class `ndarray`; needed"),
        (lambda: plotting.Options(sliding=np.ones(2)), "`sliding` is of the class `ndarray`; need"),
        (lambda: plotting.Options(where=5), "`where` is 5; needed is a list of paths and values"),
        (lambda: plotting.Options(where="ab"), "`where` is 'ab'; needed is a list of paths and"),
        (lambda: plotting.Options(where={"a": 5}), "`where` is 5; needed is a name such as"),
        (lambda: plotting.Options(where=[(5, "a")]), "`where` is 5; needed is a name such as"),
        (lambda: plotting.Options(facets=np.array(1)), "`facets` is of the class `ndarray`; need"),
        (lambda: plotting.Options(bin_s=10**400), "`bin_s` is a number of 1329 bits; needed is a"),
        (lambda: plotting.plot_sweep(pa.table({})), "needed is the results of a sweep, as"),
        (lambda: t.of_records(5, "delays"), "`runs` is 5; needed is a mapping of names to the res"),
        (lambda: t.of_records({"a": 5}, "delays"), "`results` is 5; needed is the results of a ru"),
        (lambda: t.of_summaries({"a": {}}, "flows"), "needed is a mapping of names to summaries"),
        (lambda: t.axes(5), "`table` is 5; needed is the `table` of a sweep"),
    ],
)
def test_faults_between_and_besides_arrays_are_named(call: Callable[[], object], message: str):
    with pytest.raises(InputError) as caught:
        call()
    assert message in str(caught.value)


@pytest.fixture(scope="module")
def results() -> Results:
    return run(SCENARIO)


@pytest.fixture(scope="module")
def sweep() -> SweepResults:
    return ackclock.Study(SCENARIO, grid={RATE: ["1 Mbps", "2 Mbps"]}, replications=2).run(
        workers=1
    )


TABLES: dict[str, Callable[[ResultTable, Any], Any]] = {
    "column": lambda table, x: table.column(x),
    "values": lambda table, x: table.values(x),
    "numbers": lambda table, x: table.numbers(x),
    "select": lambda table, x: table.select(x),
    "sort": lambda table, x: table.sort(x),
    "where": lambda table, x: table.where(x),
    "where, values": lambda table, x: table.where({RATE: x}),
    "take": lambda table, x: table.take(x),
    "of": lambda _, x: ResultTable.of(x),
    "notes": lambda _, x: ResultTable.of({}, notes=x),
    "grouped": lambda _, x: tables.grouped(x, [RATE], ["end_s"]),
    "grouped, by": lambda table, x: tables.grouped(table, x, ["end_s"]),
    "grouped, values": lambda table, x: tables.grouped(table, [RATE], x),
    "grouped, axes": lambda table, x: tables.grouped(table, [RATE], ["end_s"], axes=x),
    "pivoted": lambda _, x: tables.pivoted(x, RATE, "seed", "end_s"),
    "pivoted, rows": lambda table, x: tables.pivoted(table, x, "seed", "end_s"),
    "pivoted, value": lambda table, x: tables.pivoted(table, RATE, "seed", x),
    "paired": lambda _, x: tables.paired(x, [RATE], ["end_s"], (RATE, "1 Mbps")),
    "paired, by": lambda table, x: tables.paired(table, x, ["end_s"], (RATE, "1 Mbps")),
    "paired, against": lambda table, x: tables.paired(table, [RATE], ["end_s"], x),
}
"""Calls with tables of results."""


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize(
    "given",
    [
        5,
        np.ones((2, 2)),
        np.array(3.0),
        np.array([1 + 1j]),
        [None],
        pd.Series([0.5]),
        slice(1),
        pd.NA,
    ],
    ids=lambda given: type(given).__name__,
)
def test_tables_refuse_what_is_neither_table_nor_name(sweep: SweepResults, name: str, given: Any):
    table = tables.of_sweep(sweep.table, "runs")
    with pytest.raises(InputError, match=r"; needed is |names rows that do not exist"):
        TABLES[name](table, given)


def test_tables_take_names_and_rows_as_arrays_too(sweep: Any):
    table: Any = tables.of_sweep(sweep.table, "runs")
    assert table.select(np.array([RATE, "seed"])).names == [RATE, "seed"]
    assert table.take(pd.Series([2, 0])).values("seed") == [
        table.values("seed")[2],
        table.values("seed")[0],
    ]
    assert len(table.where({RATE: "1 Mbps"})) == 2
    with pytest.raises(InputError, match=r"`order` names rows that do not exist; .* from 0 to 3"):
        table.take([4])
    with pytest.raises(InputError, match=f"'{RATE}' holds no numbers; these do: "):
        table.numbers(RATE)
    for columns, message in ((5, "`columns` is 5; needed is"), (["x"], "unknown column 'x'")):
        with pytest.raises(InputError, match=message):
            sweep.select(columns)


@pytest.mark.parametrize("given", [np.ones((2, 2)), np.array("a"), pd.Series(["a"]), pd.NA])
def test_names_of_plots_flows_and_links_are_no_arrays_of_something_else(
    results: Results, tmp_path: Path, given: Any
):
    for call in (
        lambda: plotting.figure(results, given),
        lambda: plotting.figure(results, "flow-window", flows=given),
        lambda: plotting.plot(results, "flow-window", fmt=given),
        lambda: metrics.packet_series(results, given),
        lambda: metrics.cwnd_series(results, given),
        lambda: results.columns("cwnd", given),
        lambda: results.save(tmp_path / "x", force=given),
        lambda: tables.of_run(results, percentiles=given),
        lambda: ackclock.Scenario.load(SCENARIO).set("name", (x for x in T)),
    ):
        with pytest.raises(InputError):
            call()
