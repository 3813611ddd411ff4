"""Scenario documents: YAML, JSON or TOML text turned into plain data that knows its places.

Nothing here knows what a scenario means; it knows what a document is. A document that cannot be
read is a `ScenarioError` that names file, line and column, never a traceback.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path as FilePath
from typing import Any

from ackclock.document.node import (
    MAX_DEPTH,
    Node,
    Path,
    Position,
    TooLargeError,
    normal_key,
    plain,
)
from ackclock.document.override import OverrideError, apply, parse_value
from ackclock.document.yaml import ParseError, read_yaml
from ackclock.errors import InputError, Problem, ScenarioError

__all__ = [
    "MAX_BYTES",
    "SUFFIXES",
    "Document",
    "Node",
    "OverrideError",
    "Path",
    "Position",
    "apply",
    "flaws",
    "parse_value",
    "plain",
    "require_plain",
]

SUFFIXES = (".yaml", ".yml", ".json", ".toml")
"""File name endings of scenario documents."""

MAX_BYTES = {".json": 64 << 20, ".yaml": 4 << 20, ".yml": 4 << 20, ".toml": 4 << 20}
"""The largest file of each kind that is read.

YAML is for people and slow to parse; a `.yaml` file that holds JSON may be as large as JSON.
"""

_COMMENT_LINES = re.compile(r"\A(?:#[^\n]*\n|\n)*")

Reader = Callable[[str, str], tuple[Node | None, list[Problem]]]


class Document:
    """A scenario document as plain data, with the places of its values.

    Attributes:
        data: the document; keys with hyphens are spelled with underscores.
        file: name of the file, as shown in messages; None for data made in Python.
        overrides: the places that were set from outside, and the option that did it, in order.
    """

    def __init__(self, data: dict[str, Any], file: str | None = None) -> None:
        self.data = data
        self.file = file
        self._text: str | None = None
        self._reader: Reader | None = None
        self._root: Node | None = None
        self.overrides: list[tuple[Path, str]] = []

    @classmethod
    def read(cls, path: FilePath) -> Document:
        """Read a file; its ending decides the format.

        Raises:
            InputError: the file cannot be opened.
            ScenarioError: the file is no document.
        """
        file = str(path)
        suffix = path.suffix.lower()
        limit = max(MAX_BYTES.values())
        try:
            with path.open("rb") as stream:
                raw = stream.read(limit + 1)
        except OSError as error:
            raise InputError(f"cannot read '{file}': {error.strerror or error}") from None
        if suffix != ".json" and not _starts_with_brace(raw):
            limit = MAX_BYTES.get(suffix, MAX_BYTES[".yaml"])
        if len(raw) > limit:
            hint = "large generated scenarios are read from JSON" if suffix != ".json" else None
            problem = Problem(f"larger than {limit >> 20} MiB", hint=hint, file=file)
            raise ScenarioError([problem])
        return cls.parse(_decode(raw, file), suffix, file)

    @classmethod
    def parse(cls, text: str, suffix: str = ".yaml", file: str = "<text>") -> Document:
        """Read a text in the format of `suffix` (`.yaml`, `.yml`, `.json` or `.toml`).

        Raises:
            ScenarioError: the text is no document.
        """
        document = cls({}, file)
        document._text = text
        document._reader = _reader(suffix)
        data = document._fast_json(text, suffix)
        if data is None:
            data = document._parse_slowly()
        document.data = document._checked(data)
        return document

    def _fast_json(self, text: str, suffix: str) -> Any:
        """Return the data by the standard parser, or None when the careful one must look.

        JSON is YAML too: a large resolved scenario is JSON under a few lines of comment.
        """
        if suffix in (".yaml", ".yml"):
            text = _COMMENT_LINES.sub("", text, count=1)
            if not text.startswith("{"):
                return None
        elif suffix != ".json":
            return None
        try:
            data = json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_refuse)
        except (ValueError, RecursionError):
            return None
        return None if any(flaws(data)) else data

    def _parse_slowly(self) -> Any:
        assert self._reader is not None and self._text is not None
        try:
            root, problems = self._reader(self._text, self.file or "")
        except ParseError as error:
            raise ScenarioError([error.problem]) from None
        if problems:
            raise ScenarioError(problems)
        if root is None:
            raise ScenarioError(
                [Problem("the file is empty", hint="see 'ackclock list scenario'", file=self.file)]
            )
        self._root = root
        try:
            return plain(root)
        except TooLargeError:
            raise ScenarioError([Problem("holds far too many values", file=self.file)]) from None

    def _checked(self, data: Any) -> dict[str, Any]:
        problems = [
            self.problem(path, message, value=shown) for path, message, shown in flaws(data)
        ]
        if not isinstance(data, dict):
            shown = None if isinstance(data, list) else data
            hint = "start with 'name: my-experiment'"
            message = "a scenario is a mapping of keys to values"
            raise ScenarioError([self.problem((), message, value=shown, hint=hint)])
        if problems:
            raise ScenarioError(problems)
        return data

    def override(self, path: str, value: Any) -> None:
        """Set the value at `path` (`flows.F1.tcp.cc`, `links.*.rate`, `flows.0.send`).

        Raises:
            ScenarioError: the path leads nowhere.
        """
        shown = value if isinstance(value, str) else json.dumps(value, default=str)
        for _, message, _ in flaws(value):
            raise ScenarioError([Problem(message, path=path, file=f"--set {path}={shown}")])
        try:
            changed = apply(self.data, path, value)
        except OverrideError as error:
            raise ScenarioError([error.problem]) from None
        self.overrides += [(place, f"--set {path}={shown}") for place in changed]

    def problem(
        self,
        path: Path,
        message: str,
        *,
        value: Any = None,
        allowed: str | None = None,
        hint: str | None = None,
    ) -> Problem:
        """Return a problem with the value at `path`, placed in the file or at its override.

        `path` holds keys and indexes; it is shown with ids instead of indexes.
        """
        shown = self.describe(path)
        for place, option in reversed(self.overrides):
            inside = path[: len(place)] == place
            created = place[: len(path)] == path and not self._is_written(path)
            if inside or created:
                return Problem(message, shown, value, allowed, hint, file=option)
        line = column = None
        if self._text is not None:
            # An unknown key is wrong itself, anything else is wrong about the value.
            line, column = self.tree().locate(path, key=message.startswith("unknown key"))
        return Problem(message, shown, value, allowed, hint, self.file, line, column)

    def _is_written(self, path: Path) -> bool:
        """Return whether the value at `path` stands in the text, rather than made by overrides."""
        return self._text is not None and self.tree().holds(path)

    def describe(self, path: Path) -> str:
        """Return a path as `--set` writes it: `links.L1.rate`."""
        names: list[str] = []
        inner: Any = self.data
        if path[:1] == ("set",) and len(path) > 1:
            later = _step(_step(inner, "set"), path[1])
            place = _step(later, "path")
            if isinstance(place, str):
                # What stands there is set at the place that it names.
                names, inner, path = [place], _step(later, "value"), path[3:]
        for step in path:
            inner = _step(inner, step)
            named = isinstance(step, int) and isinstance(inner, dict) and inner.get("id")
            names.append(named if isinstance(named, str) else str(step))
        return ".".join(names)

    def tree(self) -> Node:
        """Return the text as nodes that know their places; only for a document that was read."""
        if self._root is None:
            assert self._reader is not None and self._text is not None
            root, _ = self._reader(self._text, self.file or "")
            self._root = root or Node({}, (1, 1))
        return self._root


def _starts_with_brace(raw: bytes) -> bool:
    """Return whether the first thing in a text, comments aside, is JSON's opening brace."""
    head = raw[:65536].decode("utf-8-sig", errors="replace").replace("\r\n", "\n")
    return _COMMENT_LINES.sub("", head, count=1).startswith("{")


