"""Progress on a terminal: of a run in simulated time, of many runs as a bar."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ackclock.cli import figures
from ackclock.run import Progress

# A run that is over before anybody could read the line does not show one.
_QUIET_S = 0.4


@contextmanager
def progress_line(*, wanted: bool) -> Iterator[Callable[[Progress], None] | None]:
    """Give a function that shows progress; None when standard error is not a terminal."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    bar = Bar(
        BarColumn(bar_width=16),
        TextColumn("{task.description}"),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task("", total=1.0)
    shown = False

    def show(state: Progress) -> None:
        nonlocal shown
        if not shown and state.wall_s > _QUIET_S:
            bar.start()
            shown = True
        bar.update(task, completed=_share(state), description=describe(state))

    try:
        yield show
    finally:
        if shown:
            bar.stop()


@contextmanager
def progress_bar(
    words: Callable[[Any], str], *, wanted: bool, width: int
) -> Iterator[Callable[[Any], None] | None]:
    """Give a function that shows how many of many runs are done.

    It is called with a state that has `done` and `total`, which `words` describes. None when
    standard error is not a terminal. `width` is the width of the bar in characters.
    """
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    columns: tuple[Any, ...] = (BarColumn(bar_width=width), TextColumn("{task.description}"))
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0)

        def show(state: Any) -> None:
            share = state.done / state.total if state.total else 1.0
            bar.update(task, completed=share, description=words(state))

        yield show


def describe(state: Progress) -> str:
    """Return the progress in words."""
    speed = state.packet_hops / state.wall_s if state.wall_s > 0 else 0.0
    parts = [
        f"{state.now_s:.1f}/{state.stop_s:.4g} s",
        f"{figures.large(speed)} packet-hops/s",
        f"{state.flows_done}/{state.flows_total} flows done",
    ]
    share = _share(state)
    if share > 0:
        left = state.wall_s * (1 - share) / share
        parts.append(f"≤ {_clock(left)} left")
    return "  ".join(parts)


def _share(state: Progress) -> float:
    return min(1.0, state.now_s / state.stop_s) if state.stop_s > 0 else 1.0


def _clock(left_s: float) -> str:
    minutes, left = divmod(int(left_s + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"
