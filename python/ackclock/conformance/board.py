"""A leaderboard: a file to which many people append their scorecards.

A line of JSON for each entry, appended under a lock, so that a shared folder will do. An entry
holds a digest of the program, not the program. The order is by how many checks have failed, then by
the mean rank over all scores: nobody's choice of weights, and one bad score costs no more than it
should.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from ackclock import locks
from ackclock.conformance import Card
from ackclock.conformance.checks import FAILED
from ackclock.errors import InputError

_FORMAT = "ackclock-leaderboard-1"
_MOST_BYTES = 64 << 20
_PATIENCE_S = 30.0
"""Somebody else's entry takes milliseconds."""


@dataclass(frozen=True)
class Entry:
    """A line of the board.

    Attributes:
        name: Who has entered.
        subject: Name of the class, or of the engine's algorithm.
        program: First digits of the SHA-256 of the program; empty for an algorithm of the engine.
        failed: Names of the checks that have failed.
        scores: The figure of each score; None where there is none.
        best: What is best of each score: `high`, `low`, or a figure.
    """

    name: str
    subject: str
    program: str
    failed: tuple[str, ...]
    scores: dict[str, float | None]
    best: dict[str, str | float]


@dataclass(frozen=True)
class Place:
    """An entry and its place: the mean of its ranks over all scores, 1 for the best."""

    entry: Entry
    rank: float


def enter(path: Path, name: str, card: Card, program: bytes | None) -> Entry:
    """Append a card to a board, which is made if it is not there.

    Raises:
        InputError: the file is something else, or somebody holds it for too long.
    """
    mine = {score.name: score.values[card.subject] for score in card.scores}
    entry = Entry(
        name,
        card.subject,
        "" if program is None else hashlib.sha256(program).hexdigest()[:12],
        tuple(check.name for check in card.checks if check.verdict == FAILED),
        mine,
        {score.name: score.best for score in card.scores},
    )
    document = {"format": _FORMAT, **vars(entry)}
    line = json.dumps(document, ensure_ascii=False, sort_keys=True) + "\n"
    with _opened(path, "a+b") as file:
        file.seek(0)
        found = file.read()
        _entries(path, found)
        # An editor may have left the last line without its end.
        file.write((b"" if found.endswith(b"\n") or not found else b"\n") + line.encode())
    return entry


def read(path: Path) -> list[Entry]:
    """Return the entries of a board, oldest first; none where there is no file.

    Raises:
        InputError: the file is not a board, or somebody holds it for too long.
    """
    if not path.exists():
        _check_folder(path)
        return []
    with _opened(path, "rb") as file:
        return _entries(path, file.read())


@contextmanager
def _opened(path: Path, mode: str) -> Iterator[IO[bytes]]:
    """Open a board while nobody else appends to it."""
    _check_folder(path)
    if path.exists() and (not path.is_file() or path.stat().st_size > _MOST_BYTES):
        raise InputError(f"'{path}' is not a leaderboard")
    with path.open(mode) as file:
        try:
            locks.take(file.fileno(), shared=mode == "rb", patience_s=_PATIENCE_S)
        except BlockingIOError:
            raise InputError(f"another process holds '{path}'; try again later") from None
        except OSError:
            pass  # A file system without locks: a line is still appended in one write.
        yield file


def _check_folder(path: Path) -> None:
    if not path.absolute().parent.is_dir():
        raise InputError(f"there is no folder '{path.parent}' for the leaderboard")


def _entries(path: Path, text: bytes) -> list[Entry]:
    entries = []
    for number, line in enumerate(text.decode("utf-8", "replace").splitlines(), 1):
        if line.strip():
            try:
                entries.append(_entry(json.loads(line)))
            except (ValueError, KeyError, TypeError):
                raise InputError(
                    f"'{path}', line {number}: not an entry of a leaderboard"
                ) from None
    return entries


def _entry(found: Any) -> Entry:
    if found["format"] != _FORMAT:
        raise ValueError
    scores = {
        str(name): None if value is None else float(value)
        for name, value in found["scores"].items()
    }
    best = {str(n): b if b in ("high", "low") else float(b) for n, b in found["best"].items()}
    name, subject, program = (str(found[key]) for key in ("name", "subject", "program"))
    return Entry(name, subject, program, tuple(map(str, found["failed"])), scores, best)


def places(entries: Sequence[Entry]) -> list[Place]:
    """Return the latest entry of each name, the best one first."""
    latest = list({entry.name: entry for entry in entries}.values())
    ranks: dict[str, list[float]] = {entry.name: [] for entry in latest}
    for score in dict.fromkeys(name for entry in latest for name in entry.scores):
        distances = {entry.name: _distance(entry, score) for entry in latest}
        for name, own in distances.items():
            better = sum(other < own for other in distances.values())
            equal = sum(other == own for other in distances.values())
            ranks[name].append(better + (equal + 1) / 2)
    found = [Place(one, sum(ranks[one.name]) / max(1, len(ranks[one.name]))) for one in latest]
    return sorted(found, key=lambda one: (len(one.entry.failed), one.rank, one.entry.name))


def _distance(entry: Entry, score: str) -> float:
    """How far a score is from the best; the smaller the better."""
    value, best = entry.scores.get(score), entry.best.get(score)
    if value is None or best is None:
        return float("inf")
    if isinstance(best, str):
        return -value if best == "high" else value
    return abs(value - best)
