"""A process that simulates batches of runs: `python -m ackclock.sweep.worker`.

Batches come as lines of JSON on standard input, receipts go as lines to standard output. What
counts is in a file before it is reported: finished runs are a line in the batch's journal, written
with one call, so that nothing that ends this process or its parent can take it back.

Runs with equal settings are simulated together, as many as take a moment; a run that takes longer
is alone. The process ends when its input does, at once, even in the middle of a run. So no run goes
on unwatched when the parent was killed.
"""

from __future__ import annotations

import json
import os
import queue
import resource
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

# Runs that are simulated together take about this long: the most that a kill can cost a process,
# apart from a run that takes longer itself.
_TOGETHER_S = 0.05


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
        batch: `journal` and `log` (files to append to); `runs`, a list of document, first seed and
            keys; `together`, how many runs at most are simulated in one call; `time_limit_s`;
            `memory_limit`.
    """
    limit_memory(batch["memory_limit"])
    with appending(batch["journal"]) as journal, appending(batch["log"]) as log:
        for document, first_seed, keys in batch["runs"]:
            done, size = 0, 1
            while done < len(keys):
                some = keys[done : done + size]
                log_and_report(log, "start", some[0], len(some))
                started = time.perf_counter()
                count, columns, error = simulate(
                    document, first_seed + done, len(some), batch["time_limit_s"]
                )
                wall_s = time.perf_counter() - started
                if count:
                    append(journal, figures.done(some[:count], first_seed + done, columns))
                    log_and_report(log, "done", some[0], count, wall_s)
                if error is not None:
                    append(journal, figures.failed(some[count], first_seed + done + count, error))
                    log_and_report(log, "failed", some[count], 1, wall_s)
                    count += 1
                done += count
                size = max(1, min(8 * size, int(size * _TOGETHER_S / wall_s), batch["together"]))
    report("end")


def simulate(
    document: str, first_seed: int, count: int, time_limit_s: float | None
) -> tuple[int, str, str | None]:
    """Simulate runs; return how many were done, their figures, and why the next one failed."""
    try:
        scenario = _core.Scenario(document)
    except ValueError as error:
        return 0, "", str(error)
    return _core.rows(scenario, first_seed, count, figures.LAYOUT, time_limit_s)


def limit_memory(limit: int | None) -> None:
    """Let this process end when it asks for more memory than this many bytes."""
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = most if limit is None else limit
    # -1 stands for no limit.
    resource.setrlimit(resource.RLIMIT_DATA, (wanted if most == -1 else min(wanted, most), most))


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


def log_and_report(log: int, what: str, key: str, count: int, wall_s: float | None = None) -> None:
    """Write to the log what became of the runs from a key on, and to the parent."""
    words = (what, key, str(count), *([] if wall_s is None else [f"{wall_s:.6f}"]))
    append(log, entry(*words))
    report(*words)


def report(*words: str) -> None:
    """Write a line to the parent."""
    sys.stdout.write(" ".join(words) + "\n")
    sys.stdout.flush()


def entry(*words: str) -> str:
    """Return a line of the log: time, process, words."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00")
    return " ".join((now + "Z", str(os.getpid()), *words)) + "\n"


def journal_entries(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a journal, without the last one if it was cut off."""
    entries = []
    for line in path.read_bytes().split(b"\n")[:-1]:
        try:
            entries.append(json.loads(line))
        except ValueError:  # cut off by a full disk, and gone on after it
            continue
    return entries


if __name__ == "__main__":
    main()
