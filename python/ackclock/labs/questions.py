"""What a lab is made of: questions, how each is measured, and what is said to wrong answers.

Reference values are never written down: they are measured in runs when an answer is marked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ackclock.labs.runs import Runs
    from ackclock.results import Results

CLOSE = 3.0
"""Within this many tolerances an answer has half of the points."""


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
        object.__setattr__(self, "points", sum(one.points for one in self.criteria))


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
