"""Progress on a terminal: of a run in simulated time, of many runs as a bar."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ackclock.cli import figures
from ackclock.run import Progress

# A run that is over before anybody could read the line does not show one.
_QUIET_S = 0.4


def _done(state: Any) -> float:
    return state.done / state.total if state.total else 1.0


@contextmanager
def progress_bar(
    words: Callable[[Any], str],
    *,
    wanted: bool,
    width: int = 16,
    share: Callable[[Any], float] = _done,
    after_s: float = 0.0,
) -> Iterator[Callable[[Any], None]]:
    """Give a function that shows how far some work is; without a terminal it does nothing.

    Args:
        words: Describes a state, with which the function is called.
        wanted: Whether anything is to be shown.
        width: Width of the bar in characters.
        share: The share of the work that is done; by default that of many things.
        after_s: Nothing is shown before this many seconds.
    """
    if not wanted or not sys.stderr.isatty():
        yield lambda state: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (BarColumn(bar_width=width), TextColumn("{task.description}"))
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task("", total=1.0)
    started = time.monotonic()

    def show(state: Any) -> None:
        if not bar.live.is_started and time.monotonic() - started >= after_s:
            bar.start()
        bar.update(task, completed=share(state), description=words(state))

    try:
        yield show
    finally:
        bar.stop()


def progress_line(*, wanted: bool) -> Any:
    """Give a function that shows the progress of a run; see `progress_bar`."""
    return progress_bar(describe, wanted=wanted, share=_share, after_s=_QUIET_S)


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
