"""A run step by step: one event, one ACK or one round trip of a flow at a time, with reasons.

>>> steps = Steps(results, "F1")  # doctest: +SKIP
>>> step = steps.next("ack", 0.0)  # doctest: +SKIP
>>> step.window, step.lines  # doctest: +SKIP
((10.0, 11.0), ['window 14480 -> 15928 B: slow start'])
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pyarrow as pa

from ackclock import log
from ackclock.arrays import Floats
from ackclock.errors import InputError, must_have, one_of
from ackclock.metrics.words import are

if TYPE_CHECKING:
    from ackclock.results import Results

Kind = Literal["event", "ack", "rtt"]
KINDS: tuple[Kind, ...] = get_args(Kind)

TABLES = ("cwnd", "drops", "events", "marks", "packets", "rtt", "tcp_info", "window_rules")
"""Tables of records that steps are made from."""


@dataclass(frozen=True)
class Step:
    """What happened to a flow within a step.

    Attributes:
        kind: What was asked for: an event, an ACK, a round trip.
        number: Which ACK or round trip of the flow this is, from 1 on; of events their number.
        begin_s: Just after this time.
        end_s: Until this time, which counts.
        window: Congestion window before and after, packets.
        threshold: Slow-start threshold after, packets; infinite while there is none.
        in_flight: Segments in flight after; None where the sender does not report them.
        rtt_s: The last sample of the round-trip time until then; None before the first.
        acks: ACKs that arrived.
        lines: What happened, for people.
    """

    kind: Kind
    number: int
    begin_s: float
    end_s: float
    window: tuple[float, float]
    threshold: float
    in_flight: int | None
    rtt_s: float | None
    acks: int
    lines: list[str]


class Steps:
    """The steps of one flow of a run.

    Args:
        results: The run, with records of `TABLES`.
        flow: Name of the flow; default the first with a congestion window.

    Raises:
        InputError: there is no such flow, or it has no window, or something was not recorded.
    """

    def __init__(self, results: Results, flow: str | None = None) -> None:
        must_have(results, "summary", "model")
        flows: Mapping[str, Any] = {one["id"]: one for one in results.model["flows"]}
        steered = [name for name, one in flows.items() if one["tcp"]]
        if flow is not None and one_of("flow", flow, flows) not in steered:
            raise InputError(f"the flow '{flow}' is UDP: it has no window to follow")
        if not steered:
            raise InputError("no flow of this scenario has a window to follow")
        self.flow = flow or steered[0]
        self.end_s = float(results.summary["end_s"])
        model = flows[self.flow]
        self._segment = model["tcp"]["segment_bytes"]
        self._label = model["label"]
        self._sentences = {
            kind: log.sentences(results.model, kind) for kind in ("events", "drops", "marks")
        }
        self._tables = {name: _of_flow(results.table(name), self.flow) for name in TABLES}
        self._times: dict[str, Floats] = {
            name: table["time_s"].to_numpy() for name, table in self._tables.items()
        }
        packets = self._tables["packets"]
        acks = are(packets["kind"], "ack") & are(packets["event"], "received")
        self.acks_s: Floats = self._times["packets"][acks]
        self._rtt: Floats = self._tables["rtt"]["rtt_s"].to_numpy()
        self._sent_s: Floats = self._times["rtt"] - self._rtt
        start_s = model["start_ns"] * 1e-9
        self._ends: dict[Kind, Floats] = {
            "event": self._moments(),
            "ack": np.unique(self.acks_s),
            "rtt": np.array(list(self._rounds(start_s))),
        }

    @property
    def largest(self) -> float:
        """The largest window of the run, packets."""
        windows = self._tables["cwnd"]["cwnd_bytes"].to_numpy()
        return float(windows.max(initial=0.0)) / self._segment

    def next(self, kind: Kind, after_s: float) -> Step | None:
        """The step of a kind that ends after a time; None when there is no more."""
        ends = self._ends[kind]
        place = int(np.searchsorted(ends, after_s, side="right"))
        if place == len(ends):
            return None
        end = float(ends[place])
        return Step(
            kind,
            place + 1,
            after_s,
            end,
            (self._window(after_s), self._window(end)),
            self._last("cwnd", "ssthresh_bytes", end, math.inf) / self._segment,
            self._last("tcp_info", "in_flight", end, None),
            self._last("rtt", "rtt_s", end, None),
            self._count(self.acks_s, after_s, end),
            list(self._lines(after_s, end, whole=kind == "rtt")),
        )

    def all(self, kind: Kind, from_s: float = -1.0) -> Iterator[Step]:
        """All steps of a kind that end after a time."""
        step = self.next(kind, from_s)
        while step is not None:
            yield step
            step = self.next(kind, step.end_s)

    def _moments(self) -> Floats:
        """When something happens to the flow that is more than an ACK without effect."""
        tables = ("events", "drops", "marks", "window_rules", "cwnd")
        return np.unique(np.concatenate([self._times[name] for name in tables]))

    def _rounds(self, start_s: float) -> Iterator[float]:
        """When round trips end: with the first sample of data that were sent in the round."""
        times, sent = self._times["rtt"], self._sent_s
        newest = np.maximum.accumulate(sent)  # ACKs may come in another order than their data
        begin = start_s
        while (place := int(np.searchsorted(newest, begin - 1e-10))) < len(times):
            begin = float(times[place])
            yield begin

    def _window(self, time_s: float) -> float:
        """The window at a time; before the first one was recorded, that one."""
        windows = self._tables["cwnd"]["cwnd_bytes"]
        initial = windows[0].as_py() if len(windows) else 0.0
        return self._last("cwnd", "cwnd_bytes", time_s, initial) / self._segment

    def _last(self, table: str, column: str, time_s: float, otherwise: Any) -> Any:
        """The value that a column has at a time."""
        place = int(np.searchsorted(self._times[table], time_s, side="right")) - 1
        return otherwise if place < 0 else self._tables[table][column][place].as_py()

    def _rows(self, table: str, begin_s: float, end_s: float) -> list[dict[str, Any]]:
        first, last = np.searchsorted(self._times[table], [begin_s, end_s], side="right")
        return self._tables[table].slice(int(first), int(last - first)).to_pylist()

    @staticmethod
    def _count(times: Floats, begin_s: float, end_s: float) -> int:
        first, last = np.searchsorted(times, [begin_s, end_s], side="right")
        return int(last - first)

    def _lines(self, begin_s: float, end_s: float, *, whole: bool) -> Iterator[str]:
        """What happened between two times; of a whole round trip equal reasons are counted."""
        for kind, say in self._sentences.items():
            said = [say(row) for row in self._rows(kind, begin_s, end_s)]
            if whole and len(said) > 4:
                said = [*said[:3], f"and {len(said) - 3} more {kind}"]
            yield from said
        reasons = [row["rule"] for row in self._rows("window_rules", begin_s, end_s)]
        if not reasons:  # only modern senders give them
            rows = self._rows("cwnd", begin_s, end_s)
            states = [str(row["state"]).replace("-", " ") for row in rows]
            if rows and rows[0]["time_s"] == self._times["cwnd"][0]:
                states[0] = log.reason("initial", self._label)
            for state, count in Counter(states).items():
                yield f"window: {_counted(state, count)}"
            return
        for rule, count in Counter(reasons).items():
            yield f"window: {_counted(log.reason(rule, self._label), count)}"


def _counted(text: str, count: int) -> str:
    return text if count == 1 else f"{text} ({count} times)"


def _of_flow(table: pa.Table, flow: str) -> pa.Table:
    return table.take(pa.array(np.flatnonzero(are(table["flow"], flow))))
