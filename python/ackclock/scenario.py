"""A scenario: an experiment as a document, checked and resolved to numbers."""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cached_property
from itertools import groupby
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex

from ackclock import files_transfer, library
from ackclock.document import SUFFIXES, Document, parse_value, require_plain
from ackclock.errors import InputError, Problem, ScenarioError, pairs_of
from ackclock.run_directory import left_behind

if TYPE_CHECKING:
    from ackclock import _core

MOST_HELD = 10_000
"""Flows and links together that become objects of Python without need."""

_PLAIN = frozenset((str, int, float, bool, type(None)))
_NOT_ASCII = re.compile(r"[^\x00-\x7e]")

Override = tuple[str, Any]
"""Path and value, as in `("flows.F1.tcp.cc", "reno")`."""


class Scenario:
    """A checked scenario. It does not change: `set` returns a new one.

    >>> import ackclock
    >>> scenario = ackclock.Scenario.load("caltech/test-case-0-fast")
    >>> slower = scenario.set("links.*.rate", "5 Mbps")
    >>> slower.links, slower.flows
    (['L1'], ['F1'])

    Two scenarios are equal if they describe the same run.

    >>> scenario == scenario.set("flows.F1.tcp.cc.alpha", 50), scenario == slower
    (True, False)

    A scenario that cannot be run never becomes an object: every way to make one raises
    `ScenarioError` with all its problems.

    Attributes:
        warnings: what is allowed but probably not meant.
    """

    def __init__(self, document: Document, path: Path | None = None) -> None:
        self._source = document
        self._path = path
        folder = Path() if path is None else path.parent
        self._prepared = files_transfer.prepare(document, folder)
        self._handle, warnings = _check(document, self._prepared)
        self.warnings = (*warnings, *self._prepared.warnings)
        document.fold()

    @classmethod
    def load(
        cls,
        path_or_name: str | Path,
        overrides: Iterable[Override] = (),
        seed: SupportsIndex | None = None,
    ) -> Scenario:
        """Load a scenario file, a scenario of the package by its name, or that of a run directory.

        Args:
            path_or_name: a file (`my.yaml`, also `.json` or `.toml`), a name
                (`caltech/test-case-0-fast`), or a run directory, whose resolved scenario is taken.
            overrides: paths and values, applied in order; text is read as by `--set`.
            seed: the seed of all random streams, instead of the file's.

        Raises:
            InputError: there is no such file or name.
            ScenarioError: the scenario cannot be run.
        """
        if not isinstance(path_or_name, str | PathLike):
            raise no_scenario(path_or_name, "a file, or a name such as 'teach/sawtooth'")
        path = find(Path(path_or_name) if isinstance(path_or_name, PathLike) else path_or_name)
        document = Document.read(path)
        for key in ("base", "scenario"):
            if key in document:
                message = "this file describes a sweep, not one scenario"
                hint = f"'ackclock sweep {path}' runs it"
                raise ScenarioError([document.problem((key,), message, hint=hint)])
        for place, value in pairs_of("overrides", overrides):
            document.override(place, _value(place, plain(value)))
        if seed is not None:
            number = plain(seed)
            document.override("seed", number, f"--seed {number}")
        # `set` reads the files that it names again; the current folder may be another one then.
        return cls(document, path.absolute())

    @classmethod
    def of(cls, given: Scenario | str | Path) -> Scenario:
        """Return a scenario as it is, or load that of a file, a name, or a run directory.

        Raises:
            InputError: there is no such file or name, or it is neither of these.
            ScenarioError: the scenario cannot be run.
        """
        return given if isinstance(given, Scenario) else cls.load(given)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Scenario:
        """Make a scenario from a document as in a scenario file: dicts, lists, text and numbers.

        Raises:
            ScenarioError: the scenario cannot be run.
        """
        if not isinstance(document, Mapping):
            raise no_scenario(document, "a mapping, as in a scenario file")
        data = plain(copy.copy(dict(document)))
        require_plain(data)
        return cls(Document(data))

    def set(self, path: str, value: Any) -> Scenario:
        """Return a copy with the value at `path` replaced.

        Files that the scenario names, such as programs, are read again: a changed one counts.

        Args:
            path: Keys with dots between them; elements of lists by id or by number, `*` for all:
                `links.L1.rate`, `flows.*.tcp.cc`.
            value: Data as in a document; text is read as by `--set` (`"5 Mbps"`, `"{kind: red}"`).

        Raises:
            ScenarioError: the path leads nowhere, or the scenario cannot be run with this value.
        """
        document = copy.copy(self._source)
        document.data = plain(self._source.data)
        document.overrides = list(self._source.overrides)
        document.override(path, _value(path, plain(value)))
        return Scenario(document, self._path)

    @property
    def document(self) -> dict[str, Any]:
        """The document as written, overrides applied, files replaced by their sizes.

        Do not change it.
        """
        return self._prepared.document.data

    @property
    def files(self) -> tuple[files_transfer.FileToSend, ...]:
        """The files that flows send, where `send` names a `file`."""
        return self._prepared.files

    @property
    def handle(self) -> _core.Scenario:
        """The checked scenario in the simulator, which runs take."""
        return self._handle

    @cached_property
    def canonical(self) -> dict[str, Any]:
        """The resolved document: all defaults filled in, runnable again. Do not change it."""
        return json.loads(self._handle.canonical())

    @cached_property
    def model(self) -> dict[str, Any]:
        """The resolved scenario in numbers (`_ns`, `_bps`, `_bytes`). Do not change it.

        Links and flows share what they have in common, so that very many fit into memory.
        """
        pieces: list[bytes] = []
        self._handle.write_model(pieces.append)
        model = json.loads(b"".join(pieces))
        for elements, shared in (("links", "natures"), ("flows", "transports")):
            common = model.pop(shared)
            for element in model[elements]:
                element.update(common[element.pop("like")])
        return model

    @cached_property
    def head(self) -> dict[str, Any]:
        """The part of `model` without nodes, links and flows, which is quick to get."""
        return json.loads(self._handle.head())

    @cached_property
    def fingerprint(self) -> str:
        """A checksum of the resolved document."""
        return self.canonical_sha256()

    def canonical_sha256(self, *, escaped: bool = False) -> str:
        """Return the SHA-256 of the resolved document as JSON with sorted keys.

        It is that of `json.dumps(canonical, sort_keys=True, ensure_ascii=escaped)`, without making
        all of it.
        """
        digest = hashlib.sha256()

        def add(piece: bytes) -> None:
            if escaped and not piece.isascii():
                text = piece.decode()
                piece = _NOT_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], text).encode()
            digest.update(piece)

        self._handle.write_canonical(add)
        return digest.hexdigest()

    @property
    def is_large(self) -> bool:
        """Whether it has so many flows and links that they stay in the engine where they can."""
        return self._handle.elements > MOST_HELD

    @property
    def name(self) -> str:
        """Name of the experiment, such as `caltech/test-case-2-fast`."""
        return self._handle.name

    @property
    def seed(self) -> int:
        """Seed of all random streams."""
        return self._handle.seed

    @property
    def flows(self) -> list[str]:
        """Names of the flows, in the order of the scenario."""
        return self._handle.flows

    @property
    def links(self) -> list[str]:
        """Names of the links, in the order of the scenario."""
        return self._handle.links

    @property
    def hosts(self) -> list[str]:
        """Names of the hosts, in the order of the scenario."""
        return self._handle.hosts

    @property
    def routers(self) -> list[str]:
        """Names of the routers, in the order of the scenario."""
        return self._handle.routers

    @property
    def source(self) -> Document:
        """The document with the places of its values. Do not change it."""
        return self._source

    @property
    def path(self) -> Path | None:
        """The file it was loaded from; None for one made in Python."""
        return self._path

    @property
    def overrides(self) -> list[str]:
        """What was set from outside, in order, as `--set PATH=VALUE` or `--seed N`."""
        # One that sets many values at once is there for each of them.
        return [option for option, _ in groupby(option for _, option in self._source.overrides)]

    @property
    def is_varied(self) -> bool:
        """Whether anything but the seed was set from outside."""
        return any(place != ("seed",) for place, _ in self._source.overrides)

    def __eq__(self, other: object) -> bool:
        """Whether both describe the same run: all values equal, written out or left to defaults."""
        if not isinstance(other, Scenario):
            return NotImplemented
        return self is other or self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __deepcopy__(self, memo: dict[int, Any]) -> Scenario:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Scenario.from_dict, (self.document,)

    def _repr_html_(self) -> str:
        """What a notebook shows: what is asked, flows and links."""
        from ackclock.tables.cards import scenario

        return scenario(self)

    def __repr__(self) -> str:
        return f"Scenario({self.name!r}, seed={self.seed})"


