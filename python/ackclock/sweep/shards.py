"""Shards: parts of a study that jobs of a batch system simulate, each in a folder of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ackclock.errors import InputError
from ackclock.sweep import table as tables
from ackclock.sweep.results import SweepResults
from ackclock.sweep.store import PLAN, Store

_FOLDER = ".shard-{}-of-{}"


@dataclass(frozen=True)
class Shard:
    """One of several equal parts of the runs of a study.

    Attributes:
        number: Which one, from 1.
        of: How many there are.
    """

    number: int
    of: int

    @classmethod
    def read(cls, text: str) -> Shard:
        """Read `I/N`.

        Raises:
            InputError: this is not.
        """
        found = re.fullmatch(r"([0-9]{1,7})/([0-9]{1,7})", text.strip())
        if not found or not 1 <= int(found[1]) <= int(found[2]):
            raise InputError(f"--shard {text}: give I/N with I from 1 to N, such as 2/8")
        return cls(int(found[1]), int(found[2]))

    def folder(self, whole: Path) -> Path:
        """Return where this shard goes when the study goes to `whole`."""
        return whole.with_name(whole.name + _FOLDER.format(self.number, self.of))

    def part(self, ranges: Sequence[range]) -> list[range]:
        """Return the runs of this shard: equally many in each, give or take one."""
        total = sum(map(len, ranges))
        start, stop = (total * number // self.of for number in (self.number - 1, self.number))
        own: list[range] = []
        before = 0
        for runs in ranges:
            part = runs[max(0, start - before) : max(0, stop - before)]
            before += len(runs)
            if part:
                own.append(part)
        return own


def whole_of(folder: Path) -> Path:
    """Return where the study goes of which a folder holds a shard.

    Raises:
        InputError: there is no such folder, or its name does not say.
    """
    if not folder.is_dir():
        why = "is not a folder" if folder.exists() else "does not exist"
        raise InputError(f"'{folder}' {why}; simulate a shard with --shard I/N")
    name = re.sub(_FOLDER.format("[0-9]+", "[0-9]+").replace(".", r"\.") + "$", "", folder.name)
    if name == folder.name:
        raise InputError(f"'{folder}' is not called as a shard is; say with --out where to merge")
    return folder.with_name(name)


def merge(folders: Sequence[Path], out: Path, *, force: bool = False) -> SweepResults:
    """Put what several folders hold of one study into another one, which may hold some already.

    Args:
        folders: The folders; they stay as they are.
        out: Where to. `results.parquet` is written when no run is missing.
        force: Use a folder of another study.

    Raises:
        InputError: a folder holds no sweep, or that of another study or engine.
    """
    stores = [Store(folder) for folder in folders]
    for store in stores:
        if not store.exists():
            raise InputError(f"'{store.path}' holds no sweep")
    identity, planned = stores[0].identity(), tables.read(folders[0] / PLAN)
    for store in stores[1:]:
        if store.identity() != identity:
            raise InputError(f"'{store.path}' and '{folders[0]}' hold different studies")
        if not tables.read(store.path / PLAN).equals(planned):
            raise InputError(
                f"'{store.path}' and '{folders[0]}' were simulated by different versions of "
                "Ackclock, or with other files: results of both in one table would mislead"
            )
    target = Store(out)
    target.require(identity, force=force)
    with target.lock():
        target.prepare(identity, planned)
        target.take(stores)
        if (target.states(planned["key"]) != tables.MISSING).all():
            return SweepResults.write(target, planned, identity)
        return SweepResults.of(target.open(), planned, identity, out)
