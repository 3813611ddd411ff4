"""Record tables as what is exported reads them, and the words for kinds of packets in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ackclock.metrics.records import Ints, Records

if TYPE_CHECKING:
    from ackclock.results import Results

__all__ = ["ACK", "DATA", "KINDS", "Flags", "Ints", "Records", "records"]

Flags = NDArray[np.bool_]

DATA, ACK, ROUTER, SYN, SYN_ACK, HANDSHAKE_ACK, FIN, WINDOW_PROBE = range(8)
KINDS = ("data", "ack", "router", "syn", "syn-ack", "handshake-ack", "fin", "window-probe")
"""Kinds of packets, in the order of the codes above."""


def records(results: Results, name: str) -> Records:
    """A record table as a whole."""
    return Records(results.table(name), name)
