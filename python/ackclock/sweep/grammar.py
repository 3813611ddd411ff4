"""The grammar of studies: from a parsed document to axes, reporting every error.

    study: NAME              how it is called; a file's own name by default
    title: TEXT
    base: FILE or NAME       the scenario that is varied; or `scenario:` with one inline
    set: {PATH: VALUE}       the same in all runs
    grid: {AXIS}             every combination
    zip: {AXIS} or a list    axes that advance together, one group or several
    replications: N          each point with N seeds

An axis is `PATH: [VALUES]`, `NAME: {path: PATH, values: [VALUES]}` (or `paths:` with a list), or
`NAME: {LABEL: {PATH: VALUE, ...}, ...}`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ackclock.document import Node, Position, parse_value, plain
from ackclock.errors import Problem, nearest
from ackclock.sweep.axes import Axis, Choice, Dimension, Label, Setting, label_of

KEYS = {
    "study": "Name of the study: letters, digits, `-`, `_`, `.`, with `/` between topics",
    "title": "A line about it",
    "base": "Scenario that is varied: a file next to this one, or a name of the package",
    "scenario": "The same, written here instead of `base`",
    "set": "Values that are the same in all runs, by path",
    "grid": "Axes of which every combination is run",
    "zip": "Axes that advance together; a list of such groups is combined like axes of a grid",
    "replications": "Number of seeds for each combination: the scenario's own and those after it",
}
"""All keys of a study with their meanings."""

MOST_RUNS = 1_000_000
MOST_REPLICATIONS = 1_000_000


@dataclass
class Grammar:
    """Reads the parts of a study; `problems` holds all that is wrong.

    Attributes:
        file: name of the file, for messages.
        reserved: names of columns that an axis cannot have.
    """

    file: str | None
    reserved: frozenset[str]

    def __post_init__(self) -> None:
        self.problems: list[Problem] = []
        self._names: dict[str, str] = {}

    def problem(
        self,
        path: str,
        message: str,
        place: Position | None,
        *,
        value: Any = None,
        allowed: str | None = None,
        hint: str | None = None,
    ) -> None:
        """Note that something is wrong at a place of the file."""
        line, column = place if place and self.file else (None, None)
        self.problems.append(Problem(message, path, value, allowed, hint, self.file, line, column))

    def keys(self, root: Node) -> None:
        """Check the keys at the top."""
        for text, place, _ in root.entries():
            if text not in KEYS:
                close = nearest(text, KEYS, 1)
                hint = f"did you mean '{close[0]}'?" if close else None
                if text in ("hosts", "links", "flows", "topology"):
                    hint = "a scenario is written under 'scenario', or in a file that 'base' names"
                allowed = ", ".join(KEYS)
                self.problem(text, f"unknown key '{text}'", place, allowed=allowed, hint=hint)

    def text(self, root: Node, key: str) -> str | None:
        """Return a text, None if there is none."""
        node = root.value.get(key)
        if node is None:
            return None
        if not isinstance(node.value, str):
            self.problem(key, "a text is needed", node.position, value=_shown(node))
            return None
        return node.value

    def replications(self, root: Node) -> int:
        """Return the number of replications, 1 by default."""
        node = root.value.get("replications")
        if node is None:
            return 1
        number = node.value
        if isinstance(number, bool) or not isinstance(number, int):
            message = "a whole number is needed"
        elif not 1 <= number <= MOST_REPLICATIONS:
            message = "not a number of replications"
        else:
            return number
        allowed = f"1 to {MOST_REPLICATIONS}"
        self.problem("replications", message, node.position, value=_shown(node), allowed=allowed)
        return 1

    def settings(self, node: Node | None, path: str) -> tuple[Setting, ...]:
        """Return a mapping of paths to values."""
        if node is None:
            return ()
        if not isinstance(node.value, dict):
            hint = "such as {stop.at_latest: 10 s}"
            message = "a mapping of paths to values is needed"
            self.problem(path, message, node.position, value=_shown(node), hint=hint)
            return ()
        return tuple(
            Setting(text, plain(inner), inner.position) for text, _, inner in node.entries()
        )

    def grid(self, node: Node | None) -> tuple[Dimension, ...]:
        """Return the axes of a grid, each a dimension of its own."""
        return tuple(Dimension((axis,)) for axis in self._axes(node, "grid"))

    def zips(self, node: Node | None) -> tuple[Dimension, ...]:
        """Return the groups of axes that advance together."""
        if node is None:
            return ()
        groups = node.value if isinstance(node.value, list) else [node]
        found = []
        for number, group in enumerate(groups):
            path = f"zip.{number}" if isinstance(node.value, list) else "zip"
            axes = tuple(self._axes(group, path))
            if not axes:
                continue
            lengths = {axis.name: len(axis.choices) for axis in axes}
            if len(set(lengths.values())) > 1:
                counts = ", ".join(f"{name}: {length}" for name, length in lengths.items())
                message = f"axes that advance together have equally many values, not {counts}"
                self.problem(path, message, group.position, hint="use 'grid' for combinations")
                continue
            found.append(Dimension(axes))
        return tuple(found)

    def _axes(self, node: Node | None, path: str) -> Iterator[Axis]:
        if node is None:
            return
        if not isinstance(node.value, dict) or not node.value:
            hint = "such as {links.L1.rate: [5 Mbps, 10 Mbps]}"
            message = "a mapping of axes is needed"
            self.problem(path, message, node.position, value=_shown(node), hint=hint)
            return
        for name, place, inner in node.entries():
            here = f"{path}.{name}"
            if self._is_free(name, here, place):
                choices = self._choices(name, inner, here)
                if choices and self._differ(choices, here, inner.position):
                    yield Axis(name, tuple(choices))

    def _is_free(self, name: str, path: str, place: Position) -> bool:
        if name in self.reserved:
            hint = "give it another name: NAME: {path: " + name + ", values: [...]}"
            if name == "seed":
                hint = "'replications: N' runs each combination with N seeds"
            message = f"'{name}' is a column of every table of results"
            self.problem(path, message, place, hint=hint)
            return False
        if name in self._names:
            message = f"a second axis '{name}'"
            hint = f"the first is {self._names[name]}"
            self.problem(path, message, place, hint=hint)
            return False
        self._names[name] = path
        return True

    def _differ(self, choices: list[Choice], path: str, place: Position) -> bool:
        seen: set[tuple[str, Label]] = set()
        for choice in choices:
            label = (type(choice.label).__name__, choice.label)
            if label in seen:
                message = f"the value {choice.label} occurs here twice"
                self.problem(path, message, place, hint="for more seeds: 'replications: N'")
                return False
            seen.add(label)
        return True

    def _choices(self, name: str, node: Node, path: str) -> list[Choice]:
        """Return the choices of an axis in any of its three forms; none if it is faulty."""
        if isinstance(node.value, list):
            return self._values(node, [name], path)
        if not isinstance(node.value, dict):
            message = "an axis is a list of values, or a mapping of labels to settings"
            hint = f"a value for all runs is written under 'set': {{{name}: {_shown(node)}}}"
            self.problem(path, message, node.position, value=_shown(node), hint=hint)
            return []
        if "values" in node.value:
            return self._with_paths(node, path)
        if not node.value:
            self.problem(path, "an axis without choices", node.position)
        return [
            Choice(_label(text), self.settings(inner, f"{path}.{text}"))
            for text, _, inner in node.entries()
        ]

    def _with_paths(self, node: Node, path: str) -> list[Choice]:
        for text, place, _ in node.entries():
            if text not in ("path", "paths", "values"):
                message = f"unknown key '{text}'"
                self.problem(f"{path}.{text}", message, place, allowed="path, paths, values")
        named = node.value.get("paths") or node.value.get("path")
        if named is None:
            message = "'path' is missing: what the values are set in"
            self.problem(path, message, node.position, hint="such as 'flows.*.tcp.cc'")
            return []
        paths = plain(named)
        paths = paths if isinstance(paths, list) else [paths]
        if not paths or not all(isinstance(p, str) and p for p in paths):
            message = "a path, or a list of paths, is needed"
            self.problem(f"{path}.path", message, named.position, value=_shown(named))
            return []
        return self._values(node.value["values"], paths, f"{path}.values")

    def _values(self, node: Node, paths: list[str], path: str) -> list[Choice]:
        if not isinstance(node.value, list) or not node.value:
            message = "a list of at least one value is needed"
            self.problem(path, message, node.position, value=_shown(node))
            return []
        choices = []
        for inner in node.value:
            value = plain(inner)
            if value is None:
                self.problem(path, "a list with an empty place", inner.position)
                return []
            settings = tuple(Setting(p, value, inner.position) for p in paths)
            choices.append(Choice(label_of(value), settings))
        return choices


def tree_of(data: Any) -> Node:
    """Return plain data as nodes without places, so that one reader serves files and Python."""
    if isinstance(data, dict):
        node = Node({}, (0, 0))
        for key, inner in data.items():
            node.put(key, (0, 0), tree_of(inner))
        return node
    if isinstance(data, list | tuple):
        return Node([tree_of(inner) for inner in data], (0, 0))
    return Node(data, (0, 0))


def _label(text: str) -> Label:
    """Return a label: `10` is a number, so that tables are sorted and plots have an axis."""
    try:
        value = parse_value(text)
    except ValueError:
        return text
    return value if isinstance(value, str | int | float | bool) else text


def _shown(node: Node) -> Any:
    value = plain(node)
    return value if not isinstance(value, dict | list) or value else None
