"""A run directory on disk: complete or absent, and never anybody else's files."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from ackclock import locks
from ackclock.errors import AckclockError, InputError, path_of
from ackclock.files import SWEEP, require_folder_above, umask


class _Files(NamedTuple):
    """Names inside a run directory."""

    scenario: str = "scenario.yaml"
    summary: str = "summary.json"
    records: str = "records"
    received: str = "received"
    plots: str = "plots"
    exports: str = "exports"
    log: str = "log.txt"
    manifest: str = "manifest.json"
    lock: str = ".lock"

    def all(self) -> set[str]:
        return set(self)


FILES = _Files()

UNFINISHED = ".partial"
"""Ends the name of a run directory that is being written, or whose process has died."""


class RunDirectory:
    """The place of one run directory.

    Attributes:
        path: where it is or will be.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = path_of("directory", path)

    def is_run(self) -> bool:
        """Return whether a complete run directory is here."""
        return (self.path / FILES.summary).is_file() and (self.path / FILES.scenario).is_file()

    def require_free(
        self, scenario: str, seed: int, fingerprint: str | None = None, *, force: bool = False
    ) -> bool:
        """Check that a run of this scenario and seed may be written here.

        Args:
            scenario: Name of the scenario.
            seed: Its seed.
            fingerprint: Of the resolved scenario; none for any scenario of this name and seed.
            force: Replace a run of another scenario.

        Returns:
            Whether an older run is here, which will be replaced.

        Raises:
            InputError: something is in the way that must not be replaced.
        """
        if not os.path.lexists(self.path):
            require_folder_above(self.path)
            return False
        shown = f"'{self.path}'"
        if self.path.is_symlink() or not self.path.is_dir():
            raise InputError(f"{shown} exists and is not a folder; choose another place (--out)")
        found = {entry.name for entry in self.path.iterdir()}
        if not found:
            return False
        if not self.is_run():
            raise InputError(
                f"{shown} exists and is not a run directory; it is left alone, "
                "choose another place (--out)"
            )
        if foreign := sorted(found - FILES.all()):
            raise InputError(
                f"{shown} holds '{foreign[0]}', which no run wrote; it is left alone, "
                "choose another place (--out)"
            )
        if force:
            return True
        there = self._identity()
        how = "choose another place (--out), or replace it with `force` (--force)"
        if there[:2] != (scenario, seed):
            raise InputError(f"{shown} holds a run of '{there[0]}' with seed {there[1]}; {how}")
        if fingerprint is not None and there[2] not in (None, fingerprint):
            raise InputError(f"{shown} holds a run of '{scenario}' with other settings; {how}")
        return True

    def _identity(self) -> tuple[Any, Any, Any]:
        try:
            summary = json.loads((self.path / FILES.summary).read_text(encoding="utf-8"))
            known = self.path / FILES.manifest
            text = known.read_text(encoding="utf-8") if known.is_file() else "{}"
            return summary["scenario"], summary["seed"], json.loads(text).get("scenario")
        except (ValueError, KeyError, TypeError, AttributeError):
            return "an unreadable summary", None, None

    @contextmanager
    def unfinished(self, *, force: bool = False) -> Iterator[Unfinished]:
        """Give an empty directory beside this one, `NAME.partial`, for a run to be written into.

        `Unfinished.complete` gives it its place. On an error before that it is removed, unless it
        holds something to keep; if the process dies it stays, with all that was written.

        Args:
            force: Throw away the records that a process that died has left there.

        Raises:
            InputError: another process is writing a run there, or it holds something else.
            AckclockError: the disk is full; records that were written stay there.
        """
        self.path.absolute().parent.mkdir(parents=True, exist_ok=True)
        place = self.path.absolute()
        place = place.with_name(f"{place.name}{UNFINISHED}")
        unfinished = Unfinished(place, _locked(place))
        try:
            if not force and any((place / FILES.records).rglob("*.parquet")):
                unfinished.keep = True
                raise InputError(
                    f"'{place}' holds the records of a run whose process died; move them away, or "
                    "let them be replaced with `force` (--force)"
                )
            for entry in place.iterdir():
                if entry.name != FILES.lock:
                    shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
            try:
                yield unfinished
            except OSError as error:
                if error.errno not in NO_ROOM:
                    raise
                raise unfinished.no_room() from None
        except BaseException:
            if not unfinished.done and not unfinished.keep:
                shutil.rmtree(place, ignore_errors=True)
            raise
        finally:
            unfinished.unlock()

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


NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What the system calls a full disk, a quota that is used up, and a limit to the size of files."""


class Unfinished:
    """A run directory that is being written.

    Attributes:
        path: where it is.
        lock: descriptor of the lock that keeps others away, while it does.
        done: whether it has its place.
        keep: whether it stays where it is after an error.
    """

    def __init__(self, path: Path, lock: int) -> None:
        self.path = path
        self.lock: int | None = lock
        self.done = False
        self.keep = False

    def no_room(self) -> AckclockError:
        """Keep the records written to a disk that is full now; return the error that says so."""
        self.keep |= any((self.path / FILES.records).rglob("*.parquet"))
        what = "the records that were written stay there" if self.keep else "nothing was kept"
        return AckclockError(
            f"no room is left on the disk of '{self.path}' for the results of the run; {what}. "
            "Free some, or choose another place (--out)"
        )

    def unlock(self) -> None:
        """Let others have the directory; once is enough."""
        if self.lock is not None:
            os.close(self.lock)
        self.lock = None

    def complete(self, target: RunDirectory) -> None:
        """Let it take the place of a run directory. All is on disk before the name changes.

        On an error, the directory that was there stays as it was.
        """
        self.path.chmod(0o777 & ~umask())
        _sync(self.path)
        if not locks.FOLDERS:
            self.unlock()
        target._take_place(self.path)
        self.done = True
        # Only now: whoever takes the lock before finds that its file has moved.
        (target.path / FILES.lock).unlink(missing_ok=True)
        _sync_folder(target.path.absolute().parent)


def _locked(place: Path) -> int:
    """Make a directory, or take one that a process that died has left, and lock it."""
    while True:
        if place.is_symlink() or (os.path.lexists(place) and not place.is_dir()):
            raise InputError(f"'{place}' is in the way: the run is written there until it is done")
        place.mkdir(exist_ok=True)
        if foreign := sorted({entry.name for entry in place.iterdir()} - FILES.all()):
            raise InputError(
                f"'{place}' holds '{foreign[0]}', which no run wrote; it is left alone, "
                "choose another place (--out)"
            )
        lock = os.open(place / FILES.lock, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            locks.take(lock)
            if os.path.samestat(os.fstat(lock), (place / FILES.lock).stat()):
                return lock
        except BlockingIOError:
            os.close(lock)
            raise InputError(
                f"another process is writing a run to '{place}'; wait until it is done, "
                "or choose another place (--out)"
            ) from None
        except FileNotFoundError:
            pass  # The other one is done, and the directory has its place.
        os.close(lock)


def _sync(directory: Path) -> None:
    """Force a directory and all below it to disk."""
    for folder, _, files in os.walk(directory):
        for file in files:
            with (Path(folder) / file).open("r+b") as stream:
                os.fsync(stream.fileno())
        _sync_folder(Path(folder))


def _sync_folder(directory: Path) -> None:
    if not locks.FOLDERS:
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def left_behind(path: Path) -> str:
    """What there is instead of a run: one that has not ended, or a sweep; empty if nothing."""
    if (path / SWEEP).is_file():
        return (
            f"'{path}' is the folder of a sweep, with figures of its runs and without records; "
            "see 'ackclock table' and 'ackclock plot'"
        )
    if not path.name.endswith(UNFINISHED):
        path = path.with_name(f"{path.name}{UNFINISHED}") if path.name else path
    tables = sorted({part.parent for part in path.glob(f"{FILES.records}/*/part-*.parquet")})
    if not tables:
        return ""
    return (
        f"'{path}' is from a run that was interrupted or is still going: it has no "
        f"summary. Its records ({', '.join(table.name for table in tables)}) can be read, for "
        f"example by pandas.read_parquet('{tables[0]}')"
    )
