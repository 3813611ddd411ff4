"""What a sender sent, heard and had as a window: the kernel by its trace, ours by records."""

from __future__ import annotations

import csv
import io
import lzma
import math
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from ackclock.errors import InputError
from ackclock.metrics import HasTables, rtt_series, select
from ackclock.metrics.senders import smoothed_rtt
from ackclock.metrics.steps import step_at
from ackclock.reproduce.linux.conversion import flow_id
from ackclock.reproduce.linux.figures import Progress
from ackclock.reproduce.linux.oracle import PACKAGED, KernelScenario

ARCHIVE = PACKAGED.with_name("traces.tar.xz")

_INFINITE = 0x7FFFFFFF
_STATES = ("Open", "Disorder", "CWR", "Recovery", "Loss")


@dataclass(frozen=True)
class Sent:
    """A data packet that left: bytes `start` to `end` of the stream, for the first time or again.

    ``fate`` is what became of it at the bottleneck: empty, ``dropped`` or ``marked``.
    """

    time_ms: float
    start: int
    end: int
    again: bool
    fate: str = ""


@dataclass(frozen=True)
class Ack:
    """An ACK that came: bytes in order at the receiver; `repeat` counts equal ones before it."""

    time_ms: float
    acked: int
    repeat: int


@dataclass(frozen=True)
class Window:
    """The sender's state at a moment; ssthresh is infinite for none."""

    time_ms: float
    cwnd: int
    ssthresh: float
    srtt_ms: float
    state: str
    out: int
    again: int


@dataclass(frozen=True)
class Trace:
    """One side of a comparison. Packets are empty where a measurement kept none."""

    name: str
    sent: list[Sent] = field(default_factory=list)
    acks: list[Ack] = field(default_factory=list)
    windows: list[Window] = field(default_factory=list)


def kernel(scenario: KernelScenario, oracle: Path) -> Trace:
    """Read the kernel's trace that belongs to a file of measured scenarios.

    Raises:
        InputError: there is none.
    """
    if scenario.bulk:
        samples = _read(oracle, f"{scenario.name}.f0.csv")
        return Trace("Linux", windows=_kernel_windows(samples))
    packets = _rows(_read(oracle, f"{scenario.name}.csv"))
    sent, acks = _kernel_packets(packets)
    windows = _kernel_windows(_read(oracle, f"{scenario.name}.cwnd.csv"))
    return Trace("Linux", sent, acks, windows)


def _read(oracle: Path, name: str) -> str:
    """Return a trace of the package, or one of the folder `traces` beside another file."""
    if oracle == PACKAGED:
        return _packaged()[name].decode()
    place = oracle.parent / "traces" / name
    try:
        return place.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"no trace of the kernel: {place}: {reason}") from None


@cache
def _packaged() -> dict[str, bytes]:
    """Return all traces of the package by name."""
    with tarfile.open(fileobj=io.BytesIO(lzma.decompress(ARCHIVE.read_bytes()))) as archive:
        members = ((member.name, archive.extractfile(member)) for member in archive)
        return {name: file.read() for name, file in members if file is not None}


def _rows(text: str) -> Iterator[dict[str, str]]:
    yield from csv.DictReader(io.StringIO(text))


def _kernel_packets(rows: Iterator[dict[str, str]]) -> tuple[list[Sent], list[Ack]]:
    """Read packets as the emulator saw them; its numbers count the SYN, ours only data."""
    sent: list[Sent] = []
    acks: list[Ack] = []
    highest, marked = 0, False
    for row in rows:
        time, length = float(row["t_ms"]), int(row["len"])
        if row["dir"] == "<":
            # The answer to the SYN acknowledges no data, and a FIN is none.
            if length == 0 and int(row["ack"]) > 1:
                _append_ack(acks, time, min(int(row["ack"]) - 1, highest))
        elif row["ev"] == "mark":
            marked = True
        elif length:
            start = int(row["seq"]) - 1
            end = start + length
            fate = "dropped" if row["ev"].startswith("drop") else "marked" if marked else ""
            sent.append(Sent(time, start, end, end <= highest, fate))
            highest, marked = max(highest, end), False
    return sent, acks


