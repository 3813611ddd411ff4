"""What the shell completes: names of scenarios, flows, links and plots.

`ackclock --install-completion` switches it on.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock.errors import AckclockError

if TYPE_CHECKING:
    from ackclock.scenario import Scenario


def scenarios(incomplete: str) -> Iterator[str]:
    """Names of the package, scenario files and run directories that begin so."""
    from ackclock import library

    yield from (name for name in library.names() if name.startswith(incomplete))
    yield from _places(incomplete)


def runs(incomplete: str) -> Iterator[str]:
    """Folders and scenario files that begin so."""
    yield from _places(incomplete)


def flows(incomplete: str) -> Iterator[str]:
    """Names of the flows of the scenario or run that is on the line."""
    yield from _after_comma(incomplete, _names("flows"))


def links(incomplete: str) -> Iterator[str]:
    """Names of the links of the scenario or run that is on the line."""
    yield from _after_comma(incomplete, _names("links"))


def plots(incomplete: str) -> Iterator[str]:
    """Names of plots."""
    from ackclock import plots as all_plots

    yield from _after_comma(incomplete, all_plots.names())


def _after_comma(incomplete: str, names: list[str]) -> Iterator[str]:
    """Names that may stand after what is written already, which separates them by commas."""
    done, comma, last = incomplete.rpartition(",")
    chosen = set(done.split(","))
    for name in names:
        if name.startswith(last) and name not in chosen:
            yield f"{done}{comma}{name}"


def _names(what: str) -> list[str]:
    """What the first scenario or run on the line has of this kind.

    The line is read from where the shell put it: typer parses nothing of it while an option waits
    for its value.
    """
    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or ""
    try:
        words = shlex.split(line)
    except ValueError:  # a quote that is not closed yet
        words = line.split()
    for word in words[2:]:
        if not word.startswith("-") and (scenario := _load(word)) is not None:
            return list(getattr(scenario, what))
    return []


def _load(place: Any) -> Scenario | None:
    from ackclock.scenario import Scenario

    try:
        return Scenario.load(place)
    except (AckclockError, OSError):
        return None


def _places(incomplete: str) -> Iterator[str]:
    from ackclock.document import SUFFIXES

    folder, slash, start = incomplete.rpartition("/")
    try:
        found = sorted(Path(f"{folder}{slash}" or ".").iterdir())
    except OSError:
        return
    for path in found:
        if path.name.startswith(start) and not path.name.startswith("."):
            if path.is_dir():
                yield f"{folder}{slash}{path.name}/"
            elif path.suffix.lower() in SUFFIXES:
                yield f"{folder}{slash}{path.name}"
