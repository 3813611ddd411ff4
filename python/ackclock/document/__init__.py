"""Scenario documents: YAML, JSON or TOML text turned into plain data that knows its places.

The text itself is read by `crates/text`. Nothing here knows what a scenario means; it knows what a
document is. A document that cannot be read is a `ScenarioError` that names file, line and column,
never a traceback.
"""

from __future__ import annotations

import functools
import json
import math
import os
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from ackclock import _core
from ackclock.document.node import Node, Path, Position, plain
from ackclock.document.override import OverrideError, apply, parse_value
from ackclock.errors import InputError, Problem, ScenarioError, save_as_utf8

if TYPE_CHECKING:
    from ackclock._core import Text

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

MAX_BYTES = {".json": 256 << 20, ".yaml": 256 << 20, ".yml": 256 << 20, ".toml": 4 << 20}
"""The largest file of each kind that is read: a hundred thousand flows, written out with all their
defaults, take 150 MB. Parsing TOML takes a hundred times its memory."""

_MAX_DEPTH = 64


class Document:
    """A scenario document as plain data, with the places of its values.

    Keys with hyphens are spelled with underscores. A document that was read stays in the engine
    until somebody wants it here: that of ten thousand flows has a million objects.

    Attributes:
        file: name of the file, as shown in messages; None for data made in Python.
        overrides: the places that were set from outside, and the option that did it, in order.
    """

    def __init__(self, data: dict[str, Any], file: str | None = None) -> None:
        self._data: dict[str, Any] | None = data
        self.file = file
        self.overrides: list[tuple[Path, str]] = []
        self._source = ("", "yaml")
        self._read: Text | None = None

    @property
    def data(self) -> dict[str, Any]:
        """The document as objects of Python, which are made when they are asked for."""
        data = self._data
        if data is None:
            data = self._data = self._text.data()
        return data

    @data.setter
    def data(self, data: dict[str, Any]) -> None:
        self._data = data

    @classmethod
    def read(cls, path: FilePath, begin: str = "name: my-experiment") -> Document:
        """Read a file; its ending decides the format. `begin` is how one of its kind begins.

        Raises:
            InputError: the file cannot be opened.
            ScenarioError: the file is not a document.
        """
        file = str(path)
        suffix = path.suffix.lower()
        limit = MAX_BYTES.get(suffix, MAX_BYTES[".yaml"])
        try:
            with path.open("rb") as stream:
                # A pipe has no size before it is read.
                is_huge = os.fstat(stream.fileno()).st_size > limit
                raw = b"" if is_huge else stream.read(limit + 1)
        except OSError as error:
            raise InputError(f"cannot read '{file}': {error.strerror or error}") from None
        if is_huge or len(raw) > limit:
            hint = "write a large scenario in YAML or JSON" if suffix == ".toml" else None
            problem = Problem(f"larger than {limit >> 20} MiB", hint=hint, file=file)
            raise ScenarioError([problem])
        text = _decode(raw, file)
        del raw  # one of both is enough while the text is read
        return cls.parse(text, suffix, file, begin)

    @classmethod
    def parse(
        cls,
        text: str,
        suffix: str = ".yaml",
        file: str = "<text>",
        begin: str = "name: my-experiment",
    ) -> Document:
        """Read a text in the format of `suffix` (`.yaml`, `.yml`, `.json` or `.toml`).

        Raises:
            ScenarioError: the text is not a document.
        """
        document = cls({}, file)
        if not _is_text(text):
            raise ScenarioError([Problem("text with half of a surrogate pair", file=file)])
        document._source = (text, suffix[1:] if suffix in (".json", ".toml") else "yaml")
        document._read, problems = _core.read_text(*document._source)
        if problems:
            raise ScenarioError(
                Problem(message, document.describe(path), value, None, hint, file, *place)
                for message, value, hint, path, place in problems
            )
        if document._read is None:
            raise ScenarioError(
                [Problem("the file is empty", hint=f"start with '{begin}'", file=file)]
            )
        if not document._read.is_mapping():
            data = document._read.data()
            shown = None if isinstance(data, list) else data
            message = "the document is not a mapping of keys to values"
            hint = f"start with '{begin}'"
            raise ScenarioError([document.problem((), message, value=shown, hint=hint)])
        document._data = None
        return document

    def check(self) -> tuple[_core.Scenario | None, str, str]:
        """Return what the simulator says to it as a scenario (`_core.check`)."""
        return _core.check(self._text if self._data is None else json.dumps(self._data))

    def fold(self) -> None:
        """Keep the text alone, which is read again when something is asked for: that is rare.

        What was read takes three times as much memory.
        """
        self._read = None

    def mentions(self, *words: str) -> bool:
        """Return whether one of these may be a key or stand in a text."""
        return self._data is not None or self._text.mentions(words)

    def __contains__(self, key: str) -> bool:
        return self._text.holds((key,)) if self._data is None else key in self._data

    def at(self, path: Path) -> Any:
        """Return the value at `path`; None where there is none."""
        if self._data is None:
            return self._text.at(path)
        return functools.reduce(_step, path, self._data)

    def override(self, path: str, value: Any, words: str | None = None) -> None:
        """Set the value at `path` (`flows.F1.tcp.cc`, `links.*.rate`, `flows.0.send`).

        `words` are those of the user, which errors show; `--set PATH=VALUE` if not given.

        Raises:
            ScenarioError: the path leads nowhere, or the value is not one of a scenario.
        """
        words = words or f"--set {path}={_shown(value)}"
        for _, message, _ in flaws(value):
            raise ScenarioError([Problem(message, path=path, file=words)])
        try:
            changed = apply(self.data, path, value)
        except OverrideError as error:
            raise ScenarioError([error.problem]) from None
        self.overrides += [(place, words) for place in changed]

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
        if self._source[0]:
            # An unknown key is wrong itself, anything else is wrong about the value.
            line, column = self._text.locate(path, key=message.startswith("unknown key"))
        return Problem(message, shown, value, allowed, hint, self.file, line, column)

    def problems(self, found: str) -> list[Problem]:
        """Return the errors or warnings of `check`, placed as by `problem`."""
        entries = [(tuple(entry.pop("path")), entry) for entry in json.loads(found)]
        return [self.problem(path, **entry) for path, entry in entries]

    def placed(self, path: Path, error: ScenarioError) -> ScenarioError:
        """Return the error of a scenario as that of the values for it that stand here at `path`."""
        return ScenarioError(
            self.problem(
                path,
                ": ".join(filter(None, (one.path, one.message))),
                value=one.value,
                allowed=one.allowed,
                hint=one.hint,
            )
            for one in error.problems
        )

    def is_from_outside(self, path: Path) -> bool:
        """Whether the value at `path`, or a part of it, was set from outside."""
        return any(path[: len(p)] == p or p[: len(path)] == path for p, _ in self.overrides)

    def _is_written(self, path: Path) -> bool:
        """Return whether the value at `path` is in the text, rather than made by overrides."""
        return bool(self._source[0]) and self._text.holds(path)

    def describe(self, path: Path) -> str:
        """Return a path as `--set` writes it: `links.L1.rate`."""
        names: list[str] = []
        first = 0
        if path[:1] == ("set",) and len(path) > 1:
            place = self.at((*path[:2], "path"))
            if isinstance(place, str):
                # What stands there is set at the place that it names.
                names, first = [place], 3
        for end, step in enumerate(path[first:], first + 1):
            named = isinstance(step, int) and self.at((*path[:end], "id"))
            names.append(named if isinstance(named, str) else str(step))
        return ".".join(names)

    def tree(self) -> Node:
        """Return the text as nodes that know their places; only for a document that was read."""
        return self._text.nodes(Node)

    @property
    def _text(self) -> Text:
        if self._read is None:
            self._read, _ = _core.read_text(*self._source)
            assert self._read is not None  # it was read before
        return self._read


