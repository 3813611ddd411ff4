"""Processes that fork from one that has loaded much: loading takes longer than what they do."""

import importlib
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Mapping
from pathlib import Path

_LOADED = multiprocessing.get_context("forkserver")
_LOADED.set_forkserver_preload(
    [
        "distributed.cli.dask_scheduler",
        "distributed.cli.dask_worker",
        "ackclock.cli.app",
        "ackclock.cli.sweep",
        "ackclock.labs.child",
        "ackclock.labs.runs",
        "ackclock.metrics",
        "ackclock.results",
        "ackclock.sweep.cluster",
        "ackclock.sweep.session",
        "ackclock.sweep.store",
        "ackclock.sweep.table",
    ]
)


class Forked(_LOADED.Process):
    """A call of `module:function` in a process of its own, used as one of `subprocess`.

    It gets a session, a current folder and an environment, and three files as its streams.
    """

    def __init__(
        self,
        function: str,
        *arguments: object,
        cwd: str | Path,
        env: Mapping[str, str],
        streams: tuple[str, str, str],
        has_children: bool = False,
    ) -> None:
        super().__init__(
            target=_begin,
            args=(function, arguments, cwd, dict(env), streams),
            # What still runs at the end is ended. This may not have processes of its own.
            daemon=not has_children,
        )
        self.start()

    def poll(self) -> int | None:
        return self.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self.join(timeout)
        if self.exitcode is None:
            raise subprocess.TimeoutExpired(self.name, timeout or 0.0)
        return self.exitcode


class Program(Forked):
    """A call of `ackclock`, used as one of `subprocess` whose output is text in pipes."""

    def __init__(self, *arguments: object, cwd: str | Path = ".") -> None:
        told = tempfile.mkdtemp()
        weakref.finalize(self, shutil.rmtree, told)
        self._files = [str(Path(told, name)) for name in ("out", "err")]
        super().__init__(
            "forked:call",
            *map(str, arguments),
            cwd=Path(cwd).absolute(),
            env=os.environ,
            streams=(os.devnull, self._files[0], self._files[1]),
        )

    @property
    def returncode(self) -> int | None:
        return self.exitcode

    def send_signal(self, number: int) -> None:
        assert self.pid is not None
        os.kill(self.pid, number)

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        self.wait(timeout)
        out, err = (Path(name).read_text(encoding="utf-8") for name in self._files)
        return out, err


def call(*arguments: str) -> None:
    """Do what `ackclock` does."""
    from ackclock import imports
    from ackclock.cli.app import main

    imports.spare()
    sys.argv = ["ackclock", *arguments]
    main()


def _begin(
    function: str,
    arguments: tuple[object, ...],
    cwd: str | Path,
    env: dict[str, str],
    streams: tuple[str, str, str],
) -> None:
    os.setsid()
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    for number, name in enumerate(streams):
        descriptor = os.open(name, os.O_RDWR | os.O_CREAT)
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115  # as long as the process
    module, _, name = function.partition(":")
    getattr(importlib.import_module(module), name)(*arguments)
