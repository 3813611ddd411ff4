"""A Dask scheduler and workers on this machine, each a process of its own."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

# What they measure of themselves costs more than waiting for work.
_QUIET = {
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "false",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "60s",
}

# A worker that begins with this, with the key of a run filled in, dies of that run.
DEADLY = """
import os
from ackclock.sweep import cluster
real = getattr(cluster, "real", cluster.simulate)  # a nanny has this run twice
cluster.real = real
def simulate(runs, *limits):
    if any({key!r} in one.keys for one in runs):
        os._exit(1)
    return real(runs, *limits)
cluster.simulate = simulate
"""


class Cluster:
    """Started apart, as on several machines: they share no folder with the program."""

    def __init__(self, folder: Path, allowed_failures: int = 3) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen] = []
        told = folder / "scheduler.json"
        self.scheduler = self._start(
            ["scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"],
            ["--scheduler-file", str(told)],
            DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES=str(allowed_failures),
        )
        self.address = ""
        deadline = time.monotonic() + 60
        while not self.address:
            assert time.monotonic() < deadline, "the scheduler does not start"
            time.sleep(0.05)
            try:
                self.address = json.loads(told.read_text())["address"]
            except (OSError, ValueError):  # not there, or half written
                continue

    def worker(self, preload: str | None = None, nanny: bool = False) -> subprocess.Popen:
        """Start a worker that first runs some code."""
        options = ["--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1"]
        if not nanny:
            options.append("--no-nanny")
        if preload is not None:
            file = self.folder / f"preload{len(self.processes)}.py"
            file.write_text(preload)
            options += ["--preload", str(file)]
        return self._start(["worker", self.address], options)

    def _start(self, command: list[str], options: list[str], **env: str) -> subprocess.Popen:
        with (self.folder / f"{len(self.processes)}.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", *command, *options],
                cwd=self.folder, env={**os.environ, **_QUIET, **env}, stdout=log, stderr=log,
                process_group=0,
            )  # fmt: skip
        self.processes.append(process)
        return process

    def close(self) -> None:
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(1)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
