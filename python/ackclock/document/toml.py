"""Reads TOML into nodes that know their places, as far as these can be known.

The standard parser gives no places. They are taken from the lines that start a table or a key; a
value inside an inline table or a list is placed at the key that holds it.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from ackclock.document.node import MAX_DEPTH, Node, Path, Position, normal_key
from ackclock.document.yaml import ParseError
from ackclock.errors import Problem

_PART = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_DOTTED = rf"{_PART}(?:[ \t]*\.[ \t]*{_PART})*"
_TABLE = re.compile(rf"[ \t]*(\[\[?)[ \t]*({_DOTTED})[ \t]*\]")
_KEY = re.compile(rf"([ \t]*)({_DOTTED})[ \t]*=")


def read_toml(text: str, file: str) -> tuple[Node | None, list[Problem]]:
    """Return the tree of a TOML text and what is wrong in it.

    Raises:
        ParseError: the text is not TOML.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ParseError(_explain(error, file)) from None
    except RecursionError:
        raise ParseError(Problem(f"nested more than {MAX_DEPTH} levels deep", file=file)) from None
    if not data:
        return None, []
    places = _places(text)
    problems: list[Problem] = []
    return _node(data, (), (1, 1), places, problems, file), problems


def _node(
    value: Any,
    path: Path,
    around: Position,
    places: dict[Path, Position],
    problems: list[Problem],
    file: str,
) -> Node:
    place = places.get(path, around)
    if len(path) > MAX_DEPTH:
        raise ParseError(
            Problem(f"nested more than {MAX_DEPTH} levels deep", file=file, line=place[0])
        )
    if isinstance(value, dict):
        node = Node({}, place)
        for name, inner in value.items():
            key = normal_key(name)
            child = _node(inner, (*path, key), place, places, problems, file)
            if key in node.value:
                problems.append(Problem(f"duplicate key '{name}'", file=file, line=place[0]))
                continue
            node.put(name, child.position, child)
        return node
    if isinstance(value, list):
        items = [
            _node(inner, (*path, index), place, places, problems, file)
            for index, inner in enumerate(value)
        ]
        return Node(items, place)
    if not isinstance(value, str | bool | int | float):
        message = "a date or a time of day has no meaning here"
        problems.append(Problem(message, value=str(value), file=file, line=place[0]))
        value = str(value)
    return Node(value, place)


def _places(text: str) -> dict[Path, Position]:
    """Return the places of tables and keys that start a line."""
    places: dict[Path, Position] = {}
    counts: dict[Path, int] = {}
    table: Path = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if found := _TABLE.match(line):
            names = _names(found[2])
            table = _indexed(names[:-1], counts)
            table = (*table, names[-1])
            if found[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
                places.setdefault(table, (number, found.start(1) + 1))
                table = (*table, counts[table])
            elif table in counts:
                table = (*table, counts[table])
            places.setdefault(table, (number, found.start(1) + 1))
        elif found := _KEY.match(line):
            path = table
            for name in _names(found[2]):
                path = (*path, name)
                places.setdefault(path, (number, found.start(2) + 1))
    return places


def _indexed(names: list[str], counts: dict[Path, int]) -> Path:
    """Return a path of table names with the number of the current element after each list."""
    path: Path = ()
    for name in names:
        path = (*path, name)
        if path in counts:
            path = (*path, counts[path])
    return path


def _names(dotted: str) -> list[str]:
    return [normal_key(part.strip("\"'")) for part in re.findall(_PART, dotted)]


def _explain(error: tomllib.TOMLDecodeError, file: str) -> Problem:
    said = str(error)
    found = re.search(r"\s*\(at line (\d+), column (\d+)\)$", said)
    if not found:
        return Problem(f"not valid TOML: {said}", file=file)
    message = f"not valid TOML: {said[: found.start()]}"
    return Problem(message, file=file, line=int(found[1]), column=int(found[2]))
