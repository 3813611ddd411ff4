"""A process that simulates batches of runs: `python -m ackclock.sweep.worker`.

Batches come as lines of JSON on standard input, receipts go as lines to standard output. What
counts is in a file before it is reported: a finished run is a line in the batch's journal, written
with one call, so that nothing that ends this process or its parent can take it back.

As many runs are simulated together as take a moment; a run that takes longer is alone, and so is
one with a program in Python, whose memory has to be free before the next one begins. The process
ends when its input does, at once, even in the middle of a run. So no run goes on unwatched when the
parent was killed.
"""

from __future__ import annotations

import gc
import json
import os
import queue
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from ackclock import _core, locks
from ackclock.aside import set_aside
from ackclock.errors import InputError, number_of, refuse, whole_number
from ackclock.sweep import figures

MOST_TIME_S = 2**64 / 1e9
"""No time that is written with a unit is longer."""

LEAST_MEMORY = 64_000_000
"""The lowest limit of memory, in bytes: a process takes 20 MB before it simulates anything."""


class _Receipts:
    """Where receipts go: standard output, set aside before programs of users might print there."""

    descriptor = 1


def main() -> None:
    """Work until the input ends."""
    # A controller that prints, prints nowhere: not between the receipts.
    descriptor, _Receipts.descriptor = set_aside(0, 1)
    orders = os.fdopen(descriptor, encoding="utf-8")
    # Ctrl-C is for the parent, which ends this process by closing its input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What stays until the end is nothing to look through after each run with a program.
    gc.freeze()
    batches: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(orders, batches), daemon=True).start()
    while True:
        work(json.loads(batches.get()))


def _listen(orders: IO[str], batches: queue.SimpleQueue[str]) -> None:
    for line in orders:
        batches.put(line)
    os._exit(0)


def work(batch: dict[str, Any]) -> None:
    """Simulate the runs of a batch.

    Args:
        batch: `journal` and `log` (files to append to); `runs`, a list of document, first seed and
            keys; `turn_s`, how long runs are simulated in one call; `time_limit_s`; `memory_limit`.
    """
    limit_memory(batch["memory_limit"])
    left, size, turn_s = batch["runs"], 1, batch["turn_s"]
    with appending(batch["journal"]) as journal, appending(batch["log"]) as log:
        while left:
            some, rest = parted(left, size)
            if programmed := any('"python"' in document for document, _, _ in some):
                some, rest = parted(left, 1)
            note(log, [("start", keys[0], len(keys)) for _, _, keys in some])
            started = time.perf_counter()
            rows, ends = _core.rows(some, figures.LAYOUT, batch["time_limit_s"], turn_s)
            wall_s = time.perf_counter() - started
            notes, back = [], []
            for index, (document, first_seed, keys) in enumerate(some):
                over = 0
                for what, count, its_s in ends[index] if index < len(ends) else ():
                    notes.append((what, keys[over], count, f"{its_s:.6f}"))
                    over += count
                if over < len(keys):
                    notes.append(("back", keys[over], len(keys) - over))
                    back.append((document, first_seed + over, keys[over:]))
            append(journal, rows)
            note(log, notes)
            done = sum(len(keys) for _, _, keys in some) - sum(len(keys) for _, _, keys in back)
            left = back + rest
            if programmed:
                # Its module and its classes refer to each other: they go with a full collection.
                gc.collect()
            size = max(1, min(8 * size, int(done * turn_s / wall_s)))
    report("end")


def parted(runs: list[Any], count: int) -> tuple[list[Any], list[Any]]:
    """Return the first ones of a list of document, first seed and keys, and the others."""
    first: list[Any] = []
    for index, (document, first_seed, keys) in enumerate(runs):
        first.append((document, first_seed, keys[:count]))
        if len(keys) >= count:
            rest = [(document, first_seed + count, keys[count:])] if len(keys) > count else []
            return first, rest + runs[index + 1 :]
        count -= len(keys)
    return first, []


def require_limits(time_limit_s: float | None, memory_limit: int | None, *, here: bool) -> None:
    """Check the limits of a run.

    Args:
        time_limit_s: Seconds; None for no limit.
        memory_limit: Bytes; None for no limit.
        here: Whether processes of this system are limited, rather than those of a cluster.

    Raises:
        InputError: a limit makes no sense, or this system cannot limit memory.
    """
    if (number_of("time_limit_s", time_limit_s, above=0) or 0.0) > MOST_TIME_S:
        wanted = f"a number above 0 and up to {MOST_TIME_S:.2g}; without a limit leave it out"
        refuse("time_limit_s", time_limit_s, wanted)
    if memory_limit is None:
        return
    if whole_number("memory_limit", memory_limit) < LEAST_MEMORY:
        refuse("memory_limit", memory_limit, f"a number of bytes from {LEAST_MEMORY} up")
    if here and find_spec("resource") is None:
        raise InputError("this system cannot limit the memory of a process; leave the limit out")


def limit_memory(limit: int | None) -> None:
    """Let this process end when it asks for more memory than this many bytes."""
    try:
        import resource
    except ImportError:
        assert limit is None, "`require_limits` has refused it"
        return
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = most if limit is None else limit
    # -1 stands for no limit.
    resource.setrlimit(resource.RLIMIT_DATA, (wanted if most == -1 else min(wanted, most), most))


@contextmanager
def appending(path: str | Path) -> Iterator[int]:
    """Give a descriptor of a file to append to."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | locks.BINARY, 0o666)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def append(descriptor: int, data: bytes) -> None:
    """Append data as a whole.

    Raises:
        OSError: the disk is full. A part may have been written; readers skip it.
    """
    while data:
        data = data[os.write(descriptor, data) :]


def note(log: int, notes: Sequence[tuple[object, ...]]) -> None:
    """Write to the log what becomes of runs, and to the parent.

    A note is `start`, `done`, `failed`, or `back` for runs that were not begun after all; the key
    of the first run, how many there are, and the seconds that they took.
    """
    append(log, b"".join(entry(*words) for words in notes))
    report(*(" ".join(map(str, words)) for words in notes))


def report(*lines: str) -> None:
    """Write lines to the parent."""
    append(_Receipts.descriptor, ("\n".join(lines) + "\n").encode())


def entry(*words: object) -> bytes:
    """Return a line of the log: time, process, words."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00")
    return " ".join((now + "Z", str(os.getpid()), *map(str, words))).encode() + b"\n"


if __name__ == "__main__":
    main()
