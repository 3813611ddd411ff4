"""A run directory on disk: complete or absent, and never anybody else's files."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ackclock.errors import InputError
from ackclock.files import require_folder_above, umask


@dataclass(frozen=True)
class _Files:
    """Names inside a run directory."""

    scenario: str = "scenario.yaml"
    summary: str = "summary.json"
    records: str = "records"
    received: str = "received"
    plots: str = "plots"
    exports: str = "exports"
    log: str = "log.txt"

    def all(self) -> set[str]:
        return {
            self.scenario,
            self.summary,
            self.records,
            self.received,
            self.plots,
            self.exports,
            self.log,
        }


FILES = _Files()


class RunDirectory:
    """The place of one run directory.

    Attributes:
        path: where it is or will be.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def is_run(self) -> bool:
        """Return whether a complete run directory is here."""
        return (self.path / FILES.summary).is_file() and (self.path / FILES.scenario).is_file()

    def require_free(self, scenario: str, seed: int, *, force: bool = False) -> None:
        """Check that a run of this scenario and seed may be written here.

        Raises:
            InputError: something is in the way that must not be replaced.
        """
        if not os.path.lexists(self.path):
            require_folder_above(self.path)
            return
        shown = f"'{self.path}'"
        if self.path.is_symlink() or not self.path.is_dir():
            raise InputError(f"{shown} exists and is not a folder; choose another with --out")
        found = {entry.name for entry in self.path.iterdir()}
        if not found:
            return
        if not self.is_run():
            raise InputError(
                f"{shown} exists and is not a run directory; it is left alone, "
                "choose another place with --out"
            )
        if foreign := sorted(found - FILES.all()):
            raise InputError(
                f"{shown} holds '{foreign[0]}', which no run wrote; it is left alone, "
                "choose another place with --out"
            )
        there = self._identity()
        if not force and there != (scenario, seed):
            raise InputError(
                f"{shown} holds a run of '{there[0]}' with seed {there[1]}; "
                "choose another place with --out, or replace it with --force"
            )

    def _identity(self) -> tuple[Any, Any]:
        try:
            summary = json.loads((self.path / FILES.summary).read_text(encoding="utf-8"))
            return summary["scenario"], summary["seed"]
        except (ValueError, KeyError, TypeError):
            return ("an unreadable summary", None)

    @contextmanager
    def replacement(self) -> Iterator[Path]:
        """Give an empty directory beside this one; on success it takes this one's place.

        Everything is on disk before the name changes. On an error, the directory that was here
        stays as it was and nothing is left beside it.
        """
        parent = self.path.absolute().parent
        parent.mkdir(parents=True, exist_ok=True)
        staging = Path(
            tempfile.mkdtemp(prefix=f".{self.path.name}.", suffix=".partial", dir=parent)
        )
        try:
            yield staging
            staging.chmod(0o777 & ~umask())
            _sync(staging)
            self._take_place(staging)
            _sync_folder(parent)
        except BaseException:
            shutil.rmtree(staging, ignore_errors=True)
            raise

    def _take_place(self, staging: Path) -> None:
        if not os.path.lexists(self.path):
            staging.rename(self.path)
            return
        old = Path(f"{staging}.old")
        self.path.rename(old)
        try:
            staging.rename(self.path)
        except BaseException:
            with suppress(OSError):
                old.rename(self.path)
            raise
        shutil.rmtree(old, ignore_errors=True)


def _sync(directory: Path) -> None:
    """Force a directory and all below it to disk."""
    for folder, _, files in os.walk(directory):
        for file in files:
            with (Path(folder) / file).open("rb") as stream:
                os.fsync(stream.fileno())
        _sync_folder(Path(folder))


def _sync_folder(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
