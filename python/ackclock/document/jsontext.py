"""Reads JSON into nodes that know their places.

Not called `json`, which would hide the standard module from the package.

The standard parser knows no places and keeps the last of two equal keys. This one is slower, so
`ackclock.document` lets the standard parser go first and calls this one for the places only when
there is something to report.
"""

from __future__ import annotations

import bisect
import json
import re

from ackclock.document.node import MAX_DEPTH, Node, Position, normal_key
from ackclock.document.yaml import ParseError
from ackclock.errors import Problem

_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WORDS = {"true": True, "false": False, "null": None}
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MAX_DIGITS = 400


def read_json(text: str, file: str) -> tuple[Node | None, list[Problem]]:
    """Return the tree of a JSON text and its duplicate keys.

    Raises:
        ParseError: the text is not JSON.
    """
    reader = _Reader(text, file)
    return reader.document(), reader.problems


class _Reader:
    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        self.at = 0
        self.problems: list[Problem] = []
        self._line_starts = [0, *(m.end() for m in re.finditer("\n", text))]

    def document(self) -> Node | None:
        self._skip()
        if self.at == len(self.text):
            return None
        root = self._value(0)
        self._skip()
        if self.at < len(self.text):
            self._fail("more text after the end of the document")
        return root

    def _position(self, at: int) -> Position:
        line = bisect.bisect_right(self._line_starts, at)
        return line, at - self._line_starts[line - 1] + 1

    def _fail(self, message: str, hint: str | None = None) -> None:
        line, column = self._position(min(self.at, len(self.text)))
        raise ParseError(Problem(message, hint=hint, file=self.file, line=line, column=column))

    def _skip(self) -> None:
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def _peek(self) -> str:
        self._skip()
        return self.text[self.at : self.at + 1]

    def _value(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            self._fail(f"nested more than {MAX_DEPTH} levels deep")
        first = self._peek()
        place = self._position(self.at)
        if first == "{":
            return self._object(place, depth)
        if first == "[":
            return self._array(place, depth)
        if first == '"':
            return Node(self._string(), place)
        if number := _NUMBER.match(self.text, self.at):
            self.at = number.end()
            digits = number[0]
            real = number[1] or number[2] or len(digits) > _MAX_DIGITS
            return Node(float(digits) if real else int(digits), place)
        if (word := _WORD.match(self.text, self.at)) and word[0] in _WORDS:
            self.at = word.end()
            return Node(_WORDS[word[0]], place)
        if not first:
            self._fail("the file ends in the middle")
        hint = "text is written in double quotes" if word or first == "'" else None
        self._fail(f"a value cannot start with '{word[0] if word else first}'", hint)
        raise AssertionError  # _fail does not return

    def _string(self) -> str:
        found = _STRING.match(self.text, self.at)
        if not found:
            self._fail("a text that does not end on its line, or holds a control character")
            raise AssertionError  # _fail does not return
        try:
            value = json.loads(found[0])
        except ValueError:
            self._fail("an escape that JSON does not know")
            raise
        self.at = found.end()
        return value

    def _object(self, place: Position, depth: int) -> Node:
        node = Node({}, place)
        self.at += 1
        if self._peek() == "}":
            self.at += 1
            return node
        while True:
            if self._peek() != '"':
                hint = "no comma after the last entry" if self._peek() == "}" else None
                self._fail("a key in double quotes was expected", hint)
            key_at = self._position(self.at)
            text = self._string()
            if self._peek() != ":":
                self._fail("':' was expected after the key")
            self.at += 1
            inner = self._value(depth + 1)
            self._insert(node, text, key_at, inner)
            if self._ends("}"):
                return node

    def _array(self, place: Position, depth: int) -> Node:
        items: list[Node] = []
        self.at += 1
        if self._peek() == "]":
            self.at += 1
            return Node(items, place)
        while True:
            items.append(self._value(depth + 1))
            if self._ends("]"):
                return Node(items, place)

    def _ends(self, bracket: str) -> bool:
        """Step over ',' or the closing bracket; return whether it was the bracket."""
        found = self._peek()
        if found not in (",", bracket) or not found:
            self._fail(
                f"',' or '{bracket}' was expected" if found else "the file ends in the middle"
            )
        self.at += 1
        return found == bracket

    def _insert(self, node: Node, text: str, place: Position, inner: Node) -> None:
        key = normal_key(text)
        if key in node.value:
            first = node.keys[key]
            self.problems.append(
                Problem(
                    f"duplicate key '{text}'",
                    hint=f"it was first given on line {first[0]}; keep one of the two",
                    file=self.file,
                    line=place[0],
                    column=place[1],
                )
            )
            return
        node.put(text, place, inner)
