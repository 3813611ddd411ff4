"""What a study varies: axes, their choices, and what each choice sets in the scenario."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ackclock.document import Position

Label = str | int | float | bool
"""How a choice is written in the table of results."""


@dataclass(frozen=True)
class Setting:
    """A value of the scenario that is set: a path as in `--set`, a value, its place in the file."""

    path: str
    value: Any
    position: Position | None = None
    option: str | None = None

    def to_json(self) -> list[Any]:
        """Return path and value."""
        return [self.path, self.value]


@dataclass(frozen=True)
class Choice:
    """One of the choices of an axis: its label, and what it sets."""

    label: Label
    settings: tuple[Setting, ...]


@dataclass(frozen=True)
class Axis:
    """Something that a study varies; a column of the table of results."""

    name: str
    choices: tuple[Choice, ...]

    def to_json(self) -> dict[str, Any]:
        """Return name, labels and settings."""
        choices = [[c.label, [s.to_json() for s in c.settings]] for c in self.choices]
        return {"name": self.name, "choices": choices}


@dataclass(frozen=True)
class Dimension:
    """Axes that advance together: one axis of a grid, all of a zip, or those of a sample.

    Attributes:
        axes: The axes, with equally many choices.
        method: How the points of a sample were drawn; empty for others.
    """

    axes: tuple[Axis, ...]
    method: str = ""

    def __len__(self) -> int:
        return len(self.axes[0].choices)

    def __getitem__(self, index: int) -> list[tuple[Axis, Choice]]:
        return [(axis, axis.choices[index]) for axis in self.axes]


def point(dimensions: Sequence[Dimension], index: int) -> list[tuple[Axis, Choice]]:
    """Return what is chosen at a point of the product, the last dimension running fastest."""
    chosen: list[list[tuple[Axis, Choice]]] = []
    for dimension in reversed(dimensions):
        index, own = divmod(index, len(dimension))
        chosen.append(dimension[own])
    return list(itertools.chain.from_iterable(reversed(chosen)))


def label_of(value: Any) -> Label:
    """Return a value as it is written in a table: itself, or one line of JSON."""
    if isinstance(value, str | int | float | bool):
        return value
    return json.dumps(value, ensure_ascii=False)
