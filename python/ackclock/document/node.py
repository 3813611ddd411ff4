"""A parsed document with the place of every key and value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

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
        """Add an entry to a mapping under a key as it is in the text."""
        key = normal_key(text)
        self.value[key] = inner
        self.keys[key] = place
        if key != text:
            self.written[key] = text

    def entries(self) -> list[tuple[str, Position, Any]]:
        """Return the entries of a mapping: key as it is in the text, its place, its value."""
        value: dict[str, Node] = self.value
        return [(self.written.get(k, k), self.keys[k], inner) for k, inner in value.items()]


def plain(node: Node, *, as_written: bool = False) -> Any:
    """Return the node as dicts, lists and scalars; `as_written` keeps the spelling of keys."""
    if isinstance(node.value, dict):
        entries = node.entries() if as_written else [(k, (), v) for k, v in node.value.items()]
        return {key: plain(inner, as_written=as_written) for key, _, inner in entries}
    if isinstance(node.value, list):
        return [plain(inner, as_written=as_written) for inner in node.value]
    return node.value


def normal_key(key: str) -> str:
    """Return a key as the grammar spells it: `at-latest` is read as `at_latest`."""
    return key.replace("-", "_")
