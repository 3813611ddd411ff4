"""What a lab is made of: questions, how each is measured, and what is said to wrong answers.

Reference values are never written down: they are measured in runs when an answer is marked. What is
described is checked when it is built: a mistake of the teacher must not cost students points.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock.errors import (
    InputError,
    function_of,
    mapping_of,
    one_of,
    real_of,
    refuse,
    several,
)
from ackclock.labs.units import Unit, UnitError

if TYPE_CHECKING:
    from ackclock.labs.runs import Runs
    from ackclock.results import Results

CLOSE = 3.0
"""Within this many tolerances an answer has half of the points."""


_SHARE = "a share from 0 to 1, such as 0.03 for 3 %"


def _between(name: str, given: Any, least: float, most: float, wanted: str) -> None:
    """Check that an argument is a number in this range."""
    number = isinstance(given, Real) and not isinstance(given, bool)
    if not number or not least <= float(given) <= most:
        refuse(name, given, wanted)


def _points(name: str, given: Any) -> None:
    _between(name, given, 0, 1e6, "a number, 0 or above")


def _texts(**given: Any) -> None:
    """Check that arguments are texts."""
    for name, value in given.items():
        if not isinstance(value, str):
            refuse(name, value, "text")


def _name(name: str, given: Any) -> None:
    if not isinstance(given, str) or not given.isidentifier():
        refuse(name, given, "letters, digits and _, with a letter first")


def _function(name: str, given: Any) -> None:
    if given is None:
        refuse(name, given, "a function")
    function_of(name, given)


def _all_of(name: str, given: Any, kind: type, wanted: str) -> list[Any]:
    """Return what a list holds, which must be of one class."""
    found = several(given) if not isinstance(given, Mapping) else None
    if found is None or not all(isinstance(one, kind) for one in found):
        refuse(name, given, f"a list of {wanted}")
    return found


@dataclass(frozen=True)
class Mistake:
    """A wrong answer that is often given, and what is said to it.

    Attributes:
        value: What gives this answer: a function of the runs; of a formula, one of its arguments.
        feedback: What went wrong and where to look, without the right value.
        credit: The share of the points that it earns.
    """

    value: Callable[..., float]
    feedback: str
    credit: float = 0.0

    def __post_init__(self) -> None:
        _function("value", self.value)
        _texts(feedback=self.feedback)
        _between("credit", self.credit, 0, 1, _SHARE)


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question of a lab.

    Attributes:
        name: The key in `answers.yaml`, or the name of a function.
        text: The question, in Markdown.
        points: The most that it earns.
        why: What the teacher's version says about the answer.
        public: Whether `ackclock lab check` says if the answer is right.
    """

    name: str
    text: str
    points: float = 2.0
    why: str = ""
    public: bool = False

    def __post_init__(self) -> None:
        _name("name", self.name)
        _texts(text=self.text, why=self.why)
        _points("points", self.points)


@dataclass(frozen=True, kw_only=True)
class Number(Question):
    """A figure to be measured in a run.

    Attributes:
        unit: Unit of the answer; any other of its kind will do, too.
        value: Measures it, in seconds, bit/s, bytes, packets or 1.
        tolerance: By how much an answer may differ, relative to the value.
        absolute: The same in seconds, bit/s, ...; the larger of both counts.
        because: Why this much.
        mistakes: Wrong answers that are often given.
        least, most: An answer outside cannot be; in the same unit as the value.
    """

    unit: str
    value: Callable[[Runs], float]
    tolerance: float = 0.02
    absolute: float = 0.0
    because: str = "rounding of what was read off"
    mistakes: Sequence[Mistake] = ()
    least: float = 0.0
    most: float = float("inf")

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            Unit.of(self.unit if isinstance(self.unit, str) else "?")
        except UnitError:
            refuse("unit", self.unit, "a unit such as ms, Mbps, KiB, packets or %; '' for none")
        _function("value", self.value)
        _between("tolerance", self.tolerance, 0, 1, _SHARE)
        _between("absolute", self.absolute, 0, math.inf, "a number, 0 or above")
        _texts(because=self.because)
        _all_of("mistakes", self.mistakes, Mistake, "`Mistake(...)`")
        if not real_of("least", self.least) <= real_of("most", self.most):
            refuse("least", self.least, f"a number that is not above `most`, {self.most:g}")


@dataclass(frozen=True, kw_only=True)
class Choice(Question):
    """A choice among words.

    Attributes:
        options: What each word means.
        value: The right word, from runs.
        mistakes: What is said to each of the others.
    """

    options: Mapping[str, str]
    value: Callable[[Runs], str]
    mistakes: Mapping[str, str]

    def __post_init__(self) -> None:
        super().__post_init__()
        for word in mapping_of("options", self.options, "a mapping of words to texts", str):
            if word != word.strip().lower() or not word:
                refuse("options", word, "words in small letters, as answers are compared")
        if not self.options:
            refuse("options", self.options, "a mapping of words to texts")
        _function("value", self.value)
        for word in mapping_of("mistakes", self.mistakes, "a mapping of words to texts", str):
            one_of("option in `mistakes`", word, self.options)


