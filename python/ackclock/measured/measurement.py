"""What all kinds of measurements give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ackclock.arrays import Floats


class Measurement(NamedTuple):
    """A connection that was measured.

    Attributes:
        name: What it was read from.
        connection: Its ends, as the file names them.
        series: Times in seconds since its first data, and values, by quantity: `window`
            (congestion window, packets), `flight` (sent and not acknowledged, packets), `rtt`
            (seconds; of `ss` smoothed, of a capture samples).
    """

    name: str
    connection: str
    series: Mapping[str, tuple[Floats, Floats]]