def _reader(suffix: str) -> Reader:
    if suffix == ".json":
        from ackclock.document.jsontext import read_json

        return read_json
    if suffix == ".toml":
        from ackclock.document.toml import read_toml

        return read_toml
    return read_yaml


def _decode(raw: bytes, file: str) -> str:
    """Return UTF-8 text; a byte order mark and Windows line ends are accepted."""
    try:
        return raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        column = error.start - (raw.rfind(b"\n", 0, error.start) + 1) + 1
        hint = "save the file as UTF-8"
        if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
            hint = "this looks like UTF-16; save the file as UTF-8"
        problem = Problem("not UTF-8 text", hint=hint, file=file, line=line, column=column)
        raise ScenarioError([problem]) from None


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = {normal_key(key): value for key, value in pairs}
    if len(found) < len(pairs):
        raise ValueError("duplicate key")
    return found


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def _step(container: Any, step: str | int) -> Any:
    try:
        return container[step]
    except (KeyError, IndexError, TypeError):
        return None


def require_plain(data: Any) -> None:
    """Check that data from Python are document data.

    Raises:
        ScenarioError: they are not; it holds all that `flaws` finds.
    """
    problems = [
        Problem(message, path=".".join(map(str, path)), value=shown)
        for path, message, shown in flaws(data)
    ]
    if problems:
        raise ScenarioError(problems)


def flaws(data: Any) -> Iterator[tuple[Path, str, str | None]]:
    """Yield path, message and shown value of everything that is no document data.

    That is what JSON, through which a document goes to the simulator, cannot hold: values that are
    not finite, integers beyond 64 bits, broken text, other kinds of objects, bottomless nesting.
    """
    stack: list[tuple[Path, Any]] = [((), data)]
    while stack:
        path, value = stack.pop()
        if isinstance(value, dict | list) and len(path) >= MAX_DEPTH:
            yield (path[:3], f"nested more than {MAX_DEPTH} levels deep", None)
            return
        if isinstance(value, dict):
            for key in value:
                if not isinstance(key, str) or not _is_text(key):
                    yield (path, "a key that is not text", repr(key))
                    return
            stack += [((*path, key), inner) for key, inner in reversed(value.items())]
        elif isinstance(value, list):
            stack += [((*path, i), inner) for i, inner in reversed(list(enumerate(value)))]
        elif isinstance(value, float):
            if not math.isfinite(value):
                yield (path, "not a finite number", str(value))
        elif isinstance(value, bool) or value is None:
            continue
        elif isinstance(value, int):
            if not -(2**63) <= value < 2**64:
                yield (path, "a number beyond 64 bits", None)
        elif not isinstance(value, str):
            yield (path, f"a {type(value).__name__} is not a value of a scenario", None)
        elif not _is_text(value):
            yield (path, "text with half of a surrogate pair", None)


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
