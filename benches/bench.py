"""Measures the speed of the engine: ``make bench``.

For each workload the minimum and the median of several runs in processes of their own, all
workloads in turn, so that a busy moment of the machine does not hit one of them alone.
Instructions are counted by callgrind where it is installed; they do not depend on what else the
machine does. The cost of setting a run up is measured apart and, for instructions, taken out by
running two lengths.

Nothing is promised in seconds. ``instructions.json`` has instructions per packet-hop of the last
time that somebody stored them (``--store``); a workload that takes over 3 % more fails. Compilers
and processors differ by more than that; the file names its own. Beside them it has times a
packet-hop in steps of a loop of known cost, which runs before each run; half as much again fails.

``--gate`` counts instructions of some workloads alone: `make test`.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from ackclock.bench.workloads import (
    COUNTS,
    MOST_DIFFERENCE,
    RECORDS,
    Document,
    chain,
    clos,
    dumbbell,
)
from ackclock.scenario import Scenario

STORED = Path(__file__).with_name("instructions.json")
MOST_GROWTH = 0.03
"""By how much instructions per packet-hop may grow beyond the stored ones."""
MOST_SLOWER = 0.5
"""The same for steps of the loop: caches and clocks of machines differ."""
GATE = ("chain 1 x 10, 0.4 s", "dumbbell 10, 60 s", "dumbbell 100, modern CUBIC, 6 s")

SLOW_START_S = 0.3
"""By when the flows of a dumbbell have left slow start."""


@dataclass
class Workload:
    """A document to run, and a shorter one of the same kind for counting instructions."""

    name: str
    document: Document
    shorter: Document
    counts: dict[str, int] = field(default_factory=dict)
    """Data packets that other simulators send in the same work."""
    plain: str = ""
    """The same workload without records, where this one has some."""
    runs: list[dict[str, Any]] = field(default_factory=list)
    instructions: float | None = None


def paper(name: str, record: str, seconds: str) -> Workload:
    """A scenario of the gallery, with all or no records."""
    document = Scenario.load(name, overrides=[("record", record)]).document
    shorter = Scenario.load(
        name, overrides=[("record", record), ("stop.at_latest", seconds)]
    ).document
    label = "recorded" if record == "all" else "not recorded"
    short = name.rsplit("/", 1)[-1].removeprefix("test-")
    return Workload(f"{short}, {label}", document, shorter)


def made(kind: str, size: str, seconds: float) -> Document:
    """A workload by its name and size."""
    if kind == "clos":
        leaves, spines, hosts = map(int, size.split("x"))
        return clos(leaves, spines, hosts, seconds)
    return {"dumbbell": dumbbell, "chain": chain}[kind](int(size), seconds=seconds)


def workloads() -> list[Workload]:
    """Everything that is measured, in the order of the table."""
    listed = [
        Workload("chain 1 x 10, 0.4 s", chain(1), chain(1, seconds=0.02)),
        Workload(
            "chain 1000 x 10, 0.5 ms",
            chain(1000, seconds=0.0005),
            chain(1000, seconds=0.0002),
        ),
    ]
    for (kind, size, seconds), counts in COUNTS.items():
        # Not shorter than slow start, of which the long run hardly has any.
        least = SLOW_START_S if kind == "dumbbell" else 0
        whole, shorter = (
            made(kind, size, each) for each in (seconds, max(seconds / 10, 2 * least))
        )
        name = f"{kind} {int(size):,}" if size.isdigit() else f"{kind} {size}"
        listed.append(Workload(f"{name}, {seconds:g} s", whole, shorter, counts))
    for n, seconds in ((10, 60), (100, 6)):
        whole, shorter = (dumbbell(n, each, "cubic") for each in (seconds, seconds / 10))
        listed.append(Workload(f"dumbbell {n:,}, modern CUBIC, {seconds:g} s", whole, shorter))
    for sender, queue in (("bbr", "droptail"), ("newreno", "codel"), ("newreno", "fq-codel")):
        whole, shorter = (dumbbell(100, each, sender, queue) for each in (6, 0.6))
        word = f"modern {sender.upper()}" if sender != "newreno" else queue
        listed.append(Workload(f"dumbbell 100, {word}, 6 s", whole, shorter))
    for n, seconds in ((1, 600), (100, 6)):
        plain = f"dumbbell {n:,}, {seconds:g} s"
        for record, word in (("cwnd", "cwnd and RTT recorded"), ("all", "all recorded")):
            both = ({**dumbbell(n, s), "record": RECORDS[record]} for s in (seconds, seconds / 10))
            listed.append(Workload(f"dumbbell {n:,}, {word}, {seconds:g} s", *both, plain=plain))
    for case in ("0-fast", "0-reno", "1-fast", "1-reno", "2-fast", "2-reno"):
        name = f"caltech/test-case-{case}"
        listed.append(paper(name, "none", "12 s" if case[0] == "2" else "5 s"))
        listed.append(paper(name, "all", "12 s" if case[0] == "2" else "5 s"))
    return listed


def run(program: Path, path: Path) -> dict[str, Any]:
    """One run in a process of its own."""
    done = subprocess.run([program, "--loop", path], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def count(program: Path, path: Path, folder: Path) -> tuple[int, int]:
    """Instructions of the events of one run under callgrind, and its packet-hops.

    What comes before and after is left out: the work of the allocator there depends on addresses.
    """
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder / 'callgrind.out'}"]
    command.append("--toggle-collect=ackclock_bench::events*")
    done = subprocess.run([*command, program, path], capture_output=True, text=True, check=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if found is None:
        raise RuntimeError(f"callgrind printed no count: {done.stderr[-300:]}")
    return int(found[1]), json.loads(done.stdout)["packet_hops"]


def measure(listed: list[Workload], program: Path, rounds: int, counting: bool) -> None:
    """Runs all workloads, ``rounds`` times in turn."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths: list[tuple[Path, Path]] = []
        for index, workload in enumerate(listed):
            both = (folder / f"{index}.json", folder / f"{index}-shorter.json")
            for path, document in zip(both, (workload.document, workload.shorter), strict=True):
                path.write_text(json.dumps(document))
            paths.append(both)
        quiet = not sys.stderr.isatty()
        console = Console(stderr=True)
        for _ in track(range(rounds), "Timing", console=console, disable=quiet):
            for workload, (path, _) in zip(listed, paths, strict=True):
                workload.runs.append(run(program, path))
        if not counting:
            return
        pairs = list(zip(listed, paths, strict=True))
        for workload, (_, shorter) in track(
            pairs, "Counting instructions", console=console, disable=quiet
        ):
            # The difference of two lengths is free of the set-up.
            shortest = dict(workload.shorter)
            stop = dict(shortest["stop"])
            amount, unit = str(stop["at_latest"]).split()
            stop["at_latest"] = f"{float(amount) / 2:g} {unit}"
            shortest["stop"] = stop
            other = folder / "shortest.json"
            other.write_text(json.dumps(shortest))
            long, short = count(program, shorter, folder), count(program, other, folder)
            workload.instructions = (long[0] - short[0]) / (long[1] - short[1])


