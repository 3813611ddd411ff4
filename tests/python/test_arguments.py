"""Arguments of the wrong kind are refused with their name, what was given, and what is needed."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any

import pyarrow as pa
import pytest

import ackclock
from ackclock import InputError, Results, Scenario, Study, plots, run
from ackclock.conformance import check_cc
from ackclock.convert import convert
from ackclock.script import run_script
from ackclock.theory import TheoryError, compare, predict

# What is called here is not what their types say.
api: Any = ackclock
drawing: Any = plots
theory: Any = predict
compared: Any = compare


class _Other:
    """Modules of the package by name."""

    def __getattr__(self, name: str) -> Any:
        return import_module(f"ackclock.{name}")


other = _Other()

SCENARIO = "teach/tail-loss"
RATES = "links.path1.rate"
PATH = "a path, as text or `Path`"
WHOLE = "a whole number, such as 2"
ONE_RUN = "the results of a run, as `ackclock.run` returns them"
RUN = f"{ONE_RUN}, or several"
FUNCTION = "a function of one argument"
PAIRS = "a list of paths and values, such as [('links.L1.rate', '5 Mbps')]"
SPAN = "a start and a later end in seconds, such as (1, 2.5)"
SPAN_IS = f"needed is {SPAN}"
TABLE = "a `ResultTable`, such as `tables.of_run` returns"
TWO_RATES = pa.table({"rate": ["1 Mbps", "2 Mbps"], "status": ["done", "done"]})
EXECUTOR = "a `DaskExecutor`, or another `ackclock.sweep.Executor`"


@pytest.fixture(scope="module")
def results() -> Results:
    return run(SCENARIO)


def goodput(run: Any, *arguments: Any) -> float:
    return other.metrics.goodput_bps(run, "probe", *arguments)


def five() -> Any:
    return api.replicate(SCENARIO, 5, workers=1)


def closed():
    """An executor that was closed."""
    executor = other.sweep.LocalExecutor(1)
    executor.close()
    return executor


def study() -> Any:
    return Study(SCENARIO, grid={RATES: ["1 Mbps", "2 Mbps"]})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda _: api.Results.load(None), f"`directory` is None; needed is {PATH}"),
        (lambda results: results.save(5), f"`directory` is 5; needed is {PATH}"),
        (lambda _: api.run(SCENARIO, directory=5), f"`directory` is 5; needed is {PATH}"),
        (lambda _: study().run(5, workers=1), f"`out` is 5; needed is {PATH}"),
        (lambda _: api.sweep.load(None), "`path` is None; needed is the folder of a sweep, "),
        (lambda _: api.Study.load(None), f"`path` is None; needed is {PATH}"),
        (
            lambda _: api.Scenario.load(SCENARIO).set(None, 1),
            "`path` is None; needed is the path of a value, such as 'links.L1.rate'",
        ),
        (
            lambda _: study().run(executor=other.sweep.DaskExecutor),
            f"`executor` is the class `DaskExecutor`; needed is {EXECUTOR}",
        ),
        (
            lambda _: study().run(executor=closed()),
            "`executor` was closed before; needed is an open one",
        ),
        (lambda _: study().run(executor="x"), f"`executor` is 'x'; needed is {EXECUTOR}"),
        (
            lambda _: study().run(executor=ThreadPoolExecutor()),
            f"`executor` is of the class `ThreadPoolExecutor`; needed is {EXECUTOR}",
        ),
        (
            lambda _: study().run(workers="2"),
            "`workers` is '2'; needed is a whole number from 1 to 1",
        ),
        (lambda _: api.replicate(SCENARIO, "3"), f"`count` is '3'; needed is {WHOLE}"),
        (lambda _: api.replicate(SCENARIO, True), f"`count` is True; needed is {WHOLE}"),
        (
            lambda _: api.replicate(SCENARIO, 3, first_seed=1.5),
            f"`first_seed` is 1.5; needed is {WHOLE}",
        ),
        (
            lambda results: results.table(None),
            "`table` is None; needed is a name; known: aqm, cwnd",
        ),
        (lambda run: other.tables.of_run(run).column("xyzzy"), ", to, transport"),
        (lambda results: results.columns("cwnd", ["nope"]), "unknown column 'nope'; known: cwnd"),
        (lambda results: results.columns("cwnd", "time"), "did you mean 'time_s'?"),
        (
            lambda results: results.columns("cwnd", [1]),
            "`columns` is of the class `list`; needed is a name such as 'time_s', or a list of",
        ),
        (lambda results: next(results.pieces("cwnd", ["nope"])), "unknown column 'nope'"),
        (
            lambda _: theory(Scenario),
            "`model` is the class `Scenario`; needed is a scenario, results, or the `model`",
        ),
        (lambda _: drawing.plot(Scenario), f"`results` is the class `Scenario`; needed is {RUN}"),
        (lambda results: drawing.plot([results, 1]), f"`results` is 1; needed is {RUN}"),
        (lambda results: drawing.plot(results, kinds=5), "`kinds` is 5; needed is a name such as"),
        (lambda results: drawing.plot(results, links=5), "`links` is 5; needed is a name such as"),
        (
            lambda results: drawing.plot(results, fmt=5),
            "`fmt` is 5; needed is a name such as 'png'",
        ),
        (
            lambda results: drawing.plot(results, "flow-window", out=5),
            f"`out` is 5; needed is {PATH}",
        ),
        (
            lambda results: drawing.figure(results, None),
            "`plot` is None; needed is a name; known: ",
        ),
        (
            lambda results: drawing.plot_sweep(results),
            "`results` is of the class `Results`; needed is the results of a sweep, as",
        ),
        (lambda _: api.Scenario.load(SCENARIO, 5), f"`overrides` is 5; needed is {PAIRS}"),
        (
            lambda _: api.Scenario.load(SCENARIO, {RATES: "1 Mbps"}),
            f"`overrides` is of the class `dict`; needed is {PAIRS}",
        ),
        (
            lambda _: api.Study.load("x.yaml", ["x"]),
            "`overrides` is of the class `list`; needed is",
        ),
        (lambda _: api.run(SCENARIO, progress=5), f"`progress` is 5; needed is {FUNCTION}"),
        (
            lambda _: api.run(SCENARIO, threads="2"),
            "`threads` is '2'; needed is a whole number from 1",
        ),
        (lambda _: study().run(progress=5), f"`progress` is 5; needed is {FUNCTION}"),
        (
            lambda _: study().run(time_limit_s=-1),
            "`time_limit_s` is -1; needed is a number above 0",
        ),
        (
            lambda _: study().run(time_limit_s=float("inf")),
            "`time_limit_s` is inf; needed is a number above 0 and up to 1.8e+10; without a limit",
        ),
        (
            lambda _: api.replicate(SCENARIO, 2, workers=1, time_limit_s=1e30),
            "`time_limit_s` is 1e+30; needed is a number above 0 and up to 1.8e+10",
        ),
        (
            lambda _: study().run(memory_limit=1),
            "`memory_limit` is 1; needed is a number of bytes from 64000000 up",
        ),
        (lambda _: study().run(force="no"), "`force` is 'no'; needed is True or False"),
        (lambda _: study().run(retry_failed=1), "`retry_failed` is 1; needed is True or False"),
        (
            lambda run: other.report.write(run, "x.html", force="x"),
            "`force` is 'x'; needed is True or False",
        ),
        (lambda _: study().run(workers=int), "`workers` is the class `int`; needed is a whole"),
        (lambda _: api.Study(SCENARIO, name=5), "`name` is 5; needed is text"),
        (
            lambda results: results.table(["cwnd"]),
            "`table` is of the class `list`; needed is a name",
        ),
        (lambda results: results.rows({}), "`table` is of the class `dict`; needed is a name"),
        (lambda results: results.frame([]), "`table` is of the class `list`; needed is a name"),
        (lambda results: results.condensed("drops", "seq"), "unknown table 'drops'; known: "),
        (lambda results: results.condensed("cwnd", "x"), "unknown column 'x'; known: "),
        (lambda run: run.condensed("rtt", "flow"), "unknown column 'flow'; known: rtt_s"),
        (lambda run: run.condensed("cwnd", "state"), "unknown column 'state'; known: cwnd_bytes"),
        (
            lambda run: run.condensed("cwnd", "cwnd_bytes", (500, 600)),
            "s: there is nothing at 500 s",
        ),
        (lambda _: drawing.plot([]), f"`results` holds no run; needed is {RUN}"),
        (lambda _: drawing.figure([], "overview"), f"`results` holds no run; needed is {RUN}"),
        (lambda _: api.run(SCENARIO, directory=""), f"`directory` is ''; needed is {PATH}"),
        (lambda _: study().run(""), f"`out` is ''; needed is {PATH}"),
        (
            lambda run: other.metrics.cwnd_series(run, None),
            "`flow` is None; needed is a name; known: no-probe, probe",
        ),
        (
            lambda run: other.metrics.queue_series(run, "path1", 3),
            "`direction` is 3; needed is a name; known: ",
        ),
        (
            lambda results: drawing.plot(results, options=5),
            "`options` is 5; needed is a `plots.Opt",
        ),
        (lambda _: drawing.Options(width_mm="9"), "`width_mm` is '9'; needed is a number"),
        (lambda _: drawing.Options(from_s=float("nan")), "`from_s` is nan; needed is a number"),
        (lambda _: drawing.Options(overlay=5), "`overlay` is 5; needed is a name such as"),
        (
            lambda results: compared(5, results),
            "`prediction` is 5; needed is what `predict` returns",
        ),
        (lambda _: other.tables.of_run(5), f"`results` is 5; needed is {ONE_RUN}"),
        (lambda run: other.tables.of_sweep(run, "runs"), "`table` is of the class `Results`;"),
        (lambda _: other.log.entries(5), f"`results` is 5; needed is {ONE_RUN}"),
        (lambda run: other.log.entries(run, 5), "`kinds` is 5; needed is a name such as 'events'"),
        (lambda run: other.log.entries(run, to_s="1"), "`to_s` is '1'; needed is a number"),
        (lambda _: other.steps.Steps(5), f"`results` is 5; needed is {ONE_RUN}"),
        (
            lambda run: list(other.differences.of_results(run, 5)),
            "`second` is 5; needed is the res",
        ),
        (lambda run: list(other.differences.of_scenarios(run, 5)), "`first` is of the class `Resu"),
        (lambda _: other.report.write(5, "x.html"), f"`runs` is 5; needed is {RUN}"),
        (lambda run: other.report.write(run, 5), f"`place` is 5; needed is {PATH}"),
        (lambda _: other.playground.write(5), f"`place` is 5; needed is {PATH}"),
        (lambda run: other.export.export(run, "qlog", 5), f"`out` is 5; needed is {PATH}"),
        (lambda _: other.export.export(5, "qlog", "x"), "`results` is 5; needed is a scenario, or"),
        (lambda run: other.export.export(run, "qlog", "x", 5), "`options` is 5; needed is an `exp"),
        (lambda run: other.export.export(run, "qlog", "x", flows=5), "`flows` is 5; needed is a n"),
        (lambda _: other.convert.convert(5), f"`path` is 5; needed is {PATH}"),
        (
            lambda _: other.labs.find(5),
            "`name_or_folder` is 5; needed is the name of a lab, or a f",
        ),
        (lambda _: other.reproduce.run("nope"), "unknown experiment 'nope'"),
        (lambda _: other.conformance.check_cc({}), "`subject` is of the class `dict`; needed is a"),
        (lambda _: other.metrics.cwnd_series(5, "probe"), f"`results` is 5; needed is {ONE_RUN}"),
        (
            lambda run: other.metrics.cwnd_series(run, "prob"),
            "unknown flow 'prob'; did you mean 'n",
        ),
        (lambda run: other.metrics.queue_series(run, "path"), "unknown link 'path'; did you mean "),
        (
            lambda run: other.metrics.queue_series(run, next(iter(run.summary["links"]))),
            "'both'; known: backward, forward",
        ),
        (lambda run: other.metrics.packet_series(run, "snt"), "unknown event 'snt'; did you mean"),
        (
            lambda run: other.metrics.packet_series(run, "sent", kind="dat"),
            "unknown kind 'dat'; did you mean 'data'?",
        ),
        (lambda run: other.metrics.packet_series(run, "sent", host="S"), "unknown host 'S'; did "),
        (lambda run: other.metrics.drop_times(run, reason="lost"), "unknown reason 'lost'; did "),
        (lambda _: other.metrics.step_range([1], [1], 3, 1), "there is no time between 3 s and 1"),
        (lambda run: run.condensed("cwnd", "cwnd_bytes", 5), f"`span` is 5; needed is {SPAN}"),
        (lambda run: run.condensed("cwnd", "cwnd_bytes", (2, 1)), "`span` is (2, 1); needed is"),
        (lambda run: run.condensed("cwnd", "cwnd_bytes", "12"), "`span` is '12'; needed is"),
        (lambda run: other.report.write(run, "x.html", animate=5), f"`animate` is 5; {SPAN_IS}"),
        (lambda run: other.report.write(run, "x.html", animate=(1, "b")), "`animate` is (1, 'b');"),
        (lambda _: other.tables.to_csv(5), f"`table` is 5; needed is {TABLE}"),
        (lambda _: other.tables.to_html(5), f"`table` is 5; needed is {TABLE}"),
        (lambda run: other.tables.to_latex(run), "`table` is of the class `Results`; needed is a"),
        (lambda run: other.tables.to_json(run), "`table` is of the class `Results`; needed is a"),
        (lambda _: other.tables.to_parquet(5), f"`table` is 5; needed is {TABLE}"),
        (
            lambda run: other.tables.to_markdown(other.tables.of_run(run), 0),
            "`digits` is 0; needed is a whole number from 1 to 15",
        ),
        (lambda _: other.tables.of_sweep(TWO_RATES, "runs", 5), "`names` is 5; needed is a name"),
        (lambda _: other.tables.of_sweep(TWO_RATES, "runs", ["rat"]), "unknown axis 'rat'; did"),
        (lambda _: list(other.log.lines(5)), "`log` is 5; needed is a list of entries, as"),
        (lambda _: list(other.log.lines(["x"])), "`log` is of the class `list`; needed is a list"),
        (lambda run: goodput(run, "1", 0, 1), "`segment_bytes` is '1'; needed is a number"),
        (lambda run: goodput(run, -5, 0, 1), "`segment_bytes` is -5; needed is a number above 0"),
        (lambda run: goodput(run, 1000, 0, None), "`end_s` is None; needed is a number"),
        (lambda run: goodput(run, 1000, 1, 0), "there is no time between 1 s and 0 s"),
        (lambda _: five().summary("finish_s", shares=5), "`shares` is 5; needed is a list of"),
        (lambda _: five().summary("finish_s", shares=["a"]), "a share must be between 0 and 1"),
        (lambda _: five().summary("finish_s", level="a"), "a confidence level must be between 0"),
        (lambda _: api.replicate(SCENARIO, 2, workers=10**30), f"`workers` is {10**30}; needed is"),
        (lambda _: study().run(workers=0), "`workers` is 0; needed is a whole number from 1 to 10"),
        (lambda _: theory({"name": "x"}), "`model` lacks hosts, links, flows, routing, stop; need"),
        (lambda _: other.script.run_script("x", 5), "`text` is 5; needed is the text of a script"),
        (lambda _: other.script.run_script("x", "", defines={"A": 5}), "`defines` is of the class"),
        (lambda _: other.script.run_script("x", "", overrides=["a"]), "`overrides` is of the clas"),
        (lambda _: other.widgets.explore(SCENARIO, {5: ["a"]}), "`settings` is of the class `dict"),
        (lambda _: other.widgets.explore(SCENARIO, flows=5, rate="1 Mbps"), "`flows` is 5; needed"),
        (lambda _: other.widgets.explore(SCENARIO, 5), "`settings` is 5; needed is a mapping of"),
        (lambda _: other.widgets.explore(SCENARIO, rate=5), "`rate` is 5; needed is a list of val"),
        (lambda _: other.widgets.explore(SCENARIO, kind="x", rate="1 Mbps"), "unknown plot 'x'"),
    ],
)
def test_what_is_needed_is_said(results: Results, call: Callable[[Any], object], message: str):
    with pytest.raises(InputError) as caught:
        call(results)
    assert message in str(caught.value)


def test_one_name_stands_for_a_list_of_it(results: Results, tmp_path: Any):
    files = plots.plot(results, "flow-window", flows="probe", out=tmp_path)
    assert [file.name for file in files] == ["flow-window.png"]
    assert results.columns("cwnd", "time_s").column_names == ["time_s"]


def test_an_axis_can_be_a_generator():
    rates = (f"{rate} Mbps" for rate in (1, 2, 4))
    assert len(Study(SCENARIO, grid={RATES: rates})) == 3


def test_one_run_stands_for_a_list_of_it(results: Results, tmp_path: Any):
    one = other.report.write(results, tmp_path / "one.html")
    assert one.read_bytes() == other.report.write([results], tmp_path / "list.html").read_bytes()
    out = other.export.export(results, "qlog", tmp_path / "one.qlog", flows="probe")
    assert b"no-probe" not in out[0].read_bytes()


@pytest.mark.parametrize("given", [3, "a", [("a", "1")], {1: "x"}, {"a": 1}])
def test_arguments_that_must_be_mappings_are_checked(given: Any):
    with pytest.raises(InputError, match=r"`defines` is .*; needed is a mapping of names to texts"):
        run_script("one", "", defines=given)
    if given != {"a": 1}:
        with pytest.raises(InputError, match=r"`overrides` is .*; needed is a mapping of names"):
            run_script("one", "", overrides=given)
        with pytest.raises(InputError, match=r"`parameters` is .*; needed is a mapping of names"):
            check_cc("reno", parameters=given)


def test_a_path_with_a_null_byte_is_refused_and_assumptions_of_another_type(results: Results):
    with pytest.raises(InputError, match=r"`path` is .*needed is a path"):
        convert("a\0b")
    with pytest.raises(TheoryError, match="no assumptions are named"):
        predict(results.model, ["ours"])  # pyright: ignore[reportArgumentType]
