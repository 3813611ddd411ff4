"""Doing something again whenever a file changes, until Ctrl-C."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ackclock.cli.terminal import echo_error, show_error
from ackclock.errors import AckclockError

_LOOK_S = 0.25
"""How long to wait between two looks at the files, seconds."""

_State = dict[Path, tuple[int, int] | None]


def watch(places: Sequence[Path], act: Callable[[Sequence[Path]], None]) -> None:
    """Call `act` with run directories now, and again after each change.

    An error is shown, and what is wrong can be corrected meanwhile. A scenario among the places is
    run first; `act` gets the run directory.

    Args:
        places: Run directories, sweeps and scenario files.
        act: What to do with the run directories.

    Raises:
        AckclockError: it cannot be done even the first time.
    """
    first = True
    before: _State = {}
    try:
        while True:
            now = _state(places)
            if now == before:
                time.sleep(_LOOK_S)
                continue
            before = now
            try:
                act([_run_of(place) for place in places])
            except AckclockError as error:
                if first:
                    raise
                show_error(error)
            first = False
            echo_error(f"watching {', '.join(map(str, places))}; Ctrl-C ends")
    except KeyboardInterrupt:
        echo_error("")


def _run_of(place: Path) -> Path:
    """A run directory as it is; of a scenario file, that of a new run."""
    from ackclock import run
    from ackclock.cli.run import default_directory
    from ackclock.scenario import Scenario

    if place.is_dir() or not _is_scenario(place):
        return place
    scenario = Scenario.load(place)
    results = run(scenario, directory=default_directory(scenario), other_settings=True)
    return results.directory or default_directory(scenario)


def _is_scenario(place: Path) -> bool:
    from ackclock.document import SUFFIXES

    return place.suffix.lower() in SUFFIXES


def _state(places: Sequence[Path]) -> _State:
    """What the files that matter look like: each with its time and number, or None."""
    found: _State = {}
    for place in places:
        for path in _files(place):
            try:
                status = path.stat()
            except OSError:
                found[path] = None
            else:
                found[path] = (status.st_mtime_ns, status.st_ino)
    return found


def _files(place: Path) -> Iterator[Path]:
    """The files that say that a place has changed."""
    if place.is_dir():
        yield from (place / "summary.json", place / "results.parquet")
        return
    yield place
    if _is_scenario(place):
        from ackclock.document import Document

        try:
            named = list(_named(Document.read(place).data))
        except (AckclockError, OSError):
            return
        yield from (place.parent / name for name in named)


def _named(document: Any) -> Iterator[str]:
    """The files that a scenario names: its programs, rates and data."""
    if isinstance(document, dict):
        for key, value in document.items():
            if key == "file" and isinstance(value, str):
                yield value
            else:
                yield from _named(value)
    elif isinstance(document, list):
        for value in document:
            yield from _named(value)
