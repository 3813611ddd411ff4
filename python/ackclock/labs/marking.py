"""Marks answers: points and feedback, by reference values that come from runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any

from ackclock.errors import InputError, ScenarioError
from ackclock.labs import personal, programs
from ackclock.labs.faults import PROGRAM, faults_of
from ackclock.labs.hidden import Hidden
from ackclock.labs.programs import Case, Limits
from ackclock.labs.questions import (
    CLOSE,
    FORMULAS,
    Choice,
    Controller,
    Criterion,
    Formula,
    Lab,
    Mistake,
    Number,
    Question,
)
from ackclock.labs.runs import Changes, Runs, simulate
from ackclock.labs.units import Unit, UnitError

RIGHT = "Right."

_READ = 0.1
"""What a wrong value may be read off by, of itself, where the right one may be so."""


@dataclass(frozen=True)
class Mark:
    """What an answer earns, and what is said to it.

    Attributes:
        question: Name of the question.
        points, most: What it earns, and could.
        feedback: Sentences for the student.
        board: Name and value for a leaderboard.
    """

    question: str
    points: float
    most: float
    feedback: str
    board: tuple[str, float] | None = None

    @property
    def full(self) -> bool:
        """Whether nothing is missing."""
        return self.points >= self.most


class Marker:
    """Marks the answers to the questions of a lab; runs are simulated once for all submissions."""

    def __init__(
        self,
        lab: Lab,
        hidden: Hidden,
        limits: Limits,
        student: str | None = None,
        secret: bytes | None = None,
    ) -> None:
        self.lab = lab
        self.limits = limits
        self.student = student
        self.secret = secret
        self.runs = Runs(lab.folder, lab.scenarios, personal.networks(lab, student, secret))
        self.hidden = hidden
        self._references: dict[str, Any] = {}

    def of_student(self, student: str | None) -> Marker:
        """Return what marks figures of the networks of a student; this one without a name."""
        if student is None:
            return self
        return Marker(self.lab, self.hidden, self.limits, student, self.secret)

    def mark(self, question: Question, answer: Any, folder: Path, *, final: bool = True) -> Mark:
        """Mark one answer.

        Args:
            question: The question.
            answer: The answer to it; None where there is none.
            folder: Holds the programs of the submission.
            final: Whether the work is handed in. Before that, nothing is said that helps to find
                out the answers to other questions.
        """
        if isinstance(question, Formula):
            return self._formula(question, folder, self.hidden.networks(question.name))
        if isinstance(question, Controller):
            return self._controller(question, folder, self.hidden.networks(question.name))
        share, feedback = 0.0, "There is no answer."
        if answer is not None and isinstance(question, Number):
            share, feedback = self.number(question, answer)
            if share == 0.0 and final:
                feedback = self._of_another(question, answer) or feedback
        elif answer is not None and isinstance(question, Choice):
            share, feedback = self.choice(question, answer)
        return Mark(question.name, _points(share, question.points), question.points, feedback)

    def try_program(self, question: Question, folder: Path) -> Mark:
        """Mark a program on the network that students know."""
        known: list[dict[str, Any]] = [{}]
        if isinstance(question, Formula):
            return self._formula(question, folder, known)
        assert isinstance(question, Controller)
        return self._controller(question, folder, known)

    def number(self, question: Number, answer: Any) -> tuple[float, str]:
        """Return the share of the points of a figure, and the feedback."""
        try:
            given = Unit.of(question.unit).read(answer)
        except UnitError as error:
            return 0.0, ended(f"This cannot be read: {error}")
        right = self.reference(question)
        share, feedback = self._judge(question, given, right, self.wrong)
        if share == 0.0 and not question.least <= given <= question.most:
            return 0.0, f"{Unit.of(question.unit).show(given)} is not possible. {feedback}"
        return share, feedback

    def _of_another(self, question: Number, answer: Any) -> str | None:
        """Return what to say to the right answer to another question, unless it is known."""
        try:
            given = Unit.of(question.unit).read(answer)
        except UnitError:
            return None
        if any(math.isclose(given, self.wrong(one), rel_tol=0.01) for one in question.mistakes):
            return None
        for other in self.lab.questions:
            if not isinstance(other, Number) or other is question:
                continue
            alike = Unit.of(other.unit).kind == Unit.of(question.unit).kind
            if alike and math.isclose(given, self.reference(other), rel_tol=0.01):
                return f"That is the answer to another question, {other.name}."
        return None

    def choice(self, question: Choice, answer: Any) -> tuple[float, str]:
        """Return the share of the points of a word, and the feedback."""
        word = as_word(answer)
        if word not in question.options:
            return 0.0, not_a_word(question, answer)
        if word == self.reference(question):
            return 1.0, RIGHT
        return 0.0, question.mistakes.get(word, "No; look again.")

    def reference(self, question: Number | Choice) -> Any:
        """Return the right answer, measured in runs."""
        if question.name not in self._references:
            right = self._own(question.value, self.runs)
            words = question.options if isinstance(question, Choice) else ()
            self._references[question.name] = _usable(question, right, tuple(words))
        return self._references[question.name]

    def wrong(self, mistake: Mistake) -> float:
        """Return the figure that a mistake leads to, measured in runs."""
        return self._own(mistake.value, self.runs)

    def _own(self, function: Callable[..., Any], *arguments: Any, **facts: Any) -> Any:
        """Call a function of the lab: what it raises is no fault of the student's."""
        with faults_of(self.lab.folder):
            return function(*arguments, **facts)

    def _judge(
        self,
        question: Number | Formula,
        given: float,
        right: float,
        value: Callable[[Mistake], float],
    ) -> tuple[float, str]:
        allowed = question.tolerance * abs(right)
        if isinstance(question, Number):
            allowed = max(allowed, question.absolute)
        off = abs(given - right)
        if off <= allowed:
            return 1.0, RIGHT
        known = [(abs(given - value(one)), value(one), one) for one in question.mistakes]
        if known:
            distance, wrong, mistake = min(known, key=lambda one: one[0])
            # What is as near to the right value as to a wrong one may be either. Small wrong values
            # are not known by what the right one allows: everything small is as near to them.
            near = max(question.tolerance * abs(wrong), min(allowed / 2, _READ * abs(wrong)))
            if distance <= near and distance < off:
                return mistake.credit, mistake.feedback
        if off <= CLOSE * allowed:
            return 0.5, "Close, but not within the tolerance. Half of the points."
        return 0.0, _factor(given, right, question.tolerance) or _direction(given, right)

    def _formula(self, question: Formula, folder: Path, networks: Sequence[Changes]) -> Mark:
        cases = [self._network(question, changes) for changes in networks]
        job = {"kind": "formula", "file": FORMULAS, "function": question.name}
        found = programs.run(folder, job, [facts for facts, _ in cases], self.limits)
        shares, said = [], []
        for (facts, right), case in zip(cases, found, strict=True):
            share, feedback = self._returned(question, case, facts, right)
            shares.append(share)
            if feedback != RIGHT:
                said.append(feedback)
        earned = _points(sum(shares) / len(shares), question.points)
        right = sum(share == 1.0 for share in shares)
        if right == len(shares):
            return Mark(question.name, earned, question.points, RIGHT)
        tried = len(shares) > 1 and not all(case.unloaded for case in found)
        which = f"Right on {right} of {len(shares)} networks. " if tried else ""
        # What is said most often first; a student can use two sentences, not ten.
        said = sorted(dict.fromkeys(said), key=lambda one: -said.count(one))[:2]
        return Mark(question.name, earned, question.points, which + " ".join(said))

    def _network(self, question: Formula, changes: Changes) -> tuple[dict[str, Any], float | str]:
        key = f"{question.name} {dict(changes)}"
        if key not in self._references:
            with self._in_network(question, changes):
                results = self.runs.of(question.scenario, changes, question.record)
            facts = self._own(question.facts, results)
            if not isinstance(facts, Mapping) or {*facts} != {*question.arguments}:
                wanted = ", ".join(question.arguments)
                raise InputError(f"{PROGRAM}: `facts` of '{question.name}' do not give {wanted}")
            for name, fact in facts.items():
                if not isinstance(fact, str | int | float | list):
                    given = f"`facts` of '{question.name}' give {fact!r} for {name}"
                    raise InputError(f"{PROGRAM}: {given}; needed is a number, text or list")
            right = self._own(question.value, results)
            self._references[key] = facts, _usable(question, right, tuple(question.options))
        return self._references[key]

    @contextmanager
    def _in_network(self, question: Question, changes: Changes) -> Iterator[None]:
        """Name the place of a network that is not the lab's own, if a scenario cannot be run in it.

        Raises:
            ScenarioError: it cannot, which is no fault of a student's program.
        """
        try:
            yield
        except ScenarioError as error:
            if not changes:
                raise
            raise self.hidden.placed(question.name, error) from None

    def _returned(
        self, question: Formula, case: Case, facts: Mapping[str, Any], right: float | str
    ) -> tuple[float, str]:
        if case.fault is not None:
            return 0.0, _sentence(case.fault)
        if case.value is None:
            return 0.0, f"{question.name}() returns None: it is not written yet."
        if isinstance(right, str):
            if case.value == right:
                return 1.0, RIGHT
            if case.value not in question.options:
                words = ", ".join(map(repr, question.options))
                return 0.0, f"It returns {case.value!r}, not one of {words}."
            shown = ", ".join(f"{name}={_short(value)}" for name, value in facts.items())
            return 0.0, f"It returns {case.value!r} for {shown}, and that is not so."
        if isinstance(case.value, str | bool):
            return 0.0, f"It returns {case.value!r}, not a number."
        return self._judge(question, case.value, right, lambda one: self._own(one.value, **facts))

    def _controller(self, question: Controller, folder: Path, networks: Sequence[Changes]) -> Mark:
        wanted = list(dict.fromkeys(one.scenario for one in question.criteria))
        cases = [
            {"scenario": scenario, "changes": dict(changes)}
            for scenario in wanted
            for changes in networks
        ]
        for case in cases:
            with self._in_network(question, case["changes"]):
                self.runs.scenario(case["scenario"], case["changes"])
        job = {
            "kind": "controller",
            "file": question.file,
            "lab": str(self.lab.folder),
            "question": question.name,
        }
        found = programs.run(folder, job, cases, self.limits)
        if any(case.fault and not case.unloaded for case in found):
            self._require_figures(question, networks[0])
        # The same fault comes at another time in each scenario: its first line says which it is.
        faults = list(
            {case.fault.partition("\n")[0]: case.fault for case in found if case.fault}.values()
        )
        points, said, figures = 0.0, [], {}
        for one in question.criteria:
            values = [
                self._relative(one, case, done.value)
                for case, done in zip(cases, found, strict=True)
                if case["scenario"] == one.scenario
            ]
            reached = [value for value in values if value is not None]
            earned = _points(sum(map(one.share, reached)) / len(values), one.points)
            points += earned
            mean = sum(reached) / len(reached) if reached else math.nan
            figures[one.name] = mean
            if reached:
                advice = "" if earned >= one.points else f" {one.advice}"
                said.append(f"{one.name}: {mean:.2f}, {earned:g} of {one.points:g}.{advice}")
            elif one.needs and not faults:
                said.append(f"{one.name}: 0 of {one.points:g}. {one.needs}")
        said = [_sentence(fault) for fault in faults[:2]] + said
        board = None
        if question.board is not None and not any(map(math.isnan, figures.values())):
            board = (question.board[0], question.board[1](figures))
        return Mark(question.name, round(points, 2), question.points, "\n".join(said), board)

    def _require_figures(self, question: Controller, changes: Changes) -> None:
        """Check that it is no mistake of the lab if something has failed.

        Raises:
            InputError: a figure cannot be measured with Reno in place of the student's program.
        """
        for one in question.criteria:
            key = f"{question.name} {one.name} can be measured"
            if key not in self._references:
                # A family of senders without Reno shows nothing.
                with suppress(ScenarioError):
                    self._references[key] = self._figure_of(one, changes, "reno")

    def _relative(self, one: Criterion, case: Mapping[str, Any], value: Any) -> float | None:
        figure = value.get(one.name) if isinstance(value, dict) else None
        if not isinstance(figure, int | float) or not math.isfinite(figure):
            return None
        if one.against is None:
            return float(figure)
        key = f"{one.name} {one.against} {case}"
        if key not in self._references:
            self._references[key] = self._figure_of(one, case["changes"], one.against)
        return float(figure) / self._references[key]

    def _figure_of(self, one: Criterion, changes: Changes, cc: str) -> float:
        """Return a figure of a run with a congestion control of ours in place of the student's."""
        scenario = self.runs.scenario(one.scenario, dict(changes))
        for flow in scenario.flows:
            if flow.startswith("mine"):
                scenario = scenario.set(f"flows.{flow}.tcp.cc", cc)
        return self._own(one.figure, simulate(scenario))


