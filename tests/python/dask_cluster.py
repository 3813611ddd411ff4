"""A Dask scheduler and workers on this machine, each a process of its own."""

import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from forked import Forked

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


def run(command: str, arguments: list[str]) -> None:
    """Do what `dask COMMAND` does, where Dask has been loaded with another environment."""
    import dask

    dask.config.refresh()
    importlib.import_module(f"distributed.cli.dask_{command}").main(arguments)


class Cluster:
    """Started apart, as on several machines: they share no folder with the program.

    `before` stands before each of their commands, `preload` is code that each runs first.
    """

    def __init__(
        self,
        folder: Path,
        allowed_failures: int = 3,
        before: Sequence[str] = (),
        preload: str | None = None,
    ) -> None:
        self.folder = folder
        self.before = before
        self.preload = preload
        self.processes: list[subprocess.Popen | Forked] = []
        told = folder / "scheduler.json"
        self.scheduler = self._start(
            ["scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"],
            ["--scheduler-file", str(told)],
            preload,
            DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES=str(allowed_failures),
        )
        self.address = ""
        deadline = time.monotonic() + (600 if before else 60)
        while not self.address:
            assert time.monotonic() < deadline, "the scheduler does not start"
            time.sleep(0.05)
            try:
                self.address = json.loads(told.read_text())["address"]
            except (OSError, ValueError):  # not there, or half written
                continue

    def worker(self, preload: str | None = None, nanny: bool = False) -> subprocess.Popen | Forked:
        """Start a worker that first runs some code."""
        options = ["--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1"]
        if not nanny:
            options.append("--no-nanny")
        return self._start(["worker", self.address], options, preload or self.preload)

    def _start(
        self, command: list[str], options: list[str], preload: str | None, **env: str
    ) -> subprocess.Popen | Forked:
        if preload is not None:
            file = self.folder / f"preload{len(self.processes)}.py"
            file.write_text(preload)
            options = [*options, "--preload", str(file)]
        log, env = self.folder / f"{len(self.processes)}.log", {**os.environ, **_QUIET, **env}
        if self.before:
            with log.open("wb") as stream:
                process = subprocess.Popen(
                    [*self.before, sys.executable, "-m", "dask", *command, *options],
                    cwd=self.folder, env=env, stdout=stream, stderr=stream, process_group=0,
                )  # fmt: skip
        else:
            process = Forked(
                "dask_cluster:run", command[0], [*command[1:], *options],
                cwd=self.folder, env=env, streams=(os.devnull, str(log), str(log)),
                has_children=command[0] == "worker" and "--no-nanny" not in options,
            )  # fmt: skip
        self.processes.append(process)
        return process

    def close(self, patience_s: float = 1.0) -> None:
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(patience_s)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
