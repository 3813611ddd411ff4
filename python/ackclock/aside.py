"""Streams that a process sets aside before it runs programs of users."""

from __future__ import annotations

import os


def set_aside(*streams: int, printed_to: int | None = None) -> list[int]:
    """Take standard streams (0, 1, 2) out of the reach of programs that this process runs.

    What these print then cannot come between the lines of a conversation, and they cannot read it.

    Args:
        streams: Numbers of streams. A program that reads one finds it empty.
        printed_to: The stream that gets what programs print; nothing gets it by default.

    Returns:
        A descriptor for each, for this process alone.
    """
    kept = [os.dup(stream) for stream in streams]
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in streams:
        reads = stream == 0
        os.dup2(nowhere if reads or printed_to is None else printed_to, stream)
    os.close(nowhere)
    return kept
