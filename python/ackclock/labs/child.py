"""The process that runs a student's program: `python -m ackclock.labs.child` with a job as input.

It sets limits, takes standard output away from the program, refuses files that are not its own or
Python's, other processes and the network by an audit hook, and answers with a line for each case.

The hook stops accidents and simple cheating. It is not a sandbox: compiled code is not watched, and
installed packages, which a program may import, have plenty of it.
"""

from __future__ import annotations

import faulthandler
import importlib.util
import inspect
import json
import math
import os
import sys
import sysconfig
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from ackclock import imports
from ackclock.aside import set_aside
from ackclock.errors import save_as_utf8
from ackclock.labs.answers import alike
from ackclock.labs.questions import HIDDEN

_MOST_FILE_BYTES = 16 << 20
_REFUSED = (
    "subprocess.Popen",
    "socket.connect",
    "socket.bind",
    "socket.sendto",
)
_LISTING = ("os.listdir", "os.scandir")
_CHANGING = ("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.chmod", "os.link", "os.symlink")


class _RefusedError(PermissionError):
    """Something that a program of a lab may not do."""


def main() -> None:
    """Do the job on standard input."""
    imports.spare()
    job = json.load(sys.stdin)
    place = Path.cwd()
    with suppress(OSError):
        (place.parent / "job").unlink()
    answer, errors = _take_output(job["token"])
    work = {"formula": _formula, "controller": _controller, "load": _loading}[job["kind"]](job)
    _limit(job["memory_mb"])
    sys.path.append(str(place))
    if os.name == "nt":
        import ctypes  # noqa: F401  # opens the system's library while it is imported
    sys.addaudithook(_hook(place, _readable(place, job.get("lab"))))
    faulthandler.enable(errors)
    try:
        for case in job["cases"]:
            faulthandler.dump_traceback_later(job["seconds"], exit=True, file=errors)
            try:
                found = {"value": work(case)}
            except BaseException as error:  # `exit()` and Ctrl-C are faults of the program, too
                found = {"fault": _fault(error)}
            faulthandler.cancel_dump_traceback_later()
            answer(found)
    except MemoryError:  # none is left to say what went wrong
        os.write(errors, b"MemoryError")
    # Threads that a program has left, and what it wants done at the end, do not count.
    os._exit(0)


def _take_output(token: str) -> tuple[Callable[[dict[str, Any]], None], int]:
    """Return a function that answers, and where faults go; what the program prints goes nowhere."""
    _, channel, errors = set_aside(0, 1, 2)
    sys.dont_write_bytecode = True

    def answer(found: dict[str, Any]) -> None:
        os.write(channel, f"\n{token}{json.dumps(found)}\n".encode())

    return answer, errors


def _limit(memory_mb: int) -> None:
    """Set limits where the system has them (not on Windows; on macOS not of memory)."""
    try:
        import resource
    except ImportError:
        return
    used = 0
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
        used = int(pages) * resource.getpagesize()
    except OSError:
        used = 4 << 30
    most = used + (memory_mb << 20)
    for what, value in (
        (resource.RLIMIT_AS, most),
        (resource.RLIMIT_FSIZE, _MOST_FILE_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (value, value))


def _readable(place: Path, lab: str | None) -> Callable[[str], bool]:
    """Return a function that says whether a program may read a file or folder.

    It may read its own, what Python and the installed packages consist of, and what the system says
    of this process; but no solutions and hidden networks of labs.
    """
    python = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    own = [*filter(None, sys.path), *python, *filter(None, [lab])]
    system = ["/usr/share/zoneinfo", "/sys/fs/cgroup", "/sys/devices", f"/proc/{os.getpid()}"]
    roots = {os.path.realpath(root) for root in [str(place), *own, *system]}
    begins = tuple(root + os.sep for root in roots)
    single = {
        os.devnull,
        "/dev/urandom",
        "/proc/meminfo",
        "/proc/cpuinfo",
        "/etc/localtime",
        *roots,
    }
    real = os.path.realpath

    def may_read(path: str) -> bool:
        path = real(path)
        if path.endswith(f"{os.sep}{HIDDEN}") or f"{os.sep}solution{os.sep}" in path:
            return path.startswith(str(place) + os.sep)
        return path in single or path.startswith(begins)

    return may_read


def _hook(place: Path, may_read: Callable[[str], bool]) -> Callable[[str, tuple[Any, ...]], None]:
    """Return a hook that refuses what has no place in an answer."""
    inside = str(place) + os.sep
    absolute = os.path.abspath

    def check_library(name: Any) -> None:
        """Refuse libraries of C that no import would load, such as that of the system.

        Packages such as numpy open the process itself (None), or a library in their own folder.
        """
        if name is None:
            return
        path = os.fsdecode(name) if isinstance(name, str | bytes) else ""
        own = absolute(path).startswith(inside)
        if os.sep not in path or own or not may_read(path):
            raise _RefusedError(f"a program of a lab may not load the library '{name}'")

    def check_symbol(library: Any, symbol: Any) -> None:
        """Refuse functions of the process itself, such as system(), but for those of Python."""
        if getattr(library, "_name", "") is None and not str(symbol).startswith(("Py", "_Py")):
            raise _RefusedError(f"a program of a lab may not call the C function {symbol}()")

    def check(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _REFUSED or event.startswith(
            ("os.exec", "os.fork", "os.posix_spawn", "os.sys")
        ):
            raise _RefusedError(f"a program of a lab may not do this: {event}")
        if event == "ctypes.dlopen":
            check_library(*arguments)
        if event == "ctypes.dlsym":
            check_symbol(*arguments)
        if event == "os.kill":
            raise _RefusedError("a program of a lab may not end processes")
        if event in _CHANGING or (event == "open" and _writes(arguments)):
            path = arguments[0]
            if isinstance(path, int) or path == os.devnull:
                return
            if not absolute(os.fsdecode(path)).startswith(inside):
                raise _RefusedError(f"a program of a lab may not change '{os.fsdecode(path)}'")
        elif event == "open" or event in _LISTING:
            path = arguments[0]
            if isinstance(path, str | bytes) and not may_read(os.fsdecode(path)):
                raise _RefusedError(f"a program of a lab may not read '{os.fsdecode(path)}'")

    return check


def _writes(arguments: tuple[Any, ...]) -> bool:
    mode, flags = arguments[1], arguments[2]
    if isinstance(mode, str):
        return any(letter in mode for letter in "wax+")
    return bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND))


