"""Memory of `ackclock run` with all records: `python benches/memory.py`.

Two flows over a bottleneck run until their packets have made a little over 50 million hops, or as
many as the argument says. All tables are recorded and written to disk meanwhile; no plots. The run
directory, about 25 bytes per packet-hop, is removed afterwards. Exit status 1 when the process has
taken more memory than it may.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

LIMIT_MB = 500
HOPS_PER_S = (3 + 1.5) * 1e9 / (8 * 1500)
"""A data packet takes three links, and so does an ACK for every other one."""


def scenario(packet_hops: float) -> dict[str, Any]:
    """Two Reno flows that keep a link of 1 Gbps busy for so many packet-hops."""
    edge = {"rate": "10 Gbps", "delay": "1 ms", "queue": {"limit": "unlimited"}}
    links = [{"id": f"{end}{n}", "between": [f"{end}{n}", router], **edge}
             for end, router in (("S", "R1"), ("D", "R2")) for n in (1, 2)]  # fmt: skip
    middle = {"id": "bottleneck", "between": ["R1", "R2"], "rate": "1 Gbps", "delay": "5 ms"}
    return {
        "name": "memory",
        "hosts": ["S1", "S2", "D1", "D2"],
        "routers": ["R1", "R2"],
        "links": [*links, {**middle, "queue": {"limit": "2 BDP"}}],
        "flows": [
            {"id": f"F{n}", "from": f"S{n}", "to": f"D{n}", "tcp": "newreno"} for n in (1, 2)
        ],
        "stop": {"at_latest": f"{packet_hops / HOPS_PER_S:.3f} s"},
        "record": "all",
    }


def main() -> int:
    """Run, and print what was needed."""
    parser = argparse.ArgumentParser(description="Memory of a run with all records")
    parser.add_argument("packet_hops", nargs="?", type=float, default=5.5e7)
    chosen = parser.parse_args()
    program = [sys.executable, "-c", "from ackclock.cli.app import program; program()"]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "memory.json"
        file.write_text(json.dumps(scenario(chosen.packet_hops)), encoding="utf-8")
        command = [*program, "run", str(file), "--no-plots", "--out", str(Path(folder) / "run")]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        if status:
            return 1
        summary = json.loads((Path(folder) / "run" / "summary.json").read_text(encoding="utf-8"))
        records = sum(path.stat().st_size for path in Path(folder).rglob("*.parquet"))
    peak_mb = used.ru_maxrss * 1024 / 1e6
    verdict = "within" if peak_mb <= LIMIT_MB else "EXCEEDED"
    print(
        f"{summary['packet_hops']:,} packet-hops, {records / 1e6:,.0f} MB of records, "
        f"{used.ru_utime + used.ru_stime:.0f} s of CPU: {peak_mb:.0f} of {LIMIT_MB} MB  {verdict}"
    )
    return int(peak_mb > LIMIT_MB)


if __name__ == "__main__":
    sys.exit(main())