@dataclass(frozen=True, kw_only=True)
class Formula(Question):
    """A function that predicts a figure; it is tried on networks that students do not see.

    Attributes:
        arguments: Its arguments and what they mean.
        returns: What it returns, with its unit.
        scenario: Scenario of the lab whose values vary.
        facts: The arguments, from a run.
        value: What a run of it gives; a number, or a word of `options`.
        options: Words that it may return; of a number none.
        record: Tables that the measure needs.
        tolerance, because, mistakes: As of `Number`; the functions of mistakes take the arguments.
    """

    arguments: Mapping[str, str]
    returns: str
    scenario: str
    facts: Callable[[Results], dict[str, Any]]
    value: Callable[[Results], float | str]
    options: Sequence[str] = ()
    record: Sequence[str] = ()
    tolerance: float = 0.05
    because: str = ""
    mistakes: Sequence[Mistake] = ()
    points: float = 4.0

    def __post_init__(self) -> None:
        super().__post_init__()
        arguments = mapping_of("arguments", self.arguments, "a mapping of names to texts", str)
        for name in arguments:
            _name("arguments", name)
        _texts(returns=self.returns, scenario=self.scenario, because=self.because)
        _function("facts", self.facts)
        _function("value", self.value)
        _all_of("options", self.options, str, "words")
        _all_of("record", self.record, str, "names of tables")
        _between("tolerance", self.tolerance, 0, 1, _SHARE)
        _all_of("mistakes", self.mistakes, Mistake, "`Mistake(...)`")


@dataclass(frozen=True, kw_only=True)
class Criterion:
    """One thing that a controller is judged by.

    Attributes:
        name: A word or two.
        text: What is measured.
        scenario: Scenario of the lab; the controller takes the flows whose names begin with `mine`.
        figure: Measures it in a run.
        none, full: The figure that earns nothing, and the one that earns everything.
        points: The most that it earns.
        advice: What is said if it does not earn everything.
        against: A congestion control; the figure is divided by that of a run with it.
        needs: What is said where the figure is NaN: it earns nothing in such a run.
    """

    name: str
    text: str
    scenario: str
    figure: Callable[[Results], float]
    none: float
    full: float
    points: float
    advice: str
    against: str | None = None
    needs: str = ""

    def __post_init__(self) -> None:
        texts = {"name": self.name, "text": self.text, "scenario": self.scenario}
        _texts(**texts, advice=self.advice, needs=self.needs)
        _function("figure", self.figure)
        _points("points", self.points)
        if real_of("none", self.none) == real_of("full", self.full):
            refuse("full", self.full, "another figure than `none`")

    def share(self, figure: float) -> float:
        """Return the share of the points that a figure earns."""
        return min(1.0, max(0.0, (figure - self.none) / (self.full - self.none)))


@dataclass(frozen=True, kw_only=True)
class Controller(Question):
    """A congestion control in Python, tried on networks that students do not see.

    Attributes:
        file: The file that students hand in.
        criteria: What it is judged by; their points are those of the question.
        board: Name and measure of what a leaderboard shows: a function of the figures by criterion.
    """

    file: str
    criteria: Sequence[Criterion]
    board: tuple[str, Callable[[Mapping[str, float]], float]] | None = None

    def __post_init__(self) -> None:
        criteria = _all_of("criteria", self.criteria, Criterion, "`Criterion(...)`")
        object.__setattr__(self, "points", sum(one.points for one in criteria))
        super().__post_init__()
        _texts(file=self.file)


@dataclass(frozen=True)
class Lab:
    """A lab: what `lab.py` in its folder describes.

    Attributes:
        title: One line.
        about: What it teaches, a sentence or two.
        minutes: Time that a student needs.
        scenarios: By the name that students see, a file of the folder or a scenario of the package.
        questions: The questions, in the order of the page.
        source: Source of the experiment.
        folder: Where it is; set when it is loaded.
    """

    title: str
    about: str
    minutes: int
    scenarios: Mapping[str, str]
    questions: Sequence[Question]
    source: str
    folder: Path = field(default=Path())

    def __post_init__(self) -> None:
        _texts(title=self.title, about=self.about, source=self.source)
        _between("minutes", self.minutes, 0, 1e6, "a number, 0 or above")
        mapping_of("scenarios", self.scenarios, "a mapping of names to scenarios", str)
        questions = _all_of("questions", self.questions, Question, "questions")
        names = [one.name for one in questions]
        if twice := [name for name in names if names.count(name) > 1]:
            raise InputError(f"two questions have the name '{twice[0]}'")
        for one in questions:
            criteria = one.criteria if isinstance(one, Controller) else ()
            used = [one.scenario] if isinstance(one, Formula) else [c.scenario for c in criteria]
            for name in used:
                one_of("scenario of this lab", name, self.scenarios)

    @property
    def name(self) -> str:
        """Name of the folder."""
        return self.folder.name

    @property
    def points(self) -> float:
        """The most that a submission can earn."""
        return sum(question.points for question in self.questions)

    @property
    def programs(self) -> list[str]:
        """Files of programs that students hand in."""
        formulas = any(isinstance(one, Formula) for one in self.questions)
        own = [one.file for one in self.questions if isinstance(one, Controller)]
        return [FORMULAS] * formulas + own


ANSWERS = "answers.yaml"
FORMULAS = "formulas.py"
HIDDEN = "hidden.yaml"
