"""What the parts of a sweep hand to each other: a design, orders to simulate, and receipts."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ackclock import files_transfer
from ackclock.document import Document, apply
from ackclock.errors import ScenarioError
from ackclock.sweep import axes
from ackclock.sweep.axes import Dimension, Setting

SEEDS = 2**63
"""Seeds are below this: in the simulator they are 64 bits wide, files and programs count on 63."""


class Design:
    """What a study is, apart from how it is read and run.

    Attributes:
        name: What it is called.
        title: A line about it, or None.
        dimensions: What is varied, as `ackclock.sweep.axes.Dimension`.
        replications: Runs of each combination.
        settings: What is the same in all runs.
        base: The document that is varied.
        folder: Where relative paths in the scenario start.
        inline: Whether the scenario stands in the file of the study.
        file: Document of the study's file; None for a study made in Python.
    """

    name: str
    title: str | None
    dimensions: tuple[Dimension, ...]
    replications: int
    settings: tuple[Setting, ...]
    base: Document
    folder: Path
    inline: bool
    file: Document | None

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy is made of: of documents the text, which it reads again."""
        for document in filter(None, (self.base, self.file)):
            document.fold()
        return dict(vars(self))

    @property
    def columns(self) -> list[str]:
        """Names of the axes, in order."""
        return [axis.name for dimension in self.dimensions for axis in dimension.axes]

    @property
    def points(self) -> int:
        """Number of combinations."""
        return math.prod(map(len, self.dimensions))

    def __len__(self) -> int:
        """Return the number of runs."""
        return self.points * self.replications

    @cached_property
    def base_text(self) -> str:
        """The document that is varied, as JSON: a copy of it is made for each combination."""
        return json.dumps(self.base.data, ensure_ascii=False)

    @cached_property
    def _may_name_files(self) -> bool:
        """Whether a combination can name a file or a program: only then is each looked through."""
        choices = [c for d in self.dimensions for axis in d.axes for c in axis.choices]
        settings = [*self.settings, *(setting for choice in choices for setting in choice.settings)]
        texts = [self.base_text, *(json.dumps(setting.to_json()) for setting in settings)]
        return any(word in text for text in texts for word in ("file", "python"))

    def identity(self) -> dict[str, Any]:
        """Return what distinguishes this study from others, as plain data."""
        base = json.dumps(
            [self.base.data, [setting.to_json() for setting in self.settings]],
            sort_keys=True,
            ensure_ascii=False,
        )
        sampled = [axis.name for d in self.dimensions if d.method for axis in d.axes]
        return {
            "study": self.name,
            "title": self.title,
            "base": hashlib.sha256(base.encode()).hexdigest()[:16],
            "dimensions": [[axis.to_json() for axis in d.axes] for d in self.dimensions],
            "replications": self.replications,
            **({"sampled": sampled} if sampled else {}),
        }

    def settings_of(self, point: int) -> list[Setting]:
        """Return all that a combination sets: first what all runs share, then its choices."""
        chosen = axes.point(self.dimensions, point)
        return [*self.settings, *(setting for _, choice in chosen for setting in choice.settings)]

    @cached_property
    def _starts(self) -> list[Path | None]:
        """Where files start that the study names, and those of `--set`; None: where the base is."""
        beside = Path(self.file.file).parent if self.file and self.file.file else self.folder
        base = self.folder.resolve()
        return [None if one.resolve() == base else one.absolute() for one in (beside, Path())]

    def _placed(self, setting: Setting) -> Any:
        """Return what is set, with files where they are."""
        start = self._starts[setting.option is not None] if self._may_name_files else None
        if start is None:
            return setting.value
        key = setting.path.rpartition(".")[2]
        return _files_from(start, {key: setting.value})[key]

    def document_of(self, point: int) -> dict[str, Any]:
        """Return the document of a combination, files replaced by their sizes, nothing recorded.

        Raises:
            OverrideError: a path leads nowhere.
            ScenarioError: a file that is sent cannot be.
        """
        data = json.loads(self.base_text)
        for setting in self.settings_of(point):
            apply(data, setting.path, self._placed(setting))
        if self._may_name_files:
            document = Document(data)
            document.overrides = self.base.overrides  # their files start in the current folder
            prepared = files_transfer.prepare(document, self.folder)
            if prepared.problems:
                raise ScenarioError(prepared.problems)
            data = prepared.document.data
        return {**data, "record": "none"}


def _files_from(start: Path, value: Any) -> Any:
    """Return a value in which relative paths of files start at a folder."""
    if isinstance(value, dict):
        return {
            key: str(start / inner)
            if key == "file" and isinstance(inner, str) and not inner.startswith("~")
            else _files_from(start, inner)
            for key, inner in value.items()
        }
    return [_files_from(start, one) for one in value] if isinstance(value, list) else value


@dataclass(frozen=True)
class Runs:
    """Runs of one document with seeds that count on.

    Attributes:
        document: The scenario as JSON text; its own seed does not matter.
        first_seed: Seed of the first run.
        keys: The key of each run.
    """

    document: str
    first_seed: int
    keys: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.keys)


def parted(runs: Sequence[Runs], count: int) -> tuple[tuple[Runs, ...], tuple[Runs, ...]]:
    """Return the first ones of runs, and the others."""
    first: list[Runs] = []
    others: list[Runs] = []
    for one in runs:
        first.append(Runs(one.document, one.first_seed, one.keys[:count]))
        others.append(Runs(one.document, one.first_seed + count, one.keys[count:]))
        count = max(0, count - len(one))
    return tuple(filter(len, first)), tuple(filter(len, others))


@dataclass(frozen=True)
class Batch:
    """Runs that are simulated one after the other.

    Attributes:
        journal: The file that gets a line for finished runs; no other batch writes there.
        log: The file that gets a line for each start and end.
        runs: The runs.
        time_limit_s: A run that takes longer is given up and counts as failed; None for no limit.
        memory_limit: Bytes that a process may take; a run that needs more fails; None for no limit.
    """

    journal: Path
    log: Path
    runs: tuple[Runs, ...]
    time_limit_s: float | None = None
    memory_limit: int | None = None


@dataclass(frozen=True)
class Receipt:
    """Runs that are over and stand in the journal: `done` or `failed`, and how long they took."""

    keys: tuple[str, ...]
    status: str
    wall_s: float
