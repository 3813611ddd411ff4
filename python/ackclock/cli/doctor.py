"""`ackclock doctor`."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ackclock.cli.terminal import console, print_json

if TYPE_CHECKING:
    from collections.abc import Iterator

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "firefox")
_LITTLE = 1 << 30


def doctor(as_json: bool = False) -> None:
    """Report what is installed and works: versions, engine, optional parts, disk, terminal.

    Exit status 1 if simulations cannot run here.
    """
    findings = list(_findings())
    broken = any(found["state"] == "broken" for found in findings)
    if as_json:
        print_json({"findings": findings, "works": not broken})
    else:
        screen = console()
        styles = {"good": "green", "note": "yellow", "broken": "red"}
        for found in findings:
            style = styles[found["state"]]
            word = f"[{style}]{found['state']:6}[/{style}]"
            screen.print(f"{word} {found['what']:12} {found['says']}", soft_wrap=True)
            if found["hint"]:
                screen.print(f"{'':20}{found['hint']}", soft_wrap=True, markup=False)
    if broken:
        raise typer.Exit(1)


def _found(state: str, what: str, says: str, hint: str = "") -> dict[str, Any]:
    return {"state": state, "what": what, "says": says, "hint": hint}


def _findings() -> Iterator[dict[str, Any]]:
    version = platform.python_version()
    old = sys.version_info < (3, 11)
    machine = f"{platform.system()} {platform.machine()}"
    yield _found("broken" if old else "good", "Python", f"{version} on {machine}")
    yield from _engine()
    yield from _extras()
    yield from _disk()
    yield from _surroundings()


def _engine() -> Iterator[dict[str, Any]]:
    """The engine, and whether it was built to be fast."""
    try:
        from ackclock import _core
    except ImportError as error:
        hint = "pip install --force-reinstall ackclock"
        yield _found("broken", "engine", f"cannot be loaded: {error}", hint)
        return
    quick = _core.profile() != "release"
    says = f"{_core.version()}, build {_core.build()}, profile {_core.profile()}"
    hint = "slower than it could be: make setup PROFILE=release" if quick else ""
    yield _found("note" if quick else "good", "engine", says, hint)


def _extras() -> Iterator[dict[str, Any]]:
    """The optional parts, by what is installed: the program hides what it does not use itself."""
    from importlib.metadata import PackageNotFoundError, version

    from ackclock.extras import EXTRAS

    for name, (what, modules) in EXTRAS.items():
        try:
            says = ", ".join(f"{module} {version(module)}" for module in modules)
        except PackageNotFoundError as error:
            says = f"{error.name} is not installed ({what})"
            yield _found("note", name, says, f"pip install 'ackclock[{name}]'")
        else:
            yield _found("good", name, says)


def _disk() -> Iterator[dict[str, Any]]:
    here = Path.cwd()
    free = shutil.disk_usage(here).free
    if not os.access(here, os.W_OK):
        yield _found("note", "disk", f"{here} cannot be written to", "give --out, or go elsewhere")
    elif free < _LITTLE:
        yield _found("note", "disk", f"{free / 2**20:.0f} MiB free here: long runs need more")
    else:
        yield _found("good", "disk", f"{free / 2**30:.1f} GiB free here")


def _surroundings() -> Iterator[dict[str, Any]]:
    from ackclock.cli.glance import knows_braille

    if not sys.stdout.isatty():
        yield _found("good", "terminal", "none: output goes to a file or a program")
    else:
        size = shutil.get_terminal_size()
        charts = "charts of dots" if knows_braille() else "charts of ASCII"
        color = "no colour" if "NO_COLOR" in os.environ else "colour"
        narrow = size.columns < 80
        says = f"{size.columns} columns, {charts}, {color}"
        hint = "80 columns show tables whole" if narrow else ""
        yield _found("note" if narrow else "good", "terminal", says, hint)
    browser = next((name for name in _BROWSERS if shutil.which(name)), None)
    if browser or sys.platform in ("darwin", "win32"):
        yield _found("good", "browser", browser or "that of the system")
    else:
        hint = "reports are single files: any browser elsewhere opens them"
        yield _found("note", "browser", "none found", hint)
