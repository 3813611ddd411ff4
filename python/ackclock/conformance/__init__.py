"""Does a congestion control do what every one should, and how well does it do? `ackclock check-cc`.

A suite of checks (`checks`) and a scorecard beside CUBIC, Reno and BBR (`scores`), from runs on a
handful of networks (`networks`), which take seconds.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock.conformance.checks import FAILED, Check, Tried, suite, trials
from ackclock.conformance.networks import ALL, SCORED
from ackclock.conformance.scores import Score, scorecard
from ackclock.conformance.trials import Figures, Trial, run_all
from ackclock.controllers.lint import Flaw, flaws
from ackclock.errors import InputError, Problem, ScenarioError, mapping_of, path_of
from ackclock.scenario import Scenario, plain

if TYPE_CHECKING:
    from ackclock.controllers import CongestionControl

REFERENCES = {"cubic": "CUBIC", "reno": "Reno", "bbr": "BBR"}
"""Algorithms of the engine that the scorecard sets beside."""

_SCORED = ("alone", *(network.name for network in SCORED))
_MINE = "mine"
"""Key of the algorithm that is checked among the trials, whatever it is called."""


@dataclass(frozen=True)
class Card:
    """What came out.

    Attributes:
        subject: Name of the algorithm: that of the class, or of the engine's algorithm.
        origin: File of the program; None for an algorithm of the engine.
        checks: The conformance suite.
        scores: The scorecard.
        flaws: What in the text of the program makes runs differ.
        windows: Window when alone, segments, at equal steps over 30 s; by algorithm.
    """

    subject: str
    origin: str | None
    checks: tuple[Check, ...]
    scores: tuple[Score, ...]
    flaws: tuple[Flaw, ...]
    windows: Mapping[str, list[float]]

    @property
    def conforms(self) -> bool:
        """Whether no check has failed."""
        return all(check.verdict != FAILED for check in self.checks)

    def to_json(self) -> dict[str, Any]:
        """Return the card as a plain mapping."""
        return {
            "subject": self.subject,
            "file": self.origin,
            "conforms": self.conforms,
            "checks": [asdict(check) for check in self.checks],
            "warnings": [
                {"place": f"{self.origin}:{flaw.line}", "message": flaw.message, "hint": flaw.hint}
                for flaw in self.flaws
            ],
            "scores": [asdict(score) for score in self.scores],
            "windows": dict(self.windows),
        }


def check_cc(
    subject: str | Path | Mapping[str, Any] | type[CongestionControl] | CongestionControl,
    class_: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    *,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Card:
    """Check a congestion control and score it beside CUBIC, Reno and BBR.

    Args:
        subject: A Python file, a class or object as `Scenario.set` takes it, the name of an
            algorithm of the engine, or a value of `cc`.
        class_: The class, where the program has several.
        parameters: Parameters of the class or of the algorithm.
        workers: Number of processes, two at least; default one for each core.
        progress: Called with how many runs are done, and of how many.

    Raises:
        InputError: there is no such program, class or parameter.
    """
    cc, name, origin = _resolved(subject, class_, mapping_of("parameters", parameters))
    source = cc["source"] if origin is not None else None
    found = tuple(flaws(ast.parse(source))) if source is not None else ()
    names = list(ALL)
    todo = trials(_MINE, source is not None, names)
    todo += [Trial(n, who) for who in REFERENCES for n in _SCORED]
    todo.append(Trial("reordering", "cubic"))
    algorithms = {_MINE: cc, **{who: who for who in REFERENCES}}
    count = max(2, workers or os.cpu_count() or 2)
    figures = run_all(todo, algorithms, count, progress)
    mine = _of(_MINE, figures)
    tried = Tried(
        mine,
        figures[Trial("alone", _MINE, process=1)],
        {t.network: f for t, f in figures.items() if t.guarded},
        _of("cubic", figures),
        {} if source is None else _places(source, cc["class"], cc["origin"]),
    )
    columns = {name: mine}
    # An algorithm needs no reference of its own name.
    columns |= {label: _of(who, figures) for who, label in REFERENCES.items() if who != name}
    windows = {who: f["alone"]["windows"] for who, f in columns.items() if "windows" in f["alone"]}
    return Card(name, origin, tuple(suite(tried)), tuple(scorecard(columns)), found, windows)


def _of(who: str, figures: dict[Trial, Figures]) -> dict[str, Figures]:
    """Return the figures of an algorithm by network."""
    return {
        trial.network: found
        for trial, found in figures.items()
        if trial.who == who and not trial.guarded and trial.process != 1
    }


def _resolved(
    subject: Any, class_: str | None, parameters: dict[str, Any]
) -> tuple[Any, str, str | None]:
    """Return the value of `cc` with its program in it, its name, and its file."""
    subject = plain(subject)  # of a class or an object
    if isinstance(subject, Mapping) and "kind" in subject:
        written: dict[str, Any] = dict(subject)
    else:
        wanted = "a file, a class, the name of an algorithm, or a value of `cc`"
        path = path_of("subject", subject, wanted)
        own = isinstance(subject, Path) or path.suffix == ".py" or path.is_file()
        written = {"kind": "python", "file": str(subject)} if own else {"kind": str(subject)}
    own = written["kind"] == "python"
    if class_ is not None:
        if not own:
            raise InputError(f"--class is for programs: '{written['kind']}' is of the engine")
        written["class"] = class_
    if parameters:
        given = {**written.get("parameters", {}), **parameters}
        written |= {"parameters": given} if own else parameters
    try:
        scenario = Scenario.from_dict(ALL["alone"].document(written))
    except ScenarioError as error:
        raise ScenarioError(_shown(error, written)) from None
    cc = scenario.document["flows"][0]["tcp"]["cc"]
    if own:
        return cc, cc["class"], cc["origin"]
    return cc, written["kind"], None


def _shown(error: ScenarioError, written: Mapping[str, Any]) -> list[Problem]:
    """Return the problems without the place in a scenario that the user has not written."""
    prefix = "flows.F1.tcp.cc"
    shown = []
    for one in error.problems:
        path = one.path.removeprefix(prefix).lstrip(".")
        hint = one.hint
        if path in ("", "kind") and written["kind"] != "python":
            hint = "a program ends in .py; 'ackclock list cc' shows the algorithms of the engine"
            if "marks" in one.message:
                hint = "most checks run without ECN"
        named = one.value if one.value is not None else written.get("file", written["kind"])
        shown.append(Problem(one.message, path, named, one.allowed, hint))
    return shown


def _places(source: str, class_: str, origin: str) -> dict[str, str]:
    """Return file and line of the class and of each of its methods."""
    tree = ast.parse(source)
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    found: dict[str, str] = {}
    todo = [class_]
    while todo:
        node = classes.get(todo.pop(0))
        if node is None:
            continue
        found.setdefault("class", f"{origin}:{node.lineno}")
        for one in node.body:
            if isinstance(one, ast.FunctionDef):
                found.setdefault(one.name, f"{origin}:{one.lineno}")
        todo += [base.id for base in node.bases if isinstance(base, ast.Name)]
    return found
