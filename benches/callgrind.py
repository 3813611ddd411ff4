"""Instructions of programs and of the processes that they start, counted by callgrind."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

from ackclock.sweep import cluster, executor, session

SLOWER = 50
"""How many times as long a program takes under callgrind, about."""


def is_there() -> bool:
    """Return whether callgrind is installed."""
    return shutil.which("valgrind") is not None


def command(folder: Path) -> list[str]:
    """Return what to put before a command, so that counts go to a folder."""
    return [
        *("valgrind", "--tool=callgrind", "--trace-children=yes", "--quiet"),
        f"--callgrind-out-file={folder}/callgrind.%p",
    ]


def counts(folder: Path) -> list[tuple[str, int]]:
    """Return the command line and the instructions of each process that has ended."""
    found = []
    for path in folder.glob("callgrind.*"):
        text = path.read_text()
        started = re.search(r"^cmd: (.*)", text, re.MULTILINE)
        total = re.search(r"^totals: (\d+)", text, re.MULTILINE)
        if started and total:
            found.append((started[1], int(total[1])))
    return found


def stretch_time() -> None:
    """Let what sweeps and Dask do by the clock happen as often for each run as without callgrind.

    In the program that counts, and in processes of Dask that begin with this file (`--preload`).
    """
    executor._TURN_S *= SLOWER
    executor.LocalExecutor.batch_s *= SLOWER
    session._NEWS_S *= SLOWER
    session._PART_S *= SLOWER
    cluster.DaskExecutor.batch_s *= SLOWER
    cluster._LOOK_S *= SLOWER
    cluster._IMPATIENCE_S *= SLOWER
    if "tornado.ioloop" in sys.modules:
        _stretch_tornado()


def _stretch_tornado() -> None:
    from tornado.ioloop import PeriodicCallback

    real = PeriodicCallback._update_next

    def later(self: PeriodicCallback, now: float) -> None:
        every = self.callback_time
        self.callback_time = SLOWER * every
        real(self, now)
        self.callback_time = every

    PeriodicCallback._update_next = later
