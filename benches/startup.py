"""CPU time of whole commands against their budgets: what a user waits for before anything happens.

The least of several runs is taken, after one that lets Python keep what it compiles. Anything else
that runs on the machine makes it more: the budgets are meant for an idle one. Exit status 1 when
one is exceeded.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

SMALL = """\
name: small
hosts: [A, B]
links: [{id: L, between: [A, B], rate: 10 Mbps, delay: 1 ms}]
flows: [{id: F, from: A, to: B, tcp: newreno}]
stop: {at_latest: 10 ms}
"""
RUN = ["run", "small.yaml", "--out", "out", "--force"]
PROGRAM = "from ackclock.cli.app import program; program()"
BUDGETS = {  # seconds of CPU, user and system
    "import ackclock": (0.08, "import ackclock", []),
    "version": (0.15, PROGRAM, ["--version"]),
    "help": (0.3, PROGRAM, ["--help"]),
    "list": (0.2, PROGRAM, ["list"]),
    "validate a small scenario": (0.15, PROGRAM, ["validate", "small.yaml"]),
    "run of 10 ms, no plots": (0.4, PROGRAM, [*RUN, "--no-plots"]),
    "run of 10 ms, plots": (1.5, PROGRAM, RUN),
}
TIMES = 7


def cpu_s(command: list[str], folder: str) -> float:
    """Return the CPU time of a command, its children included."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, env=kept, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    """Print each budget with what was used of it."""
    exceeded = False
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "small.yaml").write_text(SMALL)
        print(f"{'Command':28} {'CPU, s':>8} {'Budget, s':>10}")
        for name, (budget, code, arguments) in BUDGETS.items():
            command = [sys.executable, "-c", code, *arguments]
            cpu_s(command, folder)
            used = min(cpu_s(command, folder) for _ in range(TIMES))
            exceeded = exceeded or used > budget
            verdict = "within" if used <= budget else "EXCEEDED"
            print(f"{name:28} {used:8.3f} {budget:10.2f}  {verdict}")
    return int(exceeded)


if __name__ == "__main__":
    sys.exit(main())
