"""A sweep of 100,000 small runs, killed ten times at random: is it complete, each run once?

Exit status 1 if not. To be run by hand: it takes some minutes.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from ackclock.sweep import Study, load

SMALL = """\
name: tiny
hosts: [A, B]
links: [{id: L, between: [A, B], rate: 10 Mbps, delay: 1 ms}]
flows: [{id: F, from: A, to: B, send: 20 KB, tcp: newreno}]
stop: {when: flows-complete, at_latest: 10 s}
"""
GRID = {"links.L.rate": [f"{rate} kbps" for rate in range(1000, 2000)]}
STUDY = {"study": "kills", "base": "tiny.yaml", "grid": GRID, "replications": 100}
COMMAND = [sys.executable, "-c", "from ackclock.cli.app import program; program()", "sweep"]
KILLS = 10
SOON_S = 0.05
"""Longest time from the first finished runs to a kill: ten of them have to fit into the sweep."""


def main() -> int:
    """Kill it, let it finish, and count."""
    draw = random.Random(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "tiny.yaml").write_text(SMALL)
        (folder / "kills.yaml").write_text(json.dumps(STUDY))
        log, killed, started = folder / "s/log.txt", 0, time.monotonic()
        while True:
            before = log.stat().st_size if log.exists() else 0
            process = subprocess.Popen(
                [*COMMAND, "kills.yaml", "--out", "s", "--json"], cwd=folder, stdout=-3
            )
            while killed < KILLS and process.poll() is None:
                if log.exists() and log.stat().st_size > before:
                    time.sleep(draw.random() * SOON_S)
                    process.kill()
                    killed += 1
                    break
                time.sleep(0.01)
            if process.wait() == 0:
                break
        keys = Study.load(folder / "kills.yaml").plan().keys
        place = {key: index for index, key in enumerate(keys)}
        done: Counter[int] = Counter()
        for words in map(str.split, log.read_text().splitlines()):
            if words[2] == "done":
                done.update(range(place[words[3]], place[words[3]] + int(words[4])))
        results = load(folder / "s")
        twice = sum(count > 1 for count in done.values())
        print(f"killed {killed} times, {len(results)} rows of {len(keys)}, {results.failed} failed")
        # Results are kept before the log says so, and a kill may come in between.
        print(f"{len(done)} runs in the log, {twice} twice; {time.monotonic() - started:.0f} s")
        right = results.table["key"].to_pylist() == keys and not twice
        return int(killed < KILLS or not right or results.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