def row(workload: Workload) -> dict[str, Any]:
    """Figures of one workload."""
    runs = workload.runs
    hops = runs[0]["packet_hops"]
    ns = [1e9 * each["cpu_s"] / hops for each in runs]
    loops = [each["cpu_s"] / hops / each["loop_step_s"] for each in runs]
    digests = {each["digest"] for each in runs}
    if len(digests) != 1:
        raise RuntimeError(f"{workload.name}: runs differ: {sorted(digests)}")
    return {
        "workload": workload.name,
        "packet_hops": hops,
        "events_per_hop": runs[0]["events"] / hops,
        "ns_per_hop_min": min(ns),
        "loops_per_hop": statistics.median(loops),
        "instructions_per_hop": workload.instructions,
        "cpu_s_min": min(each["cpu_s"] for each in runs),
        "setup_ms_min": 1e3 * min(each["setup_s"] for each in runs),
        "built_mb": max(each["built_bytes"] for each in runs) / 1e6,
        "end_mb": max(each["end_bytes"] for each in runs) / 1e6,
        "digest": runs[0]["digest"],
        "sent": runs[0]["segments_sent"],
        "delivered": runs[0]["segments_delivered"],
        "dropped": runs[0]["segments_dropped"],
        "sent_elsewhere": workload.counts,
    }


