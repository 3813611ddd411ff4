"""The packets of a short span of a run, with all that the animation shows of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ackclock.arrays import Flags, Integers
from ackclock.export.columns import ACK, DATA, KINDS, records
from ackclock.export.network import Network
from ackclock.export.visits import NEVER, Visits

from .cut import Grid
from .pack import Pack, time_unit

if TYPE_CHECKING:
    from ackclock.results import Results

USUAL, MOST = 12_000, 60_000
"""How many visits of packets to links are shown, unasked and at most."""

NEEDED = ("transmissions", "drops", "waiting")
_BEFORE = 0.3
"""The share of the visits that is shown before the first loss."""

_TIMES = {
    "transmissions": ("entered_s", "arrival_s"),
    "drops": ("entered_s", "time_s"),
    "waiting": ("time_s", None),
}
"""When a packet came to a link, and when it was gone."""


@dataclass
class _Part:
    """Some rows of a run, as `Visits` reads them."""

    summary: Any
    tables: dict[str, pa.Table]

    def table(self, name: str) -> pa.Table:
        return self.tables[name]


def span(
    results: Results, asked: tuple[float, float] | None, share: float = 1.0
) -> tuple[float, float] | None:
    """The span of time to show, or None where there is nothing.

    As asked, but not more than a share of `MOST` visits; or else around the first loss.
    """
    usual, most = round(share * USUAL), round(share * MOST)
    if not set(NEEDED) <= set(results.tables):
        return None
    end_s = float(results.summary["end_s"]) or 1.0
    grid = Grid(end_s)
    counts = np.zeros(grid.count, np.int64)
    for piece in results.pieces("transmissions", ["time_s"]):
        counts += np.bincount(grid.of(piece["time_s"].to_numpy()), minlength=grid.count)
    before = np.concatenate(([0], np.cumsum(counts)))
    if not before[-1]:
        return None
    if asked is not None:
        first = int(grid.of(np.array([asked[0]]))[0])
        last = int(np.searchsorted(before, before[first] + most, side="right"))
        return asked[0], min(asked[1], end_s, grid.begin_s(max(last - 1, first + 1)))
    lost = [p["time_s"].to_numpy().min() for p in results.pieces("drops", ["time_s"]) if len(p)]
    starts = [flow["start_ns"] * 1e-9 for flow in results.model["flows"]]
    at = int(grid.of(np.array([min(lost or starts or [0.0])]))[0])
    ahead = _BEFORE * usual if lost else 0
    least = max(0, min(int(before[at] - ahead), int(before[-1]) - usual))
    first = int(np.searchsorted(before, least, side="right")) - 1
    last = int(np.searchsorted(before, least + usual))
    return grid.begin_s(first), min(grid.begin_s(min(last, grid.count)), end_s)


def why_not(results: Results) -> str:
    """Why no packets can be shown, and what to do."""
    missing = [name for name in NEEDED if name not in results.tables]
    if not missing:
        return "no packet was sent."
    settings = " ".join(f"--set record.{name}=changes" for name in missing)
    return f"this run has not recorded {', '.join(missing)}; run it again with {settings}."


def packed(
    results: Results,
    shown: tuple[float, float],
    asked: tuple[float, float] | None,
    pack: Pack,
    flows: list[str],
) -> dict[str, Any]:
    """Add the visits within a span of time to a pack; returns what they are.

    Args:
        results: The run.
        shown: The span, seconds.
        asked: The span that was asked for, which may be longer.
        pack: The arrays of the page.
        flows: Names of the flows by the number that they have in the page.
    """
    tables = {name: _within(results, name, shown) for name in NEEDED}
    ids = pa.concat_arrays([chunk for t in tables.values() for chunk in t["packet_id"].chunks])
    known, number = np.unique(ids.to_numpy(), return_inverse=True)
    done = 0
    for name, table in tables.items():
        place = table.column_names.index("packet_id")
        own = pa.array(number[done : done + len(table)])
        tables[name] = table.set_column(place, "packet_id", own)
        done += len(table)
    part: Any = _Part(results.summary, tables)
    network = Network(results.model)
    visits = Visits.of(part, network)
    kind, flow = (np.full(len(known), -1, np.int64) for _ in range(2))
    for name in NEEDED:
        columns = records(part, name)
        rows = columns.ints("packet_id")
        kind[rows] = columns.places("kind", KINDS)
        flow[rows] = columns.places("flow", flows)
    order = np.lexsort((visits.place, visits.came_ns))[:MOST]
    packet = visits.packet[order]
    look = np.where(kind == DATA, 0, np.where(kind == ACK, 1, 2)) + 3 * _again(
        results, known, shown
    )
    unit = time_unit(shown[1] - shown[0])
    begin = round(shown[0] / unit)

    def ticks(times_ns: Integers) -> Integers:
        return np.rint(times_ns[order] * (1e-9 / unit)).astype(np.int64)

    def after(times_ns: Integers, before: Integers) -> Integers:
        """Ticks from one moment to another, where there is one."""
        return np.where(times_ns[order] == NEVER, NEVER, ticks(times_ns) - before)

    came = ticks(visits.came_ns)
    end_s = shown[1]
    if len(visits.packet) > MOST:
        end_s = int(came[-1]) * unit
    first = np.array([network.nodes.index(link["ends"][0]) for link in results.model["links"]])
    columns = {
        "came": came - begin,
        "wait": after(visits.start_ns, came),
        "way": after(visits.arrival_ns, ticks(visits.start_ns)),
        "gone": after(visits.dropped_ns, came),
        "link": visits.link[order],
        "back": (visits.origin[order] != first[visits.link[order]]).astype(np.int64),
        "flow": flow[packet],
        "look": look[packet],
    }
    return {
        "from": shown[0],
        "to": end_s,
        "cut": asked is not None and end_s < min(asked[1], float(results.summary["end_s"])),
        "unit": unit,
        "columns": {name: pack.integers(values) for name, values in columns.items()},
    }


def _within(results: Results, name: str, shown: tuple[float, float]) -> pa.Table:
    """The rows of packets that are at a link at some time of the span."""
    came, gone = _TIMES[name]
    kept = []
    for piece in results.pieces(name):
        there = piece[came].to_numpy() <= shown[1]
        if gone:
            there &= piece[gone].to_numpy() >= shown[0]
        kept.append(piece.filter(there))
    return pa.concat_tables(kept).unify_dictionaries()


def _again(results: Results, ids: Integers, shown: tuple[float, float]) -> Flags:
    """Which of these packets are retransmissions."""
    found = [np.empty(0, np.int64)]
    if "packets" in results.tables:
        for piece in results.pieces("packets", ["packet_id", "retransmission", "time_s"]):
            again = piece["retransmission"].to_numpy() & (piece["time_s"].to_numpy() <= shown[1])
            found.append(piece["packet_id"].to_numpy()[again])
    return np.isin(ids, np.concatenate(found))