def _decode(raw: bytes, file: str) -> str:
    """Return UTF-8 text; a byte order mark and Windows line ends are accepted."""
    try:
        return raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        column = error.start - (raw.rfind(b"\n", 0, error.start) + 1) + 1
        hint = save_as_utf8(raw)
        problem = Problem("not UTF-8 text", hint=hint, file=file, line=line, column=column)
        raise ScenarioError([problem]) from None


def _shown(value: Any) -> str:
    """Return a value for messages; a class in Python is told by its name, not by its text."""
    if isinstance(value, dict) and "source" in value:
        value = {key: one for key, one in value.items() if key not in ("source", "origin")}
    return value if isinstance(value, str) else json.dumps(value, default=str)


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
    """Yield path, message and shown value of everything that is not document data.

    That is what JSON, through which a document goes to the simulator, cannot hold: values that are
    not finite, integers beyond 64 bits, broken text, other kinds of objects, bottomless nesting.
    """
    stack: list[tuple[Path, Any]] = [((), data)]
    while stack:
        path, value = stack.pop()
        if isinstance(value, dict | list) and len(path) >= _MAX_DEPTH:
            yield (path[:3], f"nested more than {_MAX_DEPTH} levels deep", None)
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
            yield (path, f"`{type(value).__name__}` is not a value of a scenario", None)
        elif not _is_text(value):
            yield (path, "text with half of a surrogate pair", None)


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
