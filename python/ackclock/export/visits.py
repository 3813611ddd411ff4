"""Visits of packets to links, put together from the records: came, started, arrived or dropped."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ackclock.arrays import Flags, Integers
from ackclock.export.columns import records
from ackclock.export.network import DIRECTIONS, Network
from ackclock.results import Results

NEVER = np.int64(-1)


@dataclass
class Visits:
    """Visits of packets to links; arrays of one length.

    Attributes:
        packet: Number of the packet.
        link: Place of the link in the scenario.
        origin: Node from which it travels.
        target: Node to which it travels.
        came_ns: When it arrived at the queue.
        start_ns: When its transmission began; `NEVER` if it did not.
        arrival_ns: When it reached the far end; `NEVER` if it did not.
        dropped_ns: When it was dropped, at the queue or on the way; `NEVER` if it was not.
        place: Among visits to a link at one moment, the order in which packets came; in the range
            of the packets' numbers, and equal to them where nothing else came.
    """

    packet: Integers
    link: Integers
    origin: Integers
    target: Integers
    came_ns: Integers
    start_ns: Integers
    arrival_ns: Integers
    dropped_ns: Integers
    place: Integers

    @classmethod
    def of(cls, results: Results, network: Network) -> Visits:
        """All visits of a run. Needs `transmissions`, `drops` and `waiting`."""
        carried, drops, waiting = (
            records(results, name) for name in ("transmissions", "drops", "waiting")
        )
        tables = (carried, drops, waiting)
        packet = np.concatenate([table.ints("packet_id") for table in tables])
        link = np.concatenate([table.places("link", network.links) for table in tables])
        direction = np.concatenate([table.places("direction", DIRECTIONS) for table in tables])
        reverse = np.concatenate([table.plain("reverse") for table in tables])
        came = np.concatenate(
            [carried.ns("entered_s"), drops.ns("entered_s"), waiting.ns("time_s")]
        )
        origin, target = network.ways(link, direction, reverse)

        first, second = len(carried), len(carried) + len(drops)
        start, arrival, dropped = (np.full(len(packet), NEVER) for _ in range(3))
        start[:first] = carried.ns("time_s")
        arrival[:first] = carried.ns("arrival_s")
        # A packet that was taken at the end of a link has a row there and one among the drops.
        on_way = _taken_on_way(packet, origin, target, arrival, came, first, second)
        dropped[first:second] = drops.ns("time_s")
        dropped[:first] = np.where(on_way[:first], arrival[:first], NEVER)
        end_ns = round(results.summary["end_s"] * 1e9)
        arrival[on_way | (arrival > end_ns)] = NEVER
        kept = np.full(len(packet), True)
        kept[first:second] = ~on_way[first:second] & (link[first:second] >= 0)
        made = cls(packet, link, origin, target, came, start, arrival, dropped, packet.copy())
        for name in vars(made):
            setattr(made, name, getattr(made, name)[kept])
        made._order(3 * link[kept] + direction[kept])
        return made

    def _order(self, channel: Integers) -> None:
        """Find the places: rows of a channel stand in the order in which packets came."""
        rows = np.arange(len(channel))
        in_order = np.lexsort((rows, self.came_ns, channel))
        by_number = np.lexsort((self.packet, self.came_ns, channel))
        self.place[in_order] = self.packet[by_number]

    def place_of_next(self) -> Integers:
        """For each visit the place of the packet's next one; its number where there is none."""
        order = np.lexsort((self.came_ns, self.packet))
        same = self.packet[order[1:]] == self.packet[order[:-1]]
        following = self.packet.copy()
        following[order[:-1][same]] = self.place[order[1:][same]]
        return following


def _taken_on_way(
    packet: Integers,
    origin: Integers,
    target: Integers,
    arrival: Integers,
    came: Integers,
    first: int,
    second: int,
) -> Flags:
    """Rows of packets that were transmitted and dropped at the end of the same link."""
    gone = slice(first, second)
    count = int(packet.max()) + 1 if len(packet) else 0
    row = np.full(count, -1)
    row[packet[gone]] = np.arange(first, second)
    drop = row[packet[:first]]
    same = (
        (drop >= 0)
        & (came[drop] == arrival[:first])
        & (origin[drop] == origin[:first])
        & (target[drop] == target[:first])
    )
    flags = np.zeros(len(packet), bool)
    flags[:first] = same
    flags[drop[same]] = True
    return flags
