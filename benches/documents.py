"""Measures the way from a document to the first event: ``python benches/documents.py 10000``.

For each form of a dumbbell of so many flows (short: a topology and a flow with ``count``; long: all
hosts, links and flows written out), as YAML and as JSON, a process of its own loads the scenario
and handles one event. It reports seconds of CPU and the peak of memory, whole and beyond what the
interpreter takes with everything imported, after loading and after the first event.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from ackclock.bench.workloads import Document, dumbbell

LIMITS = {10_000: (0.7, 80), 100_000: (7.0, 600)}
"""Seconds of CPU, and MB beyond the interpreter, that any form may take, by flows."""


def main() -> None:
    """Measure, print a table, and fail where a document takes more than its limit."""
    parser = argparse.ArgumentParser(description="Time and memory up to the first event")
    parser.add_argument("flows", nargs="*", type=int, default=[10_000], help="numbers of flows")
    parser.add_argument("--form", choices=("short", "long"), help="one form only")
    parser.add_argument("--measure", metavar="FILE", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.measure:
        print(json.dumps(measure(Path(chosen.measure))))
        return
    print("    flows  form   as     size MB  load s  to event s  load MB  to event MB  beyond MB")
    failed = False
    for flows in chosen.flows:
        for form in (chosen.form,) if chosen.form else ("short", "long"):
            document = dumbbell(flows, 1.0)
            if form == "long":
                document = written_out(document)
            for kind, text in (("json", json.dumps(document)), ("yaml", as_yaml(document))):
                figures = apart(text, kind)
                beyond = figures["event_mb"] - figures["base_mb"]
                print(
                    f"{flows:9,}  {form:5}  {kind:5}{len(text) / 1e6:9.1f}{figures['load_s']:8.2f}"
                    f"{figures['event_s']:12.2f}{figures['load_mb']:9.0f}"
                    f"{figures['event_mb']:13.0f}{beyond:11.0f}"
                )
                seconds, megabytes = LIMITS.get(flows, (math.inf, math.inf))
                failed |= figures["event_s"] > seconds or beyond > megabytes
    sys.exit(1 if failed else 0)


def written_out(document: Document) -> Document:
    """A dumbbell with all its nodes, links and flows written out one by one."""
    topology, (template,) = document["topology"], document["flows"]
    n = topology["leaves"]

    def link(name: str, ends: list[str], block: Document, i: int = 0) -> Document:
        own = {k: v[i % len(v)] if isinstance(v, list) else v for k, v in block.items()}
        return {"id": name, "between": ends, **own}

    access = [link(f"access{i + 1}", [f"S{i + 1}", "R1"], topology["access"], i) for i in range(n)]
    egress = [link(f"egress{i + 1}", ["R2", f"D{i + 1}"], topology["egress"]) for i in range(n)]
    flows = [
        {
            "id": f"F{i + 1}",
            "from": f"S{i + 1}",
            "to": f"D{i + 1}",
            "start": f"{40_000_000 * i // n} ns",
            "tcp": template["tcp"],
        }
        for i in range(n)
    ]
    return {
        **{key: value for key, value in document.items() if key != "topology"},
        "hosts": [f"{side}{i + 1}" for side in "SD" for i in range(n)],
        "routers": ["R1", "R2"],
        "links": [*access, link("bottleneck", ["R1", "R2"], topology["bottleneck"]), *egress],
        "flows": flows,
    }


def as_yaml(document: Document) -> str:
    """The document as people write YAML: a line for each key, and for each element of a list."""

    def inside(value: object) -> str:
        if isinstance(value, dict):
            return "{" + ", ".join(f"{key}: {inside(one)}" for key, one in value.items()) + "}"
        if isinstance(value, list):
            return f"[{', '.join(map(inside, value))}]"
        return value if isinstance(value, str) else json.dumps(value)

    lines: list[str] = []
    for key, value in document.items():
        if isinstance(value, list) and value:
            lines += [f"{key}:", *(f"- {inside(one)}" for one in value)]
        else:
            lines.append(f"{key}: {inside(value)}")
    return "\n".join(lines) + "\n"


def apart(text: str, kind: str) -> dict[str, float]:
    """The figures of a document, from a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"scenario.{kind}"
        file.write_text(text, encoding="utf-8")
        command = [sys.executable, __file__, "--measure", str(file)]
        return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def measure(file: Path) -> dict[str, float]:
    """Seconds of CPU and peaks of memory of this process."""
    import ackclock
    from ackclock import _core
    from ackclock.run import run

    # A small scenario first: what is loaded and made once is not part of the measurement.
    run(ackclock.Scenario.from_dict(dumbbell(1, 0.001)))
    base_mb, base_s = peak_mb(), cpu_s()
    scenario = ackclock.Scenario.load(file)
    load_mb, load_s = peak_mb(), cpu_s()
    _core.Simulation(scenario.handle).advance(0.0)
    return {
        "base_mb": base_mb,
        "load_s": load_s - base_s,
        "load_mb": load_mb,
        "event_s": cpu_s() - base_s,
        "event_mb": peak_mb(),
    }


def cpu_s() -> float:
    """The CPU time that this process has used so far, seconds."""
    times = os.times()
    return times.user + times.system


def peak_mb() -> float:
    """The most memory that this process has had so far, MB (of Linux's account)."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e6


if __name__ == "__main__":
    main()