def find(path_or_name: str | Path) -> Path:
    """Return the file of a scenario: of a path, of a run directory, of a name of the package.

    Raises:
        InputError: there is none.
    """
    path = Path(path_or_name)
    if path.is_dir():
        inner = path / "scenario.yaml"
        if inner.is_file() and (path / "summary.json").is_file():
            return inner
    elif path.exists():
        return path
    text = str(path_or_name)
    if isinstance(path_or_name, Path) or path.suffix.lower() in SUFFIXES:
        is_folder = f"'{text}' is a folder, not a scenario file"
        raise InputError(is_folder if path.is_dir() else f"no such file: '{text}'")
    try:
        return library.find(text)
    except InputError:
        if left := left_behind(path):
            raise InputError(left) from None
        if path.is_dir():
            raise InputError(f"'{text}' is a folder, not a scenario file") from None
        for suffix in SUFFIXES:
            if text and (near := Path(f"{text}{suffix}")).is_file():
                message = f"there is no scenario '{text}'; did you mean the file '{near}'?"
                raise InputError(message) from None
        raise


def no_scenario(given: Any, wanted: str) -> InputError:
    """Return the error of something that is not a scenario."""
    hint = "; `Scenario.from_dict` takes mappings" if isinstance(given, Mapping) else ""
    return InputError(f"`{type(given).__name__}` is not a scenario; needed is {wanted}{hint}")


