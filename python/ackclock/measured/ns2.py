"""Traces of ns-2: packets (`trace-all`), or variables of an agent (`$tcp trace cwnd_`).

Source: ns-2.35, trace/trace.cc (a line for each event of a packet) and tcp/tcp.cc `traceVar` (time,
node and port of both ends, name, value; times of `rtt_` in seconds).
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np

from ackclock.arrays import Floats
from ackclock.errors import InputError
from ackclock.measured.measurement import Measurement

_VARIABLES = {"cwnd_": "window", "rtt_": "rtt"}
_COLUMNS = 12


def recognizes(line: str) -> bool:
    """Whether a file that begins with this line is a trace of ns-2."""
    words = line.split()
    packets = len(words) == _COLUMNS and words[0] in ("+", "-", "r", "d")
    return packets or (len(words) == 7 and words[5].endswith("_"))


def read(path: Path, lines: list[str]) -> Measurement:
    """Read a trace. Errors as of `ackclock.measured.read`."""
    try:
        if lines[0].split()[0] in ("+", "-", "r", "d"):
            return _of_packets(path, lines)
        return _of_variables(path, lines)
    except InputError:  # a ValueError, too
        raise
    except (ValueError, IndexError):
        raise InputError(
            f"'{path}' starts like an ns-2 trace, but continues in another format"
        ) from None


def _of_variables(path: Path, lines: list[str]) -> Measurement:
    held: dict[str, dict[str, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        time_s, *ends, name, value = line.split()
        if name in _VARIABLES:
            found = held[" ".join(ends)]
            found[_VARIABLES[name]].append((float(time_s), float(value)))
    if not held:
        raise InputError(f"'{path}' traces neither cwnd_ nor rtt_")
    ends = max(held, key=lambda name: sum(map(len, held[name].values())))
    return Measurement(path.name, _between(*ends.split()), _from_start(held[ends]))


def _of_packets(path: Path, lines: list[str]) -> Measurement:
    """Data in flight and round-trip times of the flow with most packets, at its sender."""
    flows: dict[str, list[list[str]]] = defaultdict(list)
    for line in lines:
        words = line.split()
        if words[4] in ("tcp", "ack"):
            flows[words[7]].append(words)
    if not flows:
        raise InputError(f"'{path}' holds no packets of TCP")
    most_rows = max(flows, key=lambda flow: len(flows[flow]))
    rows = flows[most_rows]
    data = [row for row in rows if row[4] == "tcp"]
    if not data:
        raise InputError(f"'{path}' has ACKs of flow {most_rows}, but none of its data")
    # A SYN has a number of its own, but no data; time begins with these, as in a capture.
    most = max(int(row[5]) for row in data)
    first = next((row for row in data if int(row[10]) > 0 or int(row[5]) == most), data[0])
    rows = rows[rows.index(first) :]
    source = first[8].split(".")[0]
    top = acked = int(first[10]) - 1
    sent: dict[int, float] = {}
    series: dict[str, list[tuple[float, float]]] = {"flight": [], "rtt": []}
    for event, time, from_, to, kind, _, _, _, _, _, seq, _ in rows:
        time_s, number = float(time), int(seq)
        if kind == "tcp" and event == "+" and from_ == source:
            # An ACK that covers retransmitted data gives no sample (Karn's rule).
            sent[number] = time_s if number > top else -1.0
            top = max(top, number)
        elif kind == "ack" and event == "r" and to == source and number > acked:
            covered = range(acked + 1, number + 1)
            if number in sent and min(sent.get(one, 0.0) for one in covered) >= 0:
                series["rtt"].append((time_s, time_s - sent[number]))
            acked = number
        else:
            continue
        series["flight"].append((time_s, float(top - acked)))
    return Measurement(path.name, _between(*first[8].split("."), *first[9].split(".")),
                       _from_start(series))  # fmt: skip


def _between(node: str, port: str, to: str, to_port: str) -> str:
    return f"{node}.{port} → {to}.{to_port}"


def _from_start(series: dict[str, list[tuple[float, float]]]) -> dict[str, tuple[Floats, Floats]]:
    start = min(rows[0][0] for rows in series.values() if rows)
    found = {}
    for name, rows in series.items():
        times, values = (np.array(part, np.float64) for part in zip(*rows, strict=True)) if rows \
            else (np.zeros(0), np.zeros(0))  # fmt: skip
        found[name] = (times - start, values)
    return found
