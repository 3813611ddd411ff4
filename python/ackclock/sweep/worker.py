"""A process that simulates batches of runs: `python -m ackclock.sweep.worker`.

Batches come as lines of JSON on standard input, receipts go as lines to standard output. What
counts is in a file before it is reported: each finished run is a line in the batch's journal,
written with one call, so that nothing that ends this process or its parent can take it back.

The process ends when its input does, at once, even in the middle of a run. So no run goes on
unwatched when the parent was killed.
"""

from __future__ import annotations

import json
import math
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ackclock import _core
from ackclock.sweep import figures


def main() -> None:
    """Work until the input ends."""
    # Ctrl-C is for the parent, which ends this process by closing its input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    batches: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(batches,), daemon=True).start()
    while True:
        work(json.loads(batches.get()))


def _listen(batches: queue.SimpleQueue[str]) -> None:
    for line in sys.stdin:
        batches.put(line)
    os._exit(0)


def work(batch: dict[str, Any]) -> None:
    """Simulate the runs of a batch.

    Args:
        batch: `journal` and `log` (files to append to) and `runs`, a list of key, seed, document.
    """
    with appending(batch["journal"]) as journal, appending(batch["log"]) as log:
        for key, seed, document in batch["runs"]:
            report("start", key)
            append(log, entry("start", key))
            started = time.perf_counter()
            row = simulate(key, seed, document)
            wall_s = time.perf_counter() - started
            append(journal, json.dumps(row, ensure_ascii=False) + "\n")
            append(log, entry(row["status"], key, f"{wall_s:.6f}"))
            report(row["status"], key, f"{wall_s:.6f}")
    report("end")


def simulate(key: str, seed: int, document: str) -> dict[str, Any]:
    """Return the row of a run."""
    try:
        simulation = _core.Simulation(_core.Scenario(document))
    except ValueError as error:
        return figures.failed(key, seed, str(error))
    simulation.advance(math.inf)  # in one turn
    return figures.row(key, seed, json.loads(simulation.finish().summary))


@contextmanager
def appending(path: str | Path) -> Iterator[int]:
    """Give a descriptor of a file to append to."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def append(descriptor: int, text: str) -> None:
    """Append a text as a whole.

    Raises:
        OSError: the disk is full. A part may have been written; readers skip it.
    """
    data = text.encode()
    while data:
        data = data[os.write(descriptor, data) :]


def report(*words: str) -> None:
    """Tell the parent."""
    sys.stdout.write(" ".join(words) + "\n")
    sys.stdout.flush()


def entry(*words: str) -> str:
    """Return a line of the log: time, process, words."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00")
    return " ".join((now + "Z", str(os.getpid()), *words)) + "\n"


def journal_rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a journal, without the last one if it was cut off."""
    rows = []
    for line in path.read_bytes().split(b"\n")[:-1]:
        try:
            rows.append(json.loads(line))
        except ValueError:  # cut off by a full disk, and gone on after it
            continue
    return rows


if __name__ == "__main__":
    main()
