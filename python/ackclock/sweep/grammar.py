"""The grammar of studies: from a parsed document to axes, reporting every error.

    study: NAME              how it is called; a file's own name by default
    title: TEXT
    base: FILE or NAME       the scenario that is varied; or `scenario:` with one inline
    set: {PATH: VALUE}       the same in all runs
    grid: {AXIS}             every combination
    zip: {AXIS} or a list    axes that advance together, one group or several
    sample: {points, over}   points that are drawn; `over` has axes, which may be ranges
    replications: N          each point with N seeds

An axis is `PATH: [VALUES]`, `NAME: {path: PATH, values: [VALUES]}` (or `paths:` with a list), or
`NAME: {LABEL: {PATH: VALUE, ...}, ...}`. A range is `PATH: {from: VALUE, to: VALUE}`, with
`scale: log`, and with `path` or `paths` under a name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ackclock.document import Node, Position, parse_value, plain
from ackclock.errors import Problem, nearest
from ackclock.sweep import sample
from ackclock.sweep.axes import Axis, Choice, Dimension, Label, Setting, label_of

KEYS = {
    "study": "Name of the study: letters, digits, `-`, `_`, `.`, with `/` between topics",
    "title": "A line about it",
    "base": "Scenario that is varied: a file next to this one, or a name of the package",
    "scenario": "The same, written here instead of `base`",
    "set": "Values that are the same in all runs, by path",
    "grid": "Axes of which every combination is run",
    "zip": "Axes that advance together; a list of such groups is combined like axes of a grid",
    "sample": "Points that are drawn: how many, by which method, over which axes and ranges",
    "replications": "Number of seeds for each combination: the scenario's own and those after it",
}
"""All keys of a study with their meanings."""

_MEANT = {
    **dict.fromkeys(("axes", "matrix", "parameters", "params", "vary"), "grid"),
    **dict.fromkeys(("seeds", "repeat", "repetitions", "runs"), "replications"),
    **dict.fromkeys(("file", "network"), "base"),
    "name": "study",
}
"""Keys by words of other programs."""

MOST_RUNS = 1_000_000
MOST_REPLICATIONS = 1_000_000

_SAMPLE = ("points", "method", "seed", "over")
_PATHS = ("path", "paths")
_RANGE = ("from", "to", "scale")


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
                close = [_MEANT[text]] if text in _MEANT else nearest(text, KEYS, 1)
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
        return self._whole(root, "replications", 1, (1, MOST_REPLICATIONS))

    def _whole(
        self, root: Node, key: str, default: int, ends: tuple[int, int], at: str = ""
    ) -> int:
        """Return a whole number between two ends."""
        node = root.value.get(key)
        if node is None:
            return default
        number = node.value
        if isinstance(number, bool) or not isinstance(number, int):
            message = "a whole number is needed"
        elif not ends[0] <= number <= ends[1]:
            message = f"not a number of {key}" if key.endswith("s") else f"not a {key}"
        else:
            return number
        allowed = f"{ends[0]} to {ends[1]}"
        self.problem(at + key, message, node.position, value=_shown(node), allowed=allowed)
        return default

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

    def sample(self, node: Node | None) -> tuple[Dimension, ...]:
        """Return the axes of points that are drawn, which advance together."""
        if node is None:
            return ()
        if not isinstance(node.value, dict):
            hint = "such as {points: 100, over: {links.L1.rate: {from: 1 Mbps, to: 10 Mbps}}}"
            self.problem("sample", "a mapping is needed", node.position, hint=hint)
            return ()
        self._only(node, "sample", _SAMPLE)
        before = len(self.problems)
        points = self._whole(node, "points", 0, (1, MOST_RUNS), "sample.")
        if "points" not in node.value:
            hint = "points: 100"
            self.problem("sample", "'points' is missing: how many?", node.position, hint=hint)
        seed = self._whole(node, "seed", 1, (0, 2**63 - 1), "sample.")
        method = self._word(node, "sample.method", sample.METHODS)
        if method == "sobol" and points & (points - 1):
            self.problem(
                "sample.points",
                "a Sobol sequence is balanced at powers of two only",
                node.value["points"].position,
                value=points,
                allowed="a power of two",
                hint=f"points: {1 << points.bit_length()}",
            )
        over = node.value.get("over")
        if over is None:
            hint = "over: {links.L1.rate: {from: 1 Mbps, to: 10 Mbps}}"
            self.problem(
                "sample", "'over' is missing: which parameters are drawn?", node.position, hint=hint
            )
        drawn = [
            (name, made)
            for name, here, inner in self._named(over, "sample.over")
            if (made := self._drawn(name, inner, here))
        ]
        if len(self.problems) > before:
            return ()
        shares = sample.draw(method, points, len(drawn), seed).T.tolist()
        axes = tuple(
            Axis(name, tuple(map(made, own)))
            for (name, made), own in zip(drawn, shares, strict=True)
        )
        return (Dimension(axes, method),)

    def _drawn(self, name: str, node: Node, path: str) -> Callable[[float], Choice] | None:
        """Return what makes a choice of a share from 0 to 1: a range, or choices of equal share."""
        if not _is_range(node):
            choices = self._choices(name, node, path)
            if not choices or not self._differ(choices, path, node.position):
                return None
            return lambda share: choices[int(share * len(choices))]
        self._only(node, path, (*_PATHS, *_RANGE))
        named = any(key in node.value for key in _PATHS)
        paths = self._paths(node, path) if named else [name]
        scale = self._word(node, f"{path}.scale", sample.SCALES)
        ends = [plain(node.value[key]) if key in node.value else None for key in _RANGE[:2]]
        found = sample.range_of(ends[0], ends[1], scale)
        if isinstance(found, str):
            given = zip(_RANGE, ends, strict=False)
            shown = " ".join(f"{key} {end}" for key, end in given if end is not None)
            hint = "such as {from: 1 Mbps, to: 10 Mbps, scale: log}"
            self.problem(path, found, node.position, value=shown, hint=hint)
            return None

        def made(share: float) -> Choice:
            value = found.at(share)
            return Choice(value, tuple(Setting(p, value, node.position) for p in paths))

        return made

    def _word(self, node: Node, path: str, words: tuple[str, ...]) -> str:
        """Return a word of a list, the first by default."""
        key = path.rpartition(".")[2]
        inner = node.value.get(key)
        if inner is None or inner.value in words:
            return words[0] if inner is None else inner.value
        close = nearest(str(inner.value), words, 1)
        hint = f"did you mean '{close[0]}'?" if close else None
        message = f"unknown {key} '{_shown(inner)}'"
        allowed = ", ".join(words)
        self.problem(path, message, inner.position, value=_shown(inner), allowed=allowed, hint=hint)
        return words[0]

    def _only(self, node: Node, path: str, keys: tuple[str, ...]) -> None:
        """Check that a mapping has these keys only."""
        for text, place, _ in node.entries():
            if text not in keys:
                allowed = ", ".join(keys)
                self.problem(f"{path}.{text}", f"unknown key '{text}'", place, allowed=allowed)

    def _axes(self, node: Node | None, path: str) -> Iterator[Axis]:
        for name, here, inner in self._named(node, path):
            choices = self._choices(name, inner, here)
            if choices and self._differ(choices, here, inner.position):
                yield Axis(name, tuple(choices))

    def _named(self, node: Node | None, path: str) -> Iterator[tuple[str, str, Node]]:
        """Yield name, place and description of axes that may have their names."""
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
                yield name, here, inner

    def _is_free(self, name: str, path: str, place: Position) -> bool:
        if name in self.reserved:
            hint = "give it another name: NAME: {path: " + name + ", values: [...]}"
            if name == "seed":
                hint = "'replications: N' runs each combination with N seeds"
            message = f"'{name}' is a column of every table of results"
            self.problem(path, message, place, hint=hint)
            return False
        if not name.strip():
            hint = "it is a column of the table: NAME: {path: PATH, values: [...]}"
            self.problem(path, "an axis without a name", place, hint=hint)
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
            self._only(node, path, (*_PATHS, "values"))
            paths = self._paths(node, path)
            return self._values(node.value["values"], paths, f"{path}.values") if paths else []
        if _is_range(node):
            hint = "a list of values; 'sample' draws values of a range"
            self.problem(path, "a range is not a list of values", node.position, hint=hint)
            return []
        if not node.value:
            self.problem(path, "an axis without choices", node.position)
        return [
            Choice(_label(text), self.settings(inner, f"{path}.{text}"))
            for text, _, inner in node.entries()
        ]

    def _paths(self, node: Node, path: str) -> list[str]:
        """Return the paths that an axis with a name sets; none if they are faulty."""
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
        return paths

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


def _is_range(node: Node) -> bool:
    """Whether this describes a range: its ends are values, what is under labels are mappings."""
    ends = [node.value.get(key) for key in _RANGE[:2]] if isinstance(node.value, dict) else []
    return any(end is not None and not isinstance(end.value, dict) for end in ends)


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
