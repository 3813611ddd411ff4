"""Writes a scenario document as YAML that people read.

A small writer of its own: a document is mappings, lists and scalars only, and a general YAML writer
takes minutes for thousands of flows. What is written here is read back to the same values by
`ackclock.document`, and by any reader of YAML 1.2.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from ackclock import _core

_WIDTH = 100
# Beyond this many values nobody reads the file, and one line for each link and flow is smaller and
# quicker to read back: JSON, which is YAML too.
_MOST_VALUES = 20_000

_PLAIN = re.compile(r"[A-Za-z0-9_./(+-][^\n]*")
# Several lines of text, such as a program, that do not begin with a blank.
_LITERAL = re.compile(r"(?!\s)(?:[^\n]*\n)+[^\n]+\n?")
_NOT_PLAIN = re.compile(r": |:$| #|^[-.?] |^---|^\.\.\.|\s$|^- ?$|\t")
_NOT_PLAIN_IN_LINE = re.compile(r"[,\[\]{}]")


def to_yaml(document: dict[str, Any], header: Sequence[str] = ()) -> str:
    """Return a document as YAML, under `header` as comment lines.

    Mappings and lists that fit on a line are written on one, as in the scenarios of the package.
    """
    if _is_large(document):
        return comment(header) + _rows(document)
    return comment(header) + "".join(f"{line}\n" for line in _mapping(document, 0))


def comment(header: Sequence[str]) -> str:
    """Return texts as comment lines."""
    lines = [part for text in header for part in textwrap.wrap(" ".join(text.split()), _WIDTH - 2)]
    return "".join(f"# {line}\n" for line in lines)


def _mapping(value: dict[str, Any], indent: int) -> Iterator[str]:
    for key, inner in value.items():
        yield from _entry(f"{' ' * indent}{_scalar(key)}:", inner, indent)


def _entry(start: str, value: Any, indent: int) -> Iterator[str]:
    """Yield the lines of a key (`start`, which ends with its colon) and its value."""
    one_line = f"{start} {_in_line(value, top=True)}"
    if isinstance(value, str) and _LITERAL.fullmatch(value):
        yield from _literal(start, value, indent)
    elif not isinstance(value, dict | list):
        yield from [one_line] if len(one_line) <= _WIDTH else _folded(start, value, indent)
    elif not value or (len(one_line) <= _WIDTH and not _deserves_lines(value)):
        yield one_line
    elif isinstance(value, dict):
        yield start
        yield from _mapping(value, indent + 2)
    else:
        yield start
        for item in value:
            yield from _item(item, indent + 2)


def _item(value: Any, indent: int) -> Iterator[str]:
    """Yield the lines of an element of a list."""
    dash = f"{' ' * indent}- "
    one_line = dash + _in_line(value, top=True)
    if len(one_line) <= _WIDTH or not isinstance(value, dict) or not value:
        yield one_line
        return
    for number, line in enumerate(_mapping(value, indent + 2)):
        yield f"{dash}{line[indent + 2 :]}" if number == 0 else line


def _deserves_lines(value: Any) -> bool:
    """Return whether each element gets a line of its own although all would fit on one."""
    if isinstance(value, dict):
        return any(isinstance(text, str) and _LITERAL.fullmatch(text) for text in value.values())
    return isinstance(value, list) and any(isinstance(item, dict) for item in value)


def _in_line(value: Any, *, top: bool = False) -> str:
    """Return a value on one line; `top` when no bracket stands around it."""
    if isinstance(value, dict):
        inner = ", ".join(f"{_scalar(k, in_line=True)}: {_in_line(v)}" for k, v in value.items())
        return f"{{{inner}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_in_line, value))}]"
    return _scalar(value, in_line=not top)


def _scalar(value: Any, *, in_line: bool = False) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    plain = (
        value.isprintable()
        and _PLAIN.fullmatch(value)
        and not _NOT_PLAIN.search(value)
        and not (in_line and _NOT_PLAIN_IN_LINE.search(value))
        and isinstance(_core.scalar(value), str)
    )
    return value if plain else _quoted(value)


def _quoted(value: str) -> str:
    escaped = (
        c if c.isprintable() and c not in '"\\' else _ESCAPES.get(c) or f"\\U{ord(c):08X}"
        for c in value
    )
    return f'"{"".join(escaped)}"'


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def _literal(start: str, value: str, indent: int) -> Iterator[str]:
    """Yield the lines of a text as they are."""
    lines = value.removesuffix("\n").split("\n")
    if not all(line.isprintable() for line in lines):
        yield f"{start} {_scalar(value)}"
        return
    yield f"{start} {'|' if value.endswith(chr(10)) else '|-'}"
    yield from (f"{' ' * (indent + 2)}{line}" if line else "" for line in lines)


def _folded(start: str, value: Any, indent: int) -> Iterator[str]:
    """Yield a long text over several lines, which reading joins with single spaces again."""
    words = value.split(" ") if isinstance(value, str) else []
    if not words or not all(words) or not value.isprintable():
        yield f"{start} {_scalar(value)}"
        return
    yield f"{start} >-"
    margin = " " * (indent + 2)
    yield from textwrap.wrap(
        value,
        _WIDTH,
        initial_indent=margin,
        subsequent_indent=margin,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _is_large(document: Any) -> bool:
    count, stack = 0, [document]
    while stack and count <= _MOST_VALUES:
        value = stack.pop()
        count += 1
        if isinstance(value, dict):
            stack += value.values()
        elif isinstance(value, list):
            stack += value
    return count > _MOST_VALUES


def _rows(document: dict[str, Any]) -> str:
    """Return JSON with one line for each key, and for each element of a list at the top."""
    entries = []
    for key, value in document.items():
        if isinstance(value, list):
            items = ",\n".join(json.dumps(item, ensure_ascii=False) for item in value)
            entries.append(f"{json.dumps(key)}: [\n{items}\n]")
        else:
            entries.append(f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n" + ",\n".join(entries) + "\n}\n"
