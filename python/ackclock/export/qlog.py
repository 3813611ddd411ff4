"""Flows as traces in qlog, for qvis and other tools of QUIC.

Source: draft-ietf-quic-qlog-main-schema and draft-ietf-quic-qlog-quic-events, qlog version 0.3, the
newest that qvis reads. A flow is a trace of its own, as its sender sees it.

DEVIATION: TCP is not QUIC. Each transmission of data, also a retransmission, gets the next packet
number; an ACK acknowledges the last transmission of what it covers. Data are stream 0, and all
packets are of type 1RTT. A packet counts as lost when its data are retransmitted, since the sender
presumes it lost then.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from ackclock.export.options import Options
from ackclock.results import Results

VERSION = "0.3"
_STATES = {
    "slow-start": "slow_start",
    "congestion-avoidance": "congestion_avoidance",
    "recovery": "recovery",
}
_Event = tuple[float, int, str, dict[str, Any]]
"""Time, place among events of one moment, name, data."""


def chunks(results: Results, options: Options) -> Iterator[bytes]:
    """The traces of flows with a window, one event per line."""
    summary = results.summary
    made = (
        f"simulated by ackclock {summary['ackclock']}, seed {summary['seed']}, "
        f"digest {summary['digest']}"
    )
    head = {
        "qlog_version": VERSION,
        "qlog_format": "JSON",
        "title": summary["scenario"],
        "description": "; ".join(filter(None, [results.model.get("title"), made])),
    }
    yield (json.dumps(head, ensure_ascii=False)[:-1] + ', "traces": [').encode()
    for number, flow in enumerate(options.with_tcp(results.model)):
        trace = {
            "title": f"{flow['id']} ({flow['label']})",
            "vantage_point": {"name": flow["from"], "type": "client"},
            "common_fields": {"time_format": "relative", "reference_time": 0},
        }
        comma = "," if number else ""
        yield f'{comma}\n{json.dumps(trace, ensure_ascii=False)[:-1]}, "events": ['.encode()
        for place, (time_s, _, name, data) in enumerate(_events(results, flow)):
            event = {"time": round(time_s * 1e3, 6), "name": name, "data": data}
            yield (("," if place else "") + "\n" + json.dumps(event)).encode()
        yield b"\n]}"
    yield b"\n]}\n"


def _events(results: Results, flow: dict[str, Any]) -> list[_Event]:
    found = [*_packets(results, flow), *_metrics(results, flow)]
    return sorted(found, key=lambda event: event[:2])


def _packets(results: Results, flow: dict[str, Any]) -> Iterator[_Event]:
    """Data sent and ACKs received, and what the sender holds for lost."""
    bytes_counted = flow["tcp"]["numbering"] == "bytes"
    header = flow["tcp"]["header_bytes"]
    segment = flow["tcp"]["segment_bytes"]
    timeouts = {
        row["time_s"] for row in _rows(results, "events", flow["id"]) if row["event"] == "timeout"
    }
    last: dict[int, int] = {}  # the last transmission of data that are not acknowledged
    sent = received = 0
    for row in _rows(results, "packets", flow["id"]):
        time_s, seq = row["time_s"], row["seq"]
        if row["host"] != flow["from"]:
            continue
        if row["kind"] == "data" and row["event"] == "sent":
            if seq in last:
                trigger = "pto_expired" if time_s in timeouts else "reordering_threshold"
                lost = {"header": _header(last[seq]), "trigger": trigger}
                yield time_s, 1, "recovery:packet_lost", lost
            last[seq] = sent
            length = max(row["bytes"] - header, 0)
            offset = seq if bytes_counted else seq * segment
            frame = {"frame_type": "stream", "stream_id": 0, "offset": offset, "length": length}
            yield time_s, 2, "transport:packet_sent", _packet(sent, row["bytes"], frame)
            sent += 1
        elif row["kind"] == "ack" and row["event"] == "received":
            covered = [data for data in last if data < seq] if bytes_counted else [seq]
            numbers = sorted(last.pop(data) for data in covered if data in last)
            frame = {"frame_type": "ack", "acked_ranges": _ranges(numbers)}
            if numbers:
                yield time_s, 0, "transport:packet_received", _packet(received, row["bytes"], frame)
            received += 1


def _metrics(results: Results, flow: dict[str, Any]) -> Iterator[_Event]:
    """Window, threshold, round-trip times and bytes in flight when they change, and the state."""
    state = None
    for row in _rows(results, "cwnd", flow["id"]):
        data = {"congestion_window": round(row["cwnd_bytes"])}
        if np.isfinite(row["ssthresh_bytes"]):
            data["ssthresh"] = round(row["ssthresh_bytes"])
        yield row["time_s"], 4, "recovery:metrics_updated", data
        if (new := _STATES[row["state"]]) != state:
            change = {"new": new} if state is None else {"old": state, "new": new}
            yield row["time_s"], 3, "recovery:congestion_state_updated", change
            state = new
    for row in _rows(results, "rtt", flow["id"]):
        yield row["time_s"], 4, "recovery:metrics_updated", {"latest_rtt": _ms(row["rtt_s"])}
    for row in _rows(results, "tcp_info", flow["id"]):
        data = {"bytes_in_flight": row["in_flight"] * flow["tcp"]["segment_bytes"]}
        for name, column in (("smoothed_rtt", "srtt_s"), ("min_rtt", "min_rtt_s")):
            if row[column] is not None and 0 < row[column] < np.inf:
                data[name] = _ms(row[column])
        yield row["time_s"], 5, "recovery:metrics_updated", data


def _rows(results: Results, table: str, flow: str) -> Iterator[dict[str, Any]]:
    """The rows of a flow of a table; none where it was not recorded."""
    if table not in results.tables:
        return
    for piece in results.pieces(table):
        for batch in piece.to_batches():
            yield from (row for row in batch.to_pylist() if row["flow"] == flow)


def _packet(number: int, size: int, frame: dict[str, Any]) -> dict[str, Any]:
    return {"header": _header(number), "raw": {"length": size}, "frames": [frame]}


def _header(number: int) -> dict[str, Any]:
    return {"packet_type": "1RTT", "packet_number": number}


def _ranges(numbers: list[int]) -> list[list[int]]:
    """Consecutive numbers as ranges with both ends."""
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return found


def _ms(seconds: float) -> float:
    return round(seconds * 1e3, 6)
