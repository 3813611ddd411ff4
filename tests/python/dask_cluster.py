"""A Dask scheduler and workers on this machine, each a process of its own."""

import importlib
import json
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Sequence
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


# Loading Dask takes a second, most of what a worker of a test costs: one process does, and forks.
_LOADED = multiprocessing.get_context("forkserver")
_LOADED.set_forkserver_preload(["distributed.cli.dask_scheduler", "distributed.cli.dask_worker"])


class _Forked(_LOADED.Process):
    """A command of Dask in a process of its own, used as one of `subprocess`."""

    def __init__(self, command: list[str], folder: Path, log: Path, env: dict[str, str]) -> None:
        # What still runs at the end is ended, but for a nanny: it has to have a child.
        daemon = command[0] == "scheduler" or "--no-nanny" in command
        super().__init__(target=_begin, args=(command, folder, log, env), daemon=daemon)
        self.start()

    def poll(self) -> int | None:
        return self.exitcode

    def wait(self, timeout: float | None = None) -> int | None:
        self.join(timeout)
        if self.exitcode is None:
            raise subprocess.TimeoutExpired(self.name, timeout or 0.0)
        return self.exitcode


def _begin(command: list[str], folder: Path, log: Path, env: dict[str, str]) -> None:
    import dask

    os.setpgid(0, 0)
    os.chdir(folder)
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.environ.update(env)
    dask.config.refresh()
    importlib.import_module(f"distributed.cli.dask_{command[0]}").main(command[1:])


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
        self.processes: list[subprocess.Popen | _Forked] = []
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

    def worker(self, preload: str | None = None, nanny: bool = False) -> subprocess.Popen | _Forked:
        """Start a worker that first runs some code."""
        options = ["--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1"]
        if not nanny:
            options.append("--no-nanny")
        return self._start(["worker", self.address], options, preload or self.preload)

    def _start(
        self, command: list[str], options: list[str], preload: str | None, **env: str
    ) -> subprocess.Popen | _Forked:
        if preload is not None:
            file = self.folder / f"preload{len(self.processes)}.py"
            file.write_text(preload)
            options = [*options, "--preload", str(file)]
        log, env = self.folder / f"{len(self.processes)}.log", _QUIET | env
        if self.before:
            with log.open("wb") as stream:
                process = subprocess.Popen(
                    [*self.before, sys.executable, "-m", "dask", *command, *options],
                    cwd=self.folder, env={**os.environ, **env}, stdout=stream, stderr=stream,
                    process_group=0,
                )  # fmt: skip
        else:
            process = _Forked([*command, *options], self.folder, log, env)
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
