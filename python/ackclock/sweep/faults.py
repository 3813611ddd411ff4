"""What is wrong with combinations of a study, reported at the place in the file that causes it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from ackclock.document import Document, Path, apply
from ackclock.errors import Problem
from ackclock.sweep import axes
from ackclock.sweep.axes import Setting
from ackclock.sweep.model import Design

# More are not reported: nobody reads them.
_MOST = 50
_MOST_AXES = 6


@dataclass
class _Found:
    """A problem, what set the value, and the combinations that have it."""

    problem: Problem
    setting: Setting | None
    points: list[int]


def explain(
    study: Design,
    wrong: Sequence[tuple[int, dict[str, Any]]],
    problems: Sequence[tuple[int, Problem, Setting | None]],
) -> list[Problem]:
    """Return each problem once.

    Args:
        study: The study.
        wrong: Combinations with what the simulator says about their documents.
        problems: Combinations with what kept them from becoming documents, and the setting at
            fault where one is known.
    """
    found: dict[tuple[Any, ...], _Found] = {}

    def add(point: int, problem: Problem, setting: Setting | None) -> None:
        key = (problem.file, problem.line, problem.column, problem.path, problem.message)
        if key in found:
            if found[key].points[-1] != point:
                found[key].points.append(point)
        elif len(found) < _MOST:
            found[key] = _Found(problem, setting, [point])

    trace = lru_cache(1)(partial(_Trace, study))
    for point, problem, setting in problems:
        cause = setting or trace(point).setting(problem.path)
        add(point, _placed(study, problem, cause) if cause else problem, cause)
    for point, entry in wrong:
        add(point, *trace(point).problem(entry))
    reported = [_with_combination(study, one) for one in found.values()]
    return sorted(reported, key=lambda p: (p.file or "", p.line or 0, p.column or 0))


class _Trace:
    """A combination's document with what set each of its values."""

    def __init__(self, study: Design, point: int) -> None:
        self.study = study
        self.data = json.loads(study.base_text)
        self.set: list[tuple[Path, Setting]] = []
        for setting in study.settings_of(point):
            places = apply(self.data, setting.path, setting.value)
            self.set += [(place, setting) for place in places]

    def setting(self, shown: str) -> Setting | None:
        """Return what set the value at a path as messages show it, if it is not the base's."""
        describe = Document(self.data).describe
        for place, setting in reversed(self.set):
            if f"{shown}.".startswith(f"{describe(place)}."):
                return setting
        return None

    def problem(self, entry: dict[str, Any]) -> tuple[Problem, Setting | None]:
        path: Path = tuple(entry["path"])
        details = {key: entry[key] for key in ("value", "allowed", "hint")}
        for place, setting in reversed(self.set):
            inside = path[: len(place)] == place
            created = place[: len(path)] == path and not self._is_in_base(path)
            if inside or created:
                shown = Document(self.data).describe(path)
                problem = Problem(entry["message"], shown, **details)
                return _placed(self.study, problem, setting), setting
        if self.study.inline and self.study.file is not None:
            inner = self.study.file.problem(("scenario", *path), entry["message"], **details)
            return inner, None
        return self.study.base.problem(path, entry["message"], **details), None

    def _is_in_base(self, path: Path) -> bool:
        inner: Any = self.study.base.data
        for step in path:
            try:
                inner = inner[step]
            except (KeyError, IndexError, TypeError):
                return False
        return True


def _placed(study: Design, problem: Problem, setting: Setting) -> Problem:
    """Return a problem at the place where its value is set."""
    if setting.option is not None:
        return problem._replace(file=setting.option)
    if study.file is None or setting.position is None:
        return problem._replace(file=None)
    line, column = setting.position
    return problem._replace(file=study.file.file, line=line, column=column)


def _with_combination(study: Design, found: _Found) -> Problem:
    """Name the combination if the value that is reported is wrong in some combinations only."""
    alone = study.points
    point = axes.point(study.dimensions, found.points[0])
    own = {axis.name for axis, choice in point if found.setting in choice.settings}
    for dimension in study.dimensions:
        if own & {axis.name for axis in dimension.axes}:
            alone //= len(dimension)
    if len(found.points) >= alone or not point:
        return found.problem
    others = [f"{axis.name}: {choice.label}" for axis, choice in point if axis.name not in own]
    shown = ", ".join(others[:_MOST_AXES]) + (", ..." if len(others) > _MOST_AXES else "")
    return found.problem._replace(message=f"{found.problem.message} (with {shown})")
