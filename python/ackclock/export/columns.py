"""Record tables as what is exported reads them, and the words for kinds of packets in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.arrays import Flags, Integers
from ackclock.metrics.records import Records

if TYPE_CHECKING:
    from ackclock.results import Results

__all__ = ["ACK", "DATA", "KINDS", "Flags", "Integers", "Records", "records"]


DATA, ACK, ROUTER, SYN, SYN_ACK, HANDSHAKE_ACK, FIN, WINDOW_PROBE = range(8)
KINDS = ("data", "ack", "router", "syn", "syn-ack", "handshake-ack", "fin", "window-probe")
"""Kinds of packets, in the order of the codes above."""


def records(results: Results, name: str) -> Records:
    """A record table as a whole."""
    return Records(results.table(name), name)
