"""The trace event `tcp:tcp_probe` of Linux: a line for each segment that a sender receives.

As in `trace-cmd record -e tcp:tcp_probe` and `trace-cmd report`, `perf script`, or the file `trace`
of tracefs. Data in flight are not taken from it, since it says bytes and no segment size.

Source: Linux 6.18, include/trace/events/tcp.h (tcp_probe); srtt in microseconds.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from ackclock.errors import InputError
from ackclock.measured.measurement import Measurement

_LINE = re.compile(r"(\d+\.\d+): (?:tcp:)?tcp_probe: .*?src=(\S+) dest=(\S+) (.*)$")
_FIELD = re.compile(r"(\w+)=(\w+)")


def recognizes(lines: list[str]) -> bool:
    """Whether there is such an event among these lines."""
    return any(_LINE.search(line) for line in lines)


def read(path: Path, lines: list[str]) -> Measurement:
    """Read a trace, of the connection with most events. Errors as of `ackclock.measured.read`."""
    held: dict[str, list[tuple[float, float, float]]] = {}
    for line in lines:
        found = _LINE.search(line)
        if found:
            words = dict(_FIELD.findall(found[4]))
            try:
                row = (float(found[1]), float(words["snd_cwnd"]), float(words["srtt"]) * 1e-6)
            except (KeyError, ValueError):
                raise InputError(f"'{path}': a line of tcp_probe cannot be read: {line}") from None
            held.setdefault(f"{found[2]} → {found[3]}", []).append(row)
    ends = max(held, key=lambda name: len(held[name]))
    times, cwnd, srtt = (np.array(part) for part in zip(*held[ends], strict=True))
    return Measurement(
        path.name, ends, {"window": (times - times[0], cwnd), "rtt": (times - times[0], srtt)}
    )