def _append_ack(acks: list[Ack], time_ms: float, acked: int) -> None:
    before = acks[-1] if acks else None
    repeat = before.repeat + 1 if before and before.acked == acked else 0
    acks.append(Ack(time_ms, acked, repeat))


def _kernel_windows(text: str) -> list[Window]:
    return [
        Window(
            float(row["t_ms"]),
            int(row["cwnd"]),
            math.inf if int(row["ssthresh"]) >= _INFINITE else float(row["ssthresh"]),
            int(row["srtt_us"]) / 1e3,
            _STATES[int(row["ca_state"])],
            int(row["unacked"]),
            int(row["total_retrans"]),
        )
        for row in _rows(text)
    ]


def ours(scenario: KernelScenario, results: HasTables, number: int = 0) -> Trace:
    """Take the trace of a flow from the records of a run: a window for each change."""
    flow, header = flow_id(number), scenario.mtu - scenario.mss
    where = {"flow": flow, "event": "sent", "kind": "data"}
    columns = ("time_s", "seq", "bytes", "retransmission", "packet_id")
    time_s, seq, size, again, ids = select(results, "packets", columns, **where)
    fates = dict.fromkeys(_concerned(results, "marks", flow), "marked")
    fates |= dict.fromkeys(_concerned(results, "drops", flow), "dropped")
    sent = [
        Sent(time * 1e3, start, start + length - header, bool(repeated), fates.get(packet, ""))
        for time, start, length, repeated, packet in zip(
            time_s.tolist(), seq.tolist(), size.tolist(), again.tolist(), ids.tolist(), strict=True
        )
    ]
    acks: list[Ack] = []
    progress = Progress.of(results, flow)
    if progress is not None:
        highest = max((packet.end for packet in sent), default=0)  # beyond it is a FIN
        for time, acked in zip(progress.heard_s.tolist(), progress.carried.tolist(), strict=True):
            _append_ack(acks, time * 1e3, min(acked, highest))
    return Trace("Ackclock", sent, acks, _our_windows(scenario, results, flow, sent, acks))


def _concerned(results: HasTables, table: str, flow: str) -> list[int]:
    (ids,) = select(results, table, ("packet_id",), flow=flow, kind="data")
    return ids.tolist()


def _our_windows(
    scenario: KernelScenario,
    results: HasTables,
    flow: str,
    sent: list[Sent],
    acks: list[Ack],
) -> list[Window]:
    columns = ("time_s", "cwnd_bytes", "ssthresh_bytes")
    time_s, cwnd, ssthresh = select(results, "cwnd", columns, flow=flow)
    state = results.table("cwnd")["state"].to_pylist() if time_s.size else []
    names = results.table("cwnd")["flow"].to_pylist()
    states = [word for word, name in zip(state, names, strict=True) if name == flow]
    sampled_s, rtt_s = rtt_series(results, flow)
    srtt_ms = step_at(sampled_s, smoothed_rtt(rtt_s) * 1e3, time_s, math.nan)
    packets_s = np.array([packet.time_ms for packet in sent]) / 1e3
    highest = np.maximum.accumulate([packet.end for packet in sent] or [0])[: len(sent)]
    again = np.cumsum([packet.again for packet in sent] or [0])[: len(sent)]
    heard_s = np.array([ack.time_ms for ack in acks]) / 1e3
    acked = np.maximum.accumulate([ack.acked for ack in acks] or [0])[: len(acks)]
    out = step_at(packets_s, highest, time_s) - step_at(heard_s, acked, time_s)
    repeated = step_at(packets_s, again, time_s)
    return [
        Window(
            time * 1e3,
            math.floor(window / scenario.mss + 1e-9),
            threshold / scenario.mss if math.isfinite(threshold) else math.inf,
            srtt,
            word,
            math.ceil(outstanding / scenario.mss),
            int(count),
        )
        for time, window, threshold, srtt, word, outstanding, count in zip(
            time_s.tolist(),
            cwnd.tolist(),
            ssthresh.tolist(),
            srtt_ms.tolist(),
            states,
            out.tolist(),
            repeated.tolist(),
            strict=True,
        )
    ]
