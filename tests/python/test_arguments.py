"""Arguments of the wrong kind are refused with their name, what was given, and what is needed."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import ackclock
from ackclock import InputError, Results, Scenario, Study, plots, run
from ackclock.theory import predict

# What is called here is not what their types say.
api: Any = ackclock
drawing: Any = plots
theory: Any = predict

SCENARIO = "teach/tail-loss"
RATES = "links.path1.rate"
PATH = "a path, as text or `Path`"
WHOLE = "a whole number, such as 2"
RUN = "the results of a run, as `ackclock.run` returns them, or several"
EXECUTOR = "a `DaskExecutor`, or another `ackclock.sweep.Executor`"


@pytest.fixture(scope="module")
def results() -> Results:
    return run(SCENARIO)


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
        (lambda _: study().run(executor="x"), f"`executor` is 'x'; needed is {EXECUTOR}"),
        (
            lambda _: study().run(executor=ThreadPoolExecutor()),
            f"`executor` is of the class `ThreadPoolExecutor`; needed is {EXECUTOR}",
        ),
        (lambda _: study().run(workers="2"), f"`workers` is '2'; needed is {WHOLE}"),
        (lambda _: api.replicate(SCENARIO, "3"), f"`count` is '3'; needed is {WHOLE}"),
        (lambda _: api.replicate(SCENARIO, True), f"`count` is True; needed is {WHOLE}"),
        (
            lambda _: api.replicate(SCENARIO, 3, first_seed=1.5),
            f"`first_seed` is 1.5; needed is {WHOLE}",
        ),
        (lambda results: results.table(None), "`table` is None; needed is a name; known: cwnd"),
        (lambda results: results.columns("cwnd", ["nope"]), "unknown column 'nope'; known: cwnd"),
        (lambda results: results.columns("cwnd", "time"), "did you mean 'time_s'?"),
        (
            lambda results: results.columns("cwnd", [1]),
            "`columns` is of the class `list`; needed is a name such as 'time_s', or a list of",
        ),
        (lambda results: next(results.pieces("cwnd", ["nope"])), "unknown column 'nope'"),
        (
            lambda _: theory(Scenario),
            "`model` is the class `Scenario`; needed is the `model` of a scenario or of results",
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
