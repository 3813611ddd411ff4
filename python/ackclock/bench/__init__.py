"""How fast the engine is: workloads as formulas, and what a run of one costs."""

from __future__ import annotations

import gc
import json
import re
import time
from collections.abc import Mapping
from logging import getLogger
from typing import Any

from ackclock import _core
from ackclock.bench import workloads
from ackclock.errors import InputError, one_of, real_of, refuse, whole_number
from ackclock.memory import keep_memory
from ackclock.run import MOST_THREADS, fewer_threads

__all__ = ["WORKLOADS", "document", "measure"]

WORKLOADS = ("dumbbell", "chain", "clos")

_HELD_ROWS = 1 << 19
_LEAST_ROWS = 1 << 15

_MOST_FLOWS = 100_000
_MOST_SECONDS = 1e9


def document(
    workload: str,
    size: str,
    seconds: float,
    *,
    sender: str = "newreno",
    queue: str = "droptail",
    record: str = "none",
) -> dict[str, Any]:
    """The scenario document of a workload.

    Args:
        workload: One of `WORKLOADS`.
        size: Flows of a dumbbell, chains, or `LEAVESxSPINESxHOSTS` of a clos, with the hosts of
            a leaf.
        seconds: Simulated time.
        sender: `newreno`, `cubic` or `bbr`; the last two are modern senders.
        queue: `droptail`, `codel` or `fq-codel`; of the bottleneck, or of all links of a clos.
        record: `none`, `cwnd` (congestion windows and round-trip times) or `all`.

    Returns:
        The document.

    Raises:
        InputError: one of these is not known, or has no effect.
    """
    for what, word, known in (
        ("workload", workload, WORKLOADS),
        ("sender", sender, tuple(workloads.SENDERS)),
        ("queue", queue, tuple(workloads.QUEUES)),
        ("record", record, tuple(workloads.RECORDS)),
    ):
        one_of(what, word, known)
    seconds = real_of("seconds", seconds)
    if not 1e-9 <= seconds <= _MOST_SECONDS:
        length = "long" if seconds > 1 else "short"
        raise InputError(f"a run of {seconds:g} s is too {length}; allowed: 1 ns to 10^9 s")
    if workload == "chain":
        if (sender, queue) != ("newreno", "droptail"):
            raise InputError(
                "a chain has sources without feedback and drop-tail queues only; "
                "leave the options of sender and queue out, or take the dumbbell"
            )
        made = workloads.chain(_counts(workload, size, 1)[0], seconds=seconds)
    elif workload == "dumbbell":
        made = workloads.dumbbell(_counts(workload, size, 1)[0], seconds, sender, queue)
    else:
        leaves, spines, hosts = _counts(workload, size, 3)
        made = workloads.clos(leaves, spines, hosts, seconds, sender, queue)
    return {**made, "record": workloads.RECORDS[record]}


def _counts(workload: str, size: str, parts: int) -> tuple[int, ...]:
    words = size.split("x") if isinstance(size, str) else [str(size)]
    if len(words) == parts and all(re.fullmatch("[0-9]{1,9}", word) for word in words):
        counts = tuple(map(int, words))
        flows = counts[0] * counts[-1] if parts == 3 else counts[0]
        if min(counts) > 0 and parts <= flows <= _MOST_FLOWS >= max(counts):
            return counts
    allowed = {
        1: f"a whole number from 1 to {_MOST_FLOWS}",
        3: f"LEAVESxSPINESxHOSTS, such as 8x4x8, with 3 to {_MOST_FLOWS} hosts in all",
    }[parts]
    raise InputError(f"'{size}' is not a size of the workload '{workload}'; allowed: {allowed}")


def measure(scenario_document: dict[str, Any], threads: int = 1) -> dict[str, Any]:
    """Run a document, and what it cost.

    Args:
        scenario_document: what to run.
        threads: how many threads run it, where it can be divided; a warning says so if not.

    Returns:
        `setup_s` and `cpu_s`, seconds of CPU of this process before the first event and for all
        events, `threads` that ran it, `wall_s`, what a clock shows for all events, `records_s` for
        handing records out, `rss_setup_kb` and `rss_kb`, its greatest memory until then (None where
        the system does not report it); `events`, `pkt_hops`, `sent`, `acked` and `drops` (data
        packets), `digest`, `ns_per_event` and `ns_per_hop` (None where there was no such thing).
    """
    threads = whole_number("threads", threads, MOST_THREADS)
    wanted = "a scenario document, as `bench.document` returns one"
    if not isinstance(scenario_document, Mapping):
        refuse("scenario_document", scenario_document, wanted)
    text = json.dumps(
        dict(scenario_document),
        default=lambda value: refuse("scenario_document", value, f"{wanted}, all the way down"),
    )
    gc.collect()
    start = time.process_time()
    try:
        scenario = _core.Scenario(text)
    except ValueError as error:
        first = str(error).partition("\n")[0]
        raise InputError(f"{scenario_document.get('name', 'the document')}: {first}") from None
    simulation = _core.Simulation(scenario, threads=threads)
    setup_s = time.process_time() - start
    rss_setup_kb = _rss_kb()
    cpu_s = wall_s = records_s = 0.0
    keep_memory()  # as a run does that writes records to the disk
    done = False
    while not done:
        start, clock = time.process_time(), time.perf_counter()
        done = simulation.advance(3600.0, _HELD_ROWS)
        cpu_s += time.process_time() - start
        wall_s += time.perf_counter() - clock
        if not done:
            start = time.process_time()
            simulation.take_records(_LEAST_ROWS)
            records_s += time.process_time() - start
    rss_kb = _rss_kb()
    if fewer := fewer_threads(simulation, threads):
        getLogger("ackclock").warning(fewer)
    used, _ = simulation.threads()
    summary = json.loads(simulation.finish().summary)
    flows = summary["flows"].values()
    hops, events = summary["packet_hops"], summary["events"]
    return {
        "events": events,
        "pkt_hops": hops,
        "sent": sum(flow["segments_sent"] for flow in flows),
        "acked": sum(
            flow["bytes_delivered"] // flow["segment_bytes"]
            for flow in flows
            if "segment_bytes" in flow
        ),
        "drops": sum(flow["segments_dropped"] for flow in flows),
        "setup_s": round(setup_s, 6),
        "cpu_s": round(cpu_s, 6),
        "threads": used,
        "wall_s": round(wall_s, 6),
        "records_s": round(records_s, 6),
        "rss_setup_kb": rss_setup_kb,
        "rss_kb": rss_kb,
        "ns_per_event": round(1e9 * cpu_s / events, 2) if events else None,
        "ns_per_hop": round(1e9 * cpu_s / hops, 2) if hops else None,
        "digest": summary["digest"],
    }


def _rss_kb() -> int | None:
    try:
        import resource
    except ImportError:  # Windows
        return None
    import sys

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most // 1024 if sys.platform == "darwin" else most
