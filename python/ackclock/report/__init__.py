"""A report of runs: one page that opens from a file and asks nobody for anything.

>>> from ackclock import report
>>> report.write([results], "report.html")                             # doctest: +SKIP

The page has the figures of `ackclock run`, the network with its packets in motion, and panels over
time that zoom together. The same records give the same bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock import files
from ackclock.errors import A_RUN, InputError, must_have, names_of, span_of

if TYPE_CHECKING:
    from ackclock.results import Results

__all__ = ["write"]

MOST_RUNS = 4


def write(
    runs: Results | Sequence[Results],
    place: str | PathLike[str],
    *,
    flows: Sequence[str] | None = None,
    links: Sequence[str] | None = None,
    animate: tuple[float, float] | None = None,
    force: bool = False,
) -> Path:
    """Write a report of runs and return its path.

    Args:
        runs: One run, or up to four, which are shown side by side.
        place: The file. An earlier report is replaced, anything else only with `force`.
        flows: The flows to show; default all, or the busiest of very many.
        links: The links to show at first; default those with something to see.
        animate: The span whose packets are shown in motion, seconds; default around the first loss.
        force: Replace whatever file stands there.

    Raises:
        InputError: a run has no records, there are too many runs, the span is not in the run, or
            the file is something else.
        OSError: the file cannot be written.

    Example:
        >>> import ackclock
        >>> from ackclock import report
        >>> results = ackclock.run(ackclock.Scenario.load("teach/tail-loss"))
        >>> report.write([results], "report.html").name
        'report.html'
    """
    path = files.page(place, "report", force=force)
    animate = span_of("animate", animate)
    runs = runs if isinstance(runs, Sequence) else [runs]
    if not 1 <= len(runs) <= MOST_RUNS:
        raise InputError(f"a report shows 1 to {MOST_RUNS} runs side by side, not {len(runs)}")
    for run in runs:
        must_have(run, "tables", "summary", name="runs", wanted=f"{A_RUN}, or several")
        _require_records(run)
        end_s = float(run.summary["end_s"])
        if animate is not None and animate[0] >= end_s:
            raise InputError(f"the run ends at {end_s:g} s: there is nothing at {animate[0]:g} s")
    from . import page

    text = page.html(
        dict(zip(_names(runs), runs, strict=True)),
        None if flows is None else names_of("flows", flows, "F1"),
        None if links is None else names_of("links", links, "L1"),
        animate,
    )
    files.write_text(path, text)
    return path


def _require_records(run: Results) -> None:
    from .series import NEEDS

    if not set(NEEDS.values()) & set(run.tables):
        place = run.directory or run.summary["scenario"]
        raise InputError(
            f"'{place}' has none of the records that a report shows ({', '.join(NEEDS.values())}); "
            "run it again with `record: all` (--set record=all)"
        )


def _names(runs: Sequence[Results]) -> list[str]:
    """What the runs are called: their folders, with as much of the path as distinguishes them."""
    places = [run.directory for run in runs]
    short = [
        files.readable(run.directory.name) if run.directory else run.summary["scenario"]
        for run in runs
    ]
    count = Counter(short)
    names = [
        files.readable(str(place)) if count[name] > 1 and place else name
        for name, place in zip(short, places, strict=True)
    ]
    return [
        f"{name} ({number})" if names.count(name) > 1 else name
        for number, name in enumerate(names, 1)
    ]