def _fault(error: BaseException) -> str:
    """Return an exception in words, with the line of the student's program."""
    if isinstance(error, SystemExit):
        what = "the program called exit()"
    elif isinstance(error, _RefusedError | _LoadError):
        what = str(error)
    else:
        what = traceback.format_exception_only(error)[-1].strip()
    if len(what) > 500:
        what = what[:500] + "..."
    here = str(Path.cwd())
    own = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(here)]
    if isinstance(error, SyntaxError) and error.filename:
        return f"{Path(error.filename).name} line {error.lineno}: {error.msg}"
    if own:
        return f"{Path(own[-1].filename).name} line {own[-1].lineno}: {what}"
    return what


def _load(name: str) -> ModuleType:
    file = Path.cwd() / name
    if not file.is_file():
        raise _LoadError(f"there is no such file{alike(file)}")
    raw = file.read_bytes()
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise _LoadError(f"{name} line {line}: not UTF-8 text; {save_as_utf8(raw)}") from None
    spec = importlib.util.spec_from_file_location("submission", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _loaded(name: str) -> ModuleType:
    try:
        return _load(name)
    except BaseException as error:
        raise _LoadError(f"{name} cannot be loaded: {_fault(error)}") from None


def _loading(job: dict[str, Any]) -> Callable[[Any], Any]:
    def work(case: None) -> None:
        _loaded(job["file"])

    return work


def _formula(job: dict[str, Any]) -> Callable[[Any], Any]:
    loaded: list[ModuleType] = []

    def work(case: dict[str, Any]) -> Any:
        if not loaded:
            loaded.append(_loaded(job["file"]))
        function = getattr(loaded[0], job["function"], None)
        if not callable(function):
            own = [f"{n}()" for n, f in vars(loaded[0]).items() if isinstance(f, FunctionType)]
            there = f"; it has {', '.join(own[:5])}" if own else ""
            wanted = f"it has no function {job['function']}()"
            raise _LoadError(f"{job['file']} cannot be loaded: {wanted}{there}")
        try:
            inspect.signature(function).bind(**case)
        except TypeError:
            names = ", ".join(case)
            wanted = f"{job['function']}() is called with {names}: keep the names of its arguments"
            raise _LoadError(f"{job['file']} cannot be loaded: {wanted}") from None
        return _plain(function(**case))

    return work


class _LoadError(Exception):
    """What keeps a program from being tried, in words."""


def _plain(value: Any) -> Any:
    """Return an answer as JSON holds it; of what it is not, the kind."""
    if value is None or isinstance(value, bool | str):
        return value[:200] if isinstance(value, str) else value
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"returned a {type(value).__name__}, not a number") from None
    if not math.isfinite(number):
        raise ValueError(f"returned {number}, not a finite number")
    return number


def _controller(job: dict[str, Any]) -> Callable[[Any], Any]:
    from ackclock import labs, metrics, results  # noqa: F401  # before limits are set
    from ackclock.controllers import faults
    from ackclock.errors import AckclockError, ScenarioError
    from ackclock.labs.runs import Runs, simulate

    faults.LIMIT.seconds = min(faults.LIMIT.seconds, job["seconds"] / 4)
    lab = labs.find(job["lab"])
    question = next(one for one in lab.questions if one.name == job["question"])
    assert isinstance(question, labs.Controller)
    criteria = question.criteria
    runs = Runs(lab.folder, lab.scenarios)

    def work(case: dict[str, Any]) -> dict[str, float]:
        file = Path.cwd() / job["file"]
        if not file.is_file():
            raise _LoadError(f"{file.name} cannot be loaded: there is no such file{alike(file)}")
        changes = dict(case["changes"])
        program = {"kind": "python", "file": job["file"]}
        try:
            scenario = runs.scenario(case["scenario"], changes)
            for flow in scenario.flows:
                if flow.startswith("mine"):
                    scenario = scenario.set(f"flows.{flow}.tcp.cc", dict(program))
            found = simulate(scenario)
        except ScenarioError as error:
            said = ("; ".join(filter(None, (one.message, one.hint))) for one in error.problems)
            raise _LoadError("; ".join(said)) from None
        except AckclockError as error:
            raise _LoadError(str(error)) from None
        judged = [one for one in criteria if one.scenario == case["scenario"]]
        return {one.name: float(one.figure(found)) for one in judged}

    return work


if __name__ == "__main__":
    main()