def plain(value: Any) -> Any:
    """Return a copy of a value with controllers in Python as mappings, and numpy's as Python's."""
    # Large networks have a million values of these kinds.
    if isinstance(value, dict):
        return {k: v if type(v) in _PLAIN else plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [v if type(v) in _PLAIN else plain(v) for v in value]
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        return value.tolist()
    # The engine is loaded already where there is a controller.
    kind = value if isinstance(value, type) else type(value)
    if any(base.__module__ == "ackclock.controllers" for base in kind.__mro__):
        from ackclock.controllers.classes import mapping
        from ackclock.controllers.loading import ProgramError

        try:
            return mapping(value)
        except ProgramError as error:
            raise ScenarioError([Problem(str(error), hint=error.hint)]) from None
    with suppress(TypeError):  # such as of a generator, which no document holds
        return copy.deepcopy(value)
    return value


def _value(path: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return parse_value(value)
    except ValueError as error:
        message = f"the value cannot be read: {error}"
        raise ScenarioError([Problem(message, path=path, file=f"--set {path}={value}")]) from None


def _check(
    document: Document, prepared: files_transfer.Prepared
) -> tuple[_core.Scenario, list[Problem]]:
    """Return the checked scenario and its warnings."""
    handle, errors, warnings = prepared.document.check()
    if handle is None or prepared.problems:
        problems = [*document.problems(errors), *prepared.problems]
        # In the order in which an editor shows the lines; what came from outside goes first.
        raise ScenarioError(sorted(problems, key=lambda p: (p.line or 0, p.column or 0)))
    return handle, document.problems(warnings)
