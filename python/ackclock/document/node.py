"""A parsed document with the place of every key and value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

# What a document may hold at most. A scenario of ten thousand flows needs a tenth of the values;
# more is an accident or an attack (aliases that contain aliases), and would only eat memory.
MAX_DEPTH = 64
MAX_VALUES = 4_000_000

Path = tuple[str | int, ...]
Position = tuple[int, int]
"""Line and column, both from 1."""


@dataclass(slots=True)
class Node:
    """A value and where it stands.

    `value` is a scalar, a `dict[str, Node]` or a `list[Node]`; `keys` holds the places of the keys
    of a mapping, `written` those keys that are spelled otherwise in the text (`new-reno`).
    """

    value: Any
    position: Position
    keys: dict[str, Position] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)

    def put(self, text: str, place: Position, inner: Node) -> None:
        """Add an entry to a mapping under a key as it stands in the text."""
        key = normal_key(text)
        self.value[key] = inner
        self.keys[key] = place
        if key != text:
            self.written[key] = text

    def entries(self) -> list[tuple[str, Position, Any]]:
        """Return the entries of a mapping: key as it stands in the text, its place, its value."""
        value: dict[str, Node] = self.value
        return [(self.written.get(k, k), self.keys[k], inner) for k, inner in value.items()]

    def locate(self, path: Path, *, key: bool = False) -> Position:
        """Return the place of the value (or of its key) at `path`.

        Where the path leaves the document (a missing key), the place of the innermost value that
        exists is returned.
        """
        node, place = self, self.position
        for step in path:
            inner = _child(node, step)
            if inner is None:
                return place
            place = node.keys.get(str(step), inner.position) if key else inner.position
            node = inner
        return place

    def holds(self, path: Path) -> bool:
        """Return whether there is a value at `path`."""
        node: Node | None = self
        for step in path:
            node = _child(node, step) if node is not None else None
        return node is not None


class TooLargeError(Exception):
    """The document holds more values, or deeper ones, than any scenario does."""


def plain(node: Node) -> Any:
    """Return the node as dicts, lists and scalars; shared nodes (YAML aliases) become copies."""
    left = MAX_VALUES

    def build(node: Node, depth: int) -> Any:
        nonlocal left
        left -= 1
        if left < 0 or depth > MAX_DEPTH:
            raise TooLargeError
        if isinstance(node.value, dict):
            return {name: build(inner, depth + 1) for name, inner in node.value.items()}
        if isinstance(node.value, list):
            return [build(inner, depth + 1) for inner in node.value]
        return node.value

    return build(node, 0)


def normal_key(key: str) -> str:
    """Return a key as the grammar spells it: `at-latest` is read as `at_latest`."""
    return key.replace("-", "_")


def _child(node: Node, step: str | int) -> Node | None:
    if isinstance(node.value, dict):
        return node.value.get(step)
    if isinstance(node.value, list) and isinstance(step, int) and 0 <= step < len(node.value):
        return node.value[step]
    return None
