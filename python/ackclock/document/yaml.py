"""Reads YAML 1.2 into nodes that know their places."""

from __future__ import annotations

from typing import Any

from ackclock.document.node import MAX_DEPTH, Node, Position, normal_key
from ackclock.document.scalar import read_scalar
from ackclock.errors import Problem

_STRING_TAGS = {"!", "tag:yaml.org,2002:str"}


class ParseError(Exception):
    """The text cannot be read. Holds the one problem that ended the reading."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class _Open:
    """A mapping or a list whose end has not been read yet."""

    def __init__(self, node: Node, anchor: str | None) -> None:
        self.node = node
        self.anchor = anchor
        self.key: str | None = None
        self.has_key = False


def read_yaml(text: str, file: str) -> tuple[Node | None, list[Problem]]:
    """Return the tree of a YAML text (None when it holds nothing) and what is wrong in it.

    The parser's events are consumed one by one rather than through a recursive composer, so that
    no nesting can exhaust the stack.

    Raises:
        ParseError: the text is no YAML, or uses what a scenario has no use for.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError
    from ruamel.yaml.reader import ReaderError

    builder = _Builder(file)
    try:
        for event in YAML(typ="safe", pure=True).parse(text):
            builder.take(event)
    except MarkedYAMLError as error:
        raise ParseError(_explain(error, text, file)) from None
    except ReaderError as error:
        before = text[: error.position]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        message = f"the character U+{ord(text[error.position]):04X} is not allowed in YAML"
        raise ParseError(Problem(message, file=file, line=line, column=column)) from None
    except (YAMLError, RecursionError, ValueError) as error:
        raise ParseError(Problem(f"not valid YAML: {error}".splitlines()[0], file=file)) from None
    return builder.root, builder.problems


class _Builder:
    """Turns parser events into nodes."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.root: Node | None = None
        self.problems: list[Problem] = []
        self._documents = 0
        self._stack: list[_Open] = []
        self._anchors: dict[str, Node | None] = {}

    def take(self, event: Any) -> None:
        kind = type(event).__name__
        place = (event.start_mark.line + 1, event.start_mark.column + 1)
        if kind == "ScalarEvent":
            self._scalar(event, place)
        elif kind in ("MappingStartEvent", "SequenceStartEvent"):
            self._start({} if kind == "MappingStartEvent" else [], event, place)
        elif kind in ("MappingEndEvent", "SequenceEndEvent"):
            done = self._stack.pop()
            if done.anchor:
                self._anchors[done.anchor] = done.node
        elif kind == "AliasEvent":
            self._alias(event, place)
        elif kind == "DocumentStartEvent":
            self._documents += 1
            if self._documents > 1:
                self._fail("a file holds one scenario; '---' starts a second document", place)

    def _fail(self, message: str, place: Position, hint: str | None = None) -> None:
        line, column = place
        raise ParseError(Problem(message, hint=hint, file=self.file, line=line, column=column))

    def _scalar(self, event: Any, place: Position) -> None:
        tag = event.tag
        if tag is not None and tag not in _STRING_TAGS:
            self._fail(f"the tag '{tag}' has no meaning here", place, "remove the tag")
        is_key = self._expects_key()
        plain = event.style is None and tag is None
        value = read_scalar(event.value) if plain and not is_key else event.value
        node = Node(value, place)
        if event.anchor:
            self._anchors[event.anchor] = node
        if is_key:
            self._take_key(event.value, place)
        else:
            self._add(node)

    def _start(self, value: dict[str, Node] | list[Node], event: Any, place: Position) -> None:
        if event.tag is not None:
            self._fail(f"the tag '{event.tag}' has no meaning here", place, "remove the tag")
        if self._expects_key():
            self._fail("a key must be a word, not a list or a mapping", place)
        if len(self._stack) >= MAX_DEPTH:
            self._fail(f"nested more than {MAX_DEPTH} levels deep", place)
        node = Node(value, place)
        self._add(node)
        if event.anchor:
            self._anchors[event.anchor] = None
        self._stack.append(_Open(node, event.anchor))

    def _alias(self, event: Any, place: Position) -> None:
        if self._expects_key():
            self._fail("a key must be a word, not an alias", place)
        if event.anchor not in self._anchors:
            self._fail(
                f"the alias '*{event.anchor}' has no anchor '&{event.anchor}' before it", place
            )
        node = self._anchors[event.anchor]
        if node is None:
            self._fail(f"the alias '*{event.anchor}' stands inside its own anchor", place)
        else:
            self._add(node)

    def _expects_key(self) -> bool:
        if not self._stack:
            return False
        top = self._stack[-1]
        return isinstance(top.node.value, dict) and not top.has_key

    def _take_key(self, text: str, place: Position) -> None:
        top, key = self._stack[-1], normal_key(text)
        top.has_key = True
        if key in top.node.value:
            first = top.node.keys[key]
            self.problems.append(
                Problem(
                    f"duplicate key '{text}'",
                    hint=f"it was first given on line {first[0]}; keep one of the two",
                    file=self.file,
                    line=place[0],
                    column=place[1],
                )
            )
            top.key = None
            return
        top.key = key
        top.node.keys[key] = place
        if key != text:
            top.node.written[key] = text

    def _add(self, node: Node) -> None:
        if not self._stack:
            self.root = node
            return
        top = self._stack[-1]
        if isinstance(top.node.value, list):
            top.node.value.append(node)
            return
        top.has_key = False
        if top.key is not None:
            top.node.value[top.key] = node


def _explain(error: Any, text: str, file: str) -> Problem:
    """Return the parser's complaint in words about the file."""
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
    said = (error.problem or str(error)).replace("\n", " ")
    hint = None
    if "\\t" in said or (line is not None and _indented_by_tab(text, line)):
        message = "a tab cannot indent YAML"
        hint = "indent with spaces"
    elif "mapping values are not allowed" in said:
        message = "a ':' where no key can stand"
        hint = 'is the line indented too far? Text that contains ": " needs quotes'
        line, column = _mark_of_message(str(error), line, column)
    elif "<stream end>" in said or "unexpected end of stream" in said:
        message = "the file ends inside a list, a mapping or a quoted text"
        hint = _opened_at(error)
    elif "found ']'" in said or "found '}'" in said:
        message = "a closing bracket that was not opened"
    elif "found '?'" in said or "did not find expected" in said or "expected <block end>" in said:
        message = "the indentation does not fit the lines before"
        hint = "entries of one mapping or list start in the same column"
    else:
        message = f"not valid YAML: {said}"
    return Problem(message, hint=hint, file=file, line=line, column=column)


def _mark_of_message(
    message: str, line: int | None, column: int | None
) -> tuple[int | None, int | None]:
    """Return the place a parser's message names where its mark is missing."""
    import re

    found = re.search(r"line (\d+), column (\d+)", message)
    return (int(found[1]), int(found[2])) if found else (line, column)


def _indented_by_tab(text: str, line: int) -> bool:
    lines = text.splitlines()
    if not 0 < line <= len(lines):
        return False
    start = lines[line - 1]
    return "\t" in start[: len(start) - len(start.lstrip())]


def _opened_at(error: Any) -> str | None:
    mark = error.context_mark
    if mark is None or (error.problem_mark and mark.line == error.problem_mark.line):
        return None
    return f"it was opened on line {mark.line + 1}, column {mark.column + 1}"
