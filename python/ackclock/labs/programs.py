"""Runs programs of students in processes of their own, with limits.

This keeps mistakes from doing harm: endless loops, memory, files, output. It is not a sandbox: a
program that means to do harm can find a way past it, so grade strangers' programs in a container.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ackclock.labs.answers import copy_programs

# What a process may take to start, and to end by itself once its time is up.
_START_S = 30.0
_END_S = 5.0
_MOST_OUTPUT = 1 << 20


@dataclass(frozen=True)
class Limits:
    """What a program of a student may take.

    Attributes:
        seconds: Of each case, by the clock.
        memory_mb: Beyond what Python takes; libraries that a formula imports count.
    """

    seconds: float = 20.0
    memory_mb: int = 1024


@dataclass(frozen=True)
class Case:
    """What came of one case: a value, or a fault in words."""

    value: Any = None
    fault: str | None = None

    @property
    def unloaded(self) -> bool:
        """Whether the program could not be tried at all."""
        return "cannot be loaded" in (self.fault or "")


def run(folder: Path, job: dict[str, Any], cases: Sequence[Any], limits: Limits) -> list[Case]:
    """Run the cases of a job with the programs of a submission; a fault of one costs only that one.

    Args:
        folder: The submission.
        job: What `ackclock.labs.child` is to do, apart from the cases.
        cases: What to try: JSON values.
        limits: Of each case.
    """
    done: list[Case] = []
    while len(done) < len(cases):
        # A case that ends the process costs the cases after it a new one.
        done += _attempt(folder, job, cases[len(done) :], limits)
        if done and done[-1].unloaded:
            done += [done[-1]] * (len(cases) - len(done))
    return done


def _attempt(folder: Path, job: dict[str, Any], cases: Sequence[Any], limits: Limits) -> list[Case]:
    """Run cases until one of them ends the process; return at least one."""
    token = secrets.token_hex(16)
    with tempfile.TemporaryDirectory(prefix="ackclock-lab-") as made:
        place = Path(made).resolve()
        work = place / "work"
        work.mkdir()
        copy_programs(folder, work)
        task = {**job, "cases": list(cases), "token": token, "memory_mb": limits.memory_mb}
        task["seconds"] = limits.seconds
        (place / "job").write_text(json.dumps(task), encoding="utf-8")
        with (
            (place / "job").open("rb") as stdin,
            (place / "out").open("wb") as stdout,
            (place / "err").open("wb") as stderr,
        ):
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "ackclock.labs.child"],
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                cwd=work,
                env=_environment(),
                start_new_session=True,
            )
            whole = _START_S + (limits.seconds + _END_S) * len(cases)
            status: int | None = None
            try:
                status = process.wait(whole)
            except subprocess.TimeoutExpired:
                pass
            finally:
                _end(process)
        out, err = _beginning(place / "out"), _beginning(place / "err")
    found = _cases(out, token)[: len(cases)]
    if len(found) < len(cases):
        found.append(Case(fault=_why(status, err, work, limits)))
    return found


def _beginning(file: Path) -> str:
    with file.open("rb") as stream:
        return stream.read(_MOST_OUTPUT).decode(errors="replace")


def _environment() -> dict[str, str]:
    """Return what a student's program sees of our environment: no keys, no names of others."""
    kept = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "PYTHONPATH", "VIRTUAL_ENV", "LD_LIBRARY_PATH")
    here = {name: os.environ[name] for name in kept if name in os.environ}
    return {**here, "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "MPLBACKEND": "agg"}


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it has started in its session."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, 9)
    if process.poll() is None:
        process.kill()
    process.wait()


def _cases(out: str, token: str) -> list[Case]:
    found = []
    for line in out.splitlines():
        if line.startswith(token):
            with suppress(ValueError, TypeError):
                found.append(Case(**json.loads(line[len(token) :])))
    return found


_FRAME = re.compile(r'File "(?P<file>[^"<]+)", line (?P<line>\d+)')


def _why(status: int | None, err: str, work: Path, limits: Limits) -> str:
    """Return why a process ended without an answer, in words."""
    if "Timeout (" in err:
        # The lines of the program that was interrupted, the innermost first.
        trace = err.rpartition("Timeout (")[2]
        place = _place(trace.partition("most recent call first):")[2], work)
        return f"it had not ended after {limits.seconds:g} s{place}"
    if status is None:
        return f"it had not ended after {limits.seconds:g} s, and could not be interrupted"
    if "MemoryError" in err or status == -9:
        return f"it was ended: more than {limits.memory_mb} MB of memory, or ended from outside"
    if status < 0:
        with suppress(ValueError):
            return f"the process was ended by {signal.Signals(-status).name}"
    return f"the process ended before there was an answer (exit status {status})"


def _place(trace: str, work: Path) -> str:
    """Return the innermost line of the submission; controllers go by names without a folder."""
    for frame in _FRAME.finditer(trace):
        file = Path(frame["file"])
        if not file.is_absolute() or work in file.parents:
            return f", in {file.name} line {frame['line']}"
    return ""
