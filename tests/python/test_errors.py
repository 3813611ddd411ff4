"""How errors read."""

import pytest
import small

from ackclock import Scenario
from ackclock.errors import InputError, Problem, ScenarioError, nearest, render, unknown


def test_a_problem_reads_from_the_place_to_the_hint():
    problem = Problem(
        "not a rate",
        path="links.L1.rate",
        value="10 Mbsp",
        allowed="a number and a unit",
        hint="a rate is '10 Mbps'",
        file="x.yaml",
        line=5,
        column=20,
    )
    assert problem.render().splitlines() == [
        "x.yaml:5:20: links.L1.rate: not a rate",
        "    value:   10 Mbsp",
        "    allowed: a number and a unit",
        "    hint:    a rate is '10 Mbps'",
    ]
    assert "\x1b[" in problem.render(colour=True)


def test_values_are_shown_on_one_short_line_without_control_characters():
    shown = Problem("m", value="a\nb\x1b[31m" + "x" * 500).render()
    assert len(shown.splitlines()) == 2
    assert "\x1b" not in shown
    assert len(shown) < 120
    assert Problem("m", value={"a": [1]}).render().endswith('{"a": [1]}')
    assert Problem("m", value="").render().endswith('""')


def test_a_scenario_error_holds_and_shows_all_problems():
    error = ScenarioError([Problem("first"), Problem("second")])
    assert [problem.message for problem in error.problems] == ["first", "second"]
    assert str(error) == render(error.problems) == "first\nsecond"
    assert error.exit_code == 2
    assert isinstance(error, InputError)


def test_nearest_names():
    known = ["caltech/test-case-0-fast", "caltech/test-case-0-reno", "other"]
    assert nearest("caltech/test-case-0-fats", known)[0] == "caltech/test-case-0-fast"
    assert nearest("test-case-0", known)[:2] == known[:2]
    assert nearest("zzz", known) == []
    assert nearest("OTHER", known) == ["other"]


def test_unknown_names_show_what_is_known():
    assert unknown("flow", "F", ["F1"]) == "unknown flow 'F'; did you mean 'F1'?"
    assert unknown("flow", "x", ["B", "A"]) == "unknown flow 'x'; known: A, B"
    assert unknown("flow", "x", []) == "unknown flow 'x'; there are none"


@pytest.mark.parametrize(
    ("path", "value", "hint"),
    [
        ("links.L1.loss", {"kind": "bernoulli", "rate": 0.01}, "did you mean `p`?"),
        ("links.L1.loss", {"kind": "bernoulli", "p": 0, "rate": 1}, "did you mean `at`?"),
        ("links.L1.loss", {"kind": "bernoulli", "aplies_to": "all"}, "did you mean `applies_to`?"),
        ("hosts.0", "a b/ä(1)", "for example `a-b/ä-1`"),
        ("hosts.0", " ; ", None),
    ],
)
def test_hints_fit(path: str, value: object, hint: str | None):
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_dict(small.document()).set(path, value)
    hints = [one.hint for one in caught.value.problems if "missing" not in one.message]
    assert hints[0] == hint


@pytest.mark.parametrize("value", ["1" + "0" * 300 + " ms", "-1" + "0" * 300 + " ms", "1" * 300])
def test_long_numbers_are_cut(value: str):
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_dict(small.document()).set("links.L1.delay", value)
    assert len(caught.value.problems[0].message) < 120
