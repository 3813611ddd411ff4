"""The records of a run as a log: one line an event, in the order of time.

>>> for entry in entries(results, ["rto"]):  # doctest: +SKIP
...     print(entry.time_s, entry.text)
0.0 timer started with 3 s
0.0208 RTT sample 20.8 ms: RTO 3 s -> 1.0208 s
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock.errors import InputError, must_have, names_of, one_of, outside, real_of, refuse
from ackclock.packaged import rows

if TYPE_CHECKING:
    from ackclock.results import Results

Row = Mapping[str, Any]

KINDS = (
    "events",
    "rto",
    "drops",
    "marks",
    "packets",
    "headers",
    "window_rules",
    "cwnd",
    "tcp_info",
    "rtt",
    "queue",
    "aqm",
    "transmissions",
    "waiting",
    "routes",
)
"""What can be logged: tables of records. At one instant, entries stand in this order."""

USUAL = ("events", "drops")
"""What is logged unless asked otherwise, as far as it was recorded."""


WHY = ("events", "window_rules")
"""What is logged to explain windows: what happened, and the rule behind each change."""


@dataclass(frozen=True)
class Rule:
    """A rule of the table `window_rules`.

    Attributes:
        effect: `cut` if it reduces the window, `growth` if it only follows from what began before.
        source: Where it stands; empty for a rule of the congestion control.
        words: What it means; `{cc}` is the congestion control.
    """

    effect: str
    source: str
    words: str


RULES = {row.pop("rule"): Rule(**row) for row in rows(Path(__file__).with_name("window_rules.csv"))}


@dataclass(frozen=True)
class Entry:
    """A line of the log.

    Attributes:
        time_s: When it happened, seconds.
        kind: The table of records that it is from.
        flow: The flow that it concerns; none for links and routers.
        text: What happened, for people.
        row: The record itself.
    """

    time_s: float
    kind: str
    flow: str | None
    text: str
    row: Row


def entries(
    results: Results,
    kinds: Sequence[str] | None = None,
    flows: Sequence[str] | None = None,
    from_s: float = 0.0,
    to_s: float = math.inf,
) -> list[Entry]:
    """The log of a run.

    Args:
        results: The run.
        kinds: Tables of records to log, of `KINDS`; default `USUAL`.
        flows: Log what concerns these flows only; default everything.
        from_s: Begin here, seconds.
        to_s: End here, seconds; what happens at that very time counts.

    Raises:
        InputError: an unknown kind or flow, a table that was not recorded, or a span outside of the
            run.
    """
    must_have(results, "summary", "tables")
    from_s, to_s = real_of("from_s", from_s), real_of("to_s", to_s)
    kinds = None if kinds is None else names_of("kinds", kinds, "events")
    flows = None if flows is None else names_of("flows", flows, "F1")
    end_s = float(results.summary["end_s"])
    if from_s > min(to_s, end_s):
        raise outside(from_s, to_s, end_s)
    for kind in kinds or ():
        one_of("kind of log", kind, KINDS)
    for name in flows or ():
        one_of("flow", name, results.summary["flows"])
    recorded = results.tables
    wanted = [kind for kind in USUAL if kind in recorded] if kinds is None else kinds
    if not wanted:
        raise InputError(f"this run has recorded nothing of {', '.join(USUAL)}")
    found: list[Entry] = []
    for kind in sorted(set(wanted), key=KINDS.index):
        found += _of_table(results, kind, flows, from_s, to_s)
    return sorted(found, key=lambda entry: entry.time_s)


def require_reasons(results: Results, flows: Sequence[str] | None = None) -> None:
    """Refuse to explain windows of which nothing is known.

    Raises:
        InputError: no rule was recorded of one of these flows, or of any; the table is not there.
    """
    known = set(results.table("window_rules")["flow"].unique().to_pylist())
    for name in flows or ():
        if name not in known:
            raise InputError(f"the flow '{name}' does not report why its window changes; {_WHO}")
    if not known:
        raise InputError(f"no flow of this run reports why its window changes; {_WHO}")


_WHO = "flows with `sender: modern` do"


def lines(log: Sequence[Entry]) -> Iterator[str]:
    """The log as text: time, flow, what happened, in columns.

    Raises:
        InputError: `log` is something else than what `entries` returns.
    """
    if not isinstance(log, Sequence) or not all(isinstance(entry, Entry) for entry in log):
        refuse("log", log, "a list of entries, as `log.entries` returns it")
    if not log:
        return
    digits = 6 if all(abs(e.time_s * 1e6 - round(e.time_s * 1e6)) < 1e-3 for e in log) else 9
    times = [f"{entry.time_s:.{digits}f}" for entry in log]
    wide, names = max(map(len, times)), max(len(entry.flow or "") for entry in log)
    for time, entry in zip(times, log, strict=True):
        name = f"{entry.flow or '':{names}}  " if names else ""
        yield f"{time:>{wide}}  {name}{entry.text}"


def sentences(model: Mapping[str, Any], kind: str) -> Callable[[Row], str]:
    """What says a record of a kind of `KINDS` in words, for the run of this model."""
    return getattr(_Sentences(model), kind)


def reason(rule: str, cc: str) -> str:
    """What a rule of the table `window_rules` means, for a flow with this congestion control."""
    return RULES[rule].words.format(cc=cc)


def _of_table(
    results: Results, kind: str, flows: Sequence[str] | None, from_s: float, to_s: float
) -> Iterator[Entry]:
    table = results.table(kind)
    time_s = table["time_s"].to_numpy()
    begin, end = from_s - _NEAR_S, to_s + _NEAR_S
    if kind != "rto":  # its sentences mention the value before
        table = table.filter((time_s >= begin) & (time_s <= end))
    sentence = sentences(results.model, kind)
    for batch in table.to_batches():
        for row in batch.to_pylist():
            flow = row.get("flow")
            if flows is None or flow in flows:
                text = sentence(row)
                if begin <= row["time_s"] <= end:
                    yield Entry(row["time_s"], kind, flow, text, row)


NO_DATA = -1
"""In the place of a sequence number: a SYN."""

_NEAR_S = 5e-10
"""Half the resolution of times: a time that was typed in means the record of that nanosecond."""


class _Sentences:
    """What each kind of record says in words."""

    def __init__(self, model: Mapping[str, Any]) -> None:
        self._tcp = {flow["id"]: flow.get("tcp") for flow in model["flows"]}
        self._offered = {flow["id"]: flow.get("send_bytes") for flow in model["flows"]}
        self._cc = {flow["id"]: flow["label"] for flow in model["flows"]}
        self._rto_s: dict[str, float] = {}

    def events(self, row: Row) -> str:
        event, flow = row["event"], row["flow"]
        if event == "start":
            amount = self._offered.get(flow)
            return "flow starts" + (f", {amount} B to send" if amount is not None else "")
        if event == "finish":
            return "flow finished: all data have arrived"
        if event == "finish-ack":
            return "flow finished: all data are acknowledged"
        if event == "stop":
            return "flow is cut off: its sender sends nothing more"
        if row["seq"] == NO_DATA:
            return "timeout: the SYN is presumed lost"
        if event in _EPISODES:
            return _EPISODES[event].format(self._data(flow, row["seq"]))
        words = {
            "timeout": "timeout: {} is presumed lost",
            "fast-retransmit": "fast retransmit of {}",
            "gap-retransmit": "{} retransmitted",
            "probe": "tail loss probe: {}",
        }.get(event, f"{event.replace('-', ' ')}: {{}}")
        return words.format(self._data(flow, row["seq"]))

    def rto(self, row: Row) -> str:
        flow: str = row["flow"]
        now: float = row["rto_s"]
        before: float = self._rto_s.get(flow, now)
        self._rto_s[flow] = now
        if row["event"] == "start":
            return f"timer started with {_exact(now)} s"
        if row["event"] == "sample":
            change = f"RTO {_exact(before)} s -> {_exact(now)} s"
            if now == before:
                change = f"RTO stays {_exact(now)} s"
            return f"RTT sample {_exact(row['rtt_s'] * 1e3)} ms: {change}"
        if now == before:
            return f"timer expired: RTO stays {_exact(now)} s"
        doubled = abs(now - 2 * before) < 2e-9
        return f"timer expired: RTO {'doubled' if doubled else 'raised'} to {_exact(now)} s"

    def drops(self, row: Row) -> str:
        reason = str(row["reason"]).replace("-", " ")
        place = f"at {row['link']} {row['direction']}" if row["link"] else "in a router"
        return f"{self._packet(row)} dropped {place}: {reason}"

    def marks(self, row: Row) -> str:
        reason = str(row["reason"]).replace("-", " ")
        return f"{self._packet(row)} marked at {row['link']} {row['direction']}: {reason}"

    def packets(self, row: Row) -> str:
        verb = "sends" if row["event"] == "sent" else "receives"
        again = ", a retransmission" if row["retransmission"] else ""
        return f"{row['host']} {verb} {self._packet(row)}, {row['bytes']} B{again}"

    def cwnd(self, row: Row) -> str:
        state = str(row["state"]).replace("-", " ")
        limit = row["ssthresh_bytes"]
        threshold = f"{_short(limit)} B" if math.isfinite(limit) else "unlimited"
        return f"window {_short(row['cwnd_bytes'])} B, ssthresh {threshold}, {state}"

    def window_rules(self, row: Row) -> str:
        window = _change(row["cwnd_before_bytes"], row["cwnd_bytes"])
        if row["ssthresh_before_bytes"] != row["ssthresh_bytes"]:
            threshold = _change(row["ssthresh_before_bytes"], row["ssthresh_bytes"])
            window += f", ssthresh {threshold}"
        return f"window {window}: {reason(row['rule'], self._cc[row['flow']])}"

    def tcp_info(self, row: Row) -> str:
        counts = ", ".join(
            f"{row[name]} {words}"
            for name, words in (
                ("in_flight", "in flight"),
                ("sacked", "SACKed"),
                ("lost", "lost"),
                ("retransmitted", "retransmitted"),
            )
        )
        return f"state {row['state']}: {counts}, window {row['cwnd']:g}"

    def headers(self, row: Row) -> str:
        flags = [name for name in ("ece", "cwr", "push", "fin") if row[name]]
        parts = [word.upper().replace("PUSH", "PSH") for word in flags]
        parts += ["ECT(0)"] if row["capable"] else []
        parts += [f"window {row['window_bytes']} B"] if row["window_bytes"] >= 0 else []
        blocks = [
            f"{row[f'sack_{place}_from']}-{row[f'sack_{place}_to']}"
            for place in range(1, 5)
            if row[f"sack_{place}_from"] >= 0
        ]
        parts += [f"SACK {' '.join(blocks)}"] if blocks else []
        return f"packet {row['packet_id']}: {', '.join(parts)}"

    def rtt(self, row: Row) -> str:
        return f"RTT {_exact(row['rtt_s'] * 1e3)} ms"

    def queue(self, row: Row) -> str:
        count = row["queue_packets"]
        packets = "1 packet waits" if count == 1 else f"{count} packets wait"
        return f"{row['link']} {row['direction']}: {packets}, {row['queue_bytes']} B"

    def aqm(self, row: Row) -> str:
        return f"{row['link']} {row['direction']}: {row['variable']} {row['value']:.6g}"

    def transmissions(self, row: Row) -> str:
        what = {"ack": "an ACK", "data": "data"}.get(row["kind"], f"a {row['kind']} packet")
        return f"{row['link']} {row['direction']} transmits {what}, {row['bytes']} B"

    def waiting(self, row: Row) -> str:
        place = f"{row['link']} {row['direction']}"
        return f"{self._packet(row)} enters {place} and waits until the end of the run"

    def routes(self, row: Row) -> str:
        before = f" instead of {row['previous_link']}" if row["previous_link"] else ""
        cost = _exact(row["cost_s"] * 1e3)
        return f"{row['router']} reaches {row['host']} over {row['link']}{before}, cost {cost} ms"

    def _packet(self, row: Row) -> str:
        if row["kind"] == "data":
            return self._data(row["flow"], row["seq"])
        if row["kind"] == "ack":
            return f"ACK {self._data(row['flow'], row['seq'], ack=True)}"
        return f"{row['kind']} packet"

    def _data(self, flow: str, seq: int, *, ack: bool = False) -> str:
        """Data by sequence number, which counts bytes or packets."""
        tcp = self._tcp.get(flow)
        if not tcp or tcp["numbering"] != "bytes":
            return f"of packet {seq}" if ack else f"packet {seq}"
        if ack:  # the next byte expected
            return str(seq)
        number, rest = divmod(seq, tcp["segment_bytes"])
        return f"byte {seq}" if rest else f"segment {number} (byte {seq})"


_EPISODES = {
    "recovery": "recovery begins at {}",
    "reduction": "the window is reduced at {}",
    "recovery-end": "recovery is over at {}",
    "undo": "the reduction is undone at {}",
    "spurious": "the receiver had {} already: its retransmission was needless",
}


def _change(before: float, now: float) -> str:
    """A number of bytes that may have changed."""
    words = [f"{_short(value)} B" if math.isfinite(value) else "none" for value in (before, now)]
    return words[0] if before == now else f"{words[0].removesuffix(' B')} -> {words[1]}"


def _exact(value: float) -> str:
    """A number to the nanosecond of a value in seconds, without zeros at the end."""
    return f"{value:.9f}".rstrip("0").rstrip(".")


def _short(value: float) -> str:
    """A number of bytes with at most one digit of a fraction."""
    return f"{value:.1f}".removesuffix(".0")
