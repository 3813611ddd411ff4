"""Samples of `ss -tin`: what a Linux kernel says of its connections (`tcp_info`).

Each sample follows a line with the time, as in

    while sleep 0.1; do date +%s.%N; ss -tin dport = :5201; done >F1.ss

Source: manual page ss(8), option -i.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from ackclock.arrays import Floats
from ackclock.errors import InputError
from ackclock.measured.measurement import Measurement

_TIME = re.compile(r"#?\s*(\d+(?:\.\d+)?)\s*$")
_ENDS = re.compile(r"(\S+:\d+)\s+(\S+:\d+)\s*(?:\S+\s*)?$")
_FIELD = re.compile(r"\b(cwnd|unacked|bytes_acked|bytes_sent|rtt):([\d.]+)")


def read(path: Path) -> Measurement:
    """Read samples. Errors as of `ackclock.measured.read`."""
    samples: dict[str, list[tuple[float, dict[str, float]]]] = {}
    time_s, ends = None, ""
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        if found := _TIME.match(line):
            time_s = float(found[1])
        elif line[:1].isspace() and "cwnd:" in line:
            if time_s is None:
                raise InputError(
                    f"'{path}' has samples of ss without times; print one before each: "
                    "while sleep 0.1; do date +%s.%N; ss -tin; done"
                )
            values = {name: float(value) for name, value in _FIELD.findall(line)}
            samples.setdefault(ends, []).append((time_s, values))
        elif found := _ENDS.search(line.rstrip()):
            ends = f"{found[1]} → {found[2]}"
    if not samples:
        raise InputError(
            f"'{path}' is neither a capture (pcapng, pcap), samples of 'ss -tin' with times, "
            "tcp_probe, nor a trace of ns-2"
        )
    connection = max(samples, key=lambda name: _carried(samples[name]))
    rows = [row for row in samples[connection] if row[1].get("bytes_sent", 1.0) > 0]
    start = rows[0][0] if rows else 0.0
    times = np.array([time - start for time, _ in rows])

    def column(name: str, size: float = 1.0) -> tuple[Floats, Floats]:
        values = np.array([row.get(name, np.nan) for _, row in rows]) * size
        known = ~np.isnan(values)
        return times[known], values[known]

    flight = np.array([row.get("unacked", 0.0) for _, row in rows])
    series = {"window": column("cwnd"), "rtt": column("rtt", 1e-3), "flight": (times, flight)}
    return Measurement(path.name, connection, series)


def _carried(rows: list[tuple[float, dict[str, float]]]) -> float:
    last = rows[-1][1]
    return last.get("bytes_acked", last.get("bytes_sent", float(len(rows))))