RECORDING_LIMITS = {
    "dumbbell 1, cwnd and RTT recorded, 600 s": 1.4,
    "dumbbell 100, cwnd and RTT recorded, 6 s": 1.3,
    "dumbbell 1, all recorded, 600 s": 2.5,
    "dumbbell 100, all recorded, 6 s": 2.5,
}
"""How many times as many instructions as without records a run may take."""


def add_costs_of_records(listed: list[Workload], rows: list[dict[str, Any]]) -> None:
    """Adds what recording costs, as ratios to the same workload without records, in turn."""
    known = {workload.name: workload for workload in listed}
    for workload, figures in zip(listed, rows, strict=True):
        plain = known.get(workload.plain)
        if plain is None:
            continue
        pairs = list(zip(workload.runs, plain.runs, strict=True))
        ratio = [ours["cpu_s"] / its["cpu_s"] for ours, its in pairs]
        whole = [(ours["cpu_s"] + ours["records_s"]) / its["cpu_s"] for ours, its in pairs]
        both = workload.instructions, plain.instructions
        counted = both[0] / both[1] if both[0] and both[1] else None
        figures["recording"] = {
            "time": statistics.median(ratio),
            "time_with_columns": statistics.median(whole),
            "instructions": counted,
            "bytes_per_hop": workload.runs[0]["record_bytes"] / figures["packet_hops"],
        }


def within_recording_limit(figures: dict[str, Any]) -> str:
    """Whether recording costs as little as promised, in instructions."""
    limit = RECORDING_LIMITS.get(figures["workload"])
    counted = figures.get("recording", {}).get("instructions")
    if limit is None or counted is None:
        return ""
    return f"{'within' if counted <= limit else 'ABOVE'} {limit:g}"


def show_recording(rows: list[dict[str, Any]]) -> None:
    """Prints what recording costs."""
    table = Table(title="Recording: ratios to the same run without records, in turn")
    table.add_column("workload", no_wrap=True)
    for name in ("time", "with columns", "instructions", "bytes/hop", "limit"):
        table.add_column(name, justify="right")
    for figures in rows:
        cost = figures.get("recording")
        if cost is None:
            continue
        counted = cost["instructions"]
        table.add_row(
            figures["workload"],
            f"{cost['time']:.2f}",
            f"{cost['time_with_columns']:.2f}",
            "-" if counted is None else f"{counted:.2f}",
            f"{cost['bytes_per_hop']:.0f}",
            within_recording_limit(figures),
        )
    Console(width=None if sys.stdout.isatty() else 120).print(table)


def compiler() -> str:
    """The Rust compiler."""
    done = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def stored() -> dict[str, Any]:
    """What was stored last: compiler, machine, and figures a packet-hop by workload."""
    return json.loads(STORED.read_text()) if STORED.exists() else {}


def store(rows: list[dict[str, Any]]) -> None:
    """Stores the figures of this time."""
    made: dict[str, Any] = {"compiler": compiler(), "machine": platform.machine()}
    for name, key in (("instructions", "instructions_per_hop"), ("loops", "loops_per_hop")):
        made[name] = {each["workload"]: round(each[key], 1) for each in rows}
    STORED.write_text(json.dumps(made, indent=2) + "\n")


def verdict(name: str, figure: float | None, kind: str = "instructions") -> str:
    """Whether a workload takes as little as it did, where both are known."""
    before = stored().get(kind, {}).get(name)
    if before is None or figure is None:
        return ""
    limit = (1 + (MOST_GROWTH if kind == "instructions" else MOST_SLOWER)) * before
    return f"{'within' if figure <= limit else 'ABOVE'} {limit:.0f}"


def verdicts(figures: dict[str, Any]) -> str:
    """The same of both kinds."""
    name = figures["workload"]
    counted, looped = figures["instructions_per_hop"], figures["loops_per_hop"]
    both = verdict(name, counted), verdict(name, looped, "loops")
    return ", ".join(filter(None, both))