def _usable(question: Question, right: Any, words: tuple[str, ...]) -> Any:
    """Return a right answer, if a student can give it.

    Raises:
        InputError: it is none of these words; without any, not a finite number.
    """
    if words:
        usable, wanted = right in words, f"one of {', '.join(words)}"
    else:
        number = isinstance(right, Real) and not isinstance(right, bool)
        usable, wanted = number and math.isfinite(right), "a finite number"
    if not usable:
        raise InputError(f"{PROGRAM}: `value` of '{question.name}' gives {right!r}, not {wanted}")
    return right


def as_word(answer: Any) -> str:
    """Return one of several words as a question lists it."""
    # YAML reads `yes` and `no` as words here, but not everywhere.
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    return str(answer).strip().lower()


def not_a_word(question: Choice, answer: Any) -> str:
    """Return what to say to an answer that is none of the words to choose from."""
    words = ", ".join(question.options)
    if isinstance(answer, list | dict):
        return f"Write one word, without brackets: {words}."
    return f"'{answer}' is not one of {words}."


def _points(share: float, most: float) -> float:
    return round(share * most, 2)


def _factor(given: float, right: float, tolerance: float) -> str | None:
    """Return what an answer that is off by a factor is probably about."""
    if given == 0 or right == 0:
        return None
    for factor, feedback in _FACTORS:
        if abs(given / right / factor - 1) <= max(tolerance, 0.01):
            return feedback
    return None


_BITS = "Off by a factor of 8: a byte has 8 bits. Check where the units change."
_PREFIX = "Off by a factor of {}: check the prefix of the unit (m, k, M)."
_FACTORS = (
    (8.0, _BITS),
    (0.125, _BITS),
    (1e3, _PREFIX.format(1000)),
    (1e-3, _PREFIX.format(1000)),
    (1e6, _PREFIX.format("a million")),
    (1e-6, _PREFIX.format("a million")),
    (100.0, "Off by a factor of 100: is it a share or a percentage?"),
    (0.01, "Off by a factor of 100: is it a share or a percentage?"),
    (-1.0, "The size is right, the sign is not."),
)


def _direction(given: float, right: float) -> str:
    return "Too large." if given > right else "Too small."


def _sentence(fault: str) -> str:
    name = fault.split(" ", 1)[0]
    first = fault[0] if ".py" in name else fault[0].upper()
    return ended(first + fault[1:])


def ended(text: str) -> str:
    """Return a sentence with a full stop, unless it ends already."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