def gate(program: Path) -> int:
    """Counts instructions of some workloads, and nothing else."""
    before, here = stored(), (compiler(), platform.machine())
    if (before.get("compiler"), before.get("machine")) != here:
        print(f"Not checked: instructions per packet-hop (stored for another compiler than {here})")
        return 0
    listed = [workload for workload in workloads() if workload.name in GATE]
    measure(listed, program, rounds=0, counting=True)
    found = {each.name: verdict(each.name, each.instructions) for each in listed}
    for each in listed:
        print(f"{each.name}: {each.instructions:.1f} instructions per hop, {found[each.name]}")
    return int(any("within" not in found.get(name, "") for name in GATE))


def show(rows: list[dict[str, Any]]) -> None:
    """Prints the table."""
    table = Table(title="Cost of a packet-hop (one packet transmitted by one link)")
    table.add_column("workload", no_wrap=True)
    for name in (
        "packet-hops",
        "events/hop",
        "ns/hop min",
        "loops/hop",
        "instr/hop",
        "CPU s",
        "set-up ms",
        "MB built",
        "MB at end",
        "limit",
    ):
        table.add_column(name, justify="right")
    for figures in rows:
        instructions = figures["instructions_per_hop"]
        table.add_row(
            figures["workload"],
            f"{figures['packet_hops']:,}",
            f"{figures['events_per_hop']:.2f}",
            f"{figures['ns_per_hop_min']:.1f}",
            f"{figures['loops_per_hop']:.1f}",
            "-" if instructions is None else f"{instructions:.0f}",
            f"{figures['cpu_s_min']:.3f}",
            f"{figures['setup_ms_min']:.1f}",
            f"{figures['built_mb']:.2f}",
            f"{figures['end_mb']:.2f}",
            verdicts(figures),
        )
    Console(width=None if sys.stdout.isatty() else 170).print(table)


def same_work(figures: dict[str, Any]) -> str:
    """Whether another simulator sends as many packets in the same work, where we know that."""
    elsewhere = figures["sent_elsewhere"]
    if not elsewhere:
        return ""
    most = max(abs(figures["sent"] / count - 1) for count in elsewhere.values())
    return f"{'within' if most <= MOST_DIFFERENCE else 'ABOVE'} {100 * MOST_DIFFERENCE:g} %"


def show_counts(rows: list[dict[str, Any]]) -> None:
    """Prints what other simulators count in the same work."""
    table = Table(title="The work is the same: data packets")
    table.add_column("workload", no_wrap=True)
    names = list(dict.fromkeys(name for figures in rows for name in figures["sent_elsewhere"]))
    for name in ("sent", "delivered", "dropped", *(f"sent by {name}" for name in names), "limit"):
        table.add_column(name, justify="right")
    for figures in rows:
        if elsewhere := figures["sent_elsewhere"]:
            ours = [f"{figures[key]:,}" for key in ("sent", "delivered", "dropped")]
            theirs = [f"{elsewhere[name]:,}" if name in elsewhere else "-" for name in names]
            table.add_row(figures["workload"], *ours, *theirs, same_work(figures))
    Console(width=None if sys.stdout.isatty() else 170).print(table)


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("program", type=Path, help="the ackclock-bench program")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each workload (default 5)")
    parser.add_argument("--no-instructions", action="store_true", help="do not run callgrind")
    parser.add_argument("--store", action="store_true", help="store the instructions as limits")
    parser.add_argument("--gate", action="store_true", help="only count, and only some workloads")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    if options.gate:
        return gate(options.program)
    counting = not options.no_instructions
    if counting and shutil.which("valgrind") is None:
        counting = False
        print(
            "Instructions are not counted and no limit is looked at: valgrind is not installed.",
            file=sys.stderr,
        )
    listed = workloads()
    measure(listed, options.program, options.rounds, counting)
    rows = [row(workload) for workload in listed]
    if options.store and counting:
        store(rows)
    add_costs_of_records(listed, rows)
    show(rows)
    show_recording(rows)
    show_counts(rows)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n")
    words = [verdicts(each) + same_work(each) + within_recording_limit(each) for each in rows]
    return 1 if any("ABOVE" in each for each in words) else 0


if __name__ == "__main__":
    sys.exit(main())
