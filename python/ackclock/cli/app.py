"""The program `ackclock`: its commands, and what happens when one of them fails."""

from __future__ import annotations

import errno
import inspect
import io
import itertools
import os
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from ackclock import imports
from ackclock.cli.declared import declare
from ackclock.cli.terminal import fail
from ackclock.errors import AckclockError, InputError

PANELS = {
    "Experiment": (
        "demo",
        "run",
        "sweep",
        "replicate",
        "reproduce",
        "script",
        "check-cc",
        "bench",
    ),
    "Look closer": (
        "report",
        "playground",
        "table",
        "diff",
        "plot",
        "log",
        "step",
        "export",
        "theory",
    ),
    "Set up": ("doctor",),
    "Write scenarios": ("list", "validate", "schema", "convert"),
    "Teach and learn": ("lab", "grade"),
}
"""Commands by their heading. `ackclock.cli.NAME` (`_` for `-`) holds the function of each."""


def application(names: Iterable[str] | None = None) -> typer.Typer:
    """Return the program with all commands, or with these: each costs the import of its module."""
    app = typer.Typer(
        name="ackclock",
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(_ackclock)
    for panel, commands in PANELS.items():
        for name in commands:
            if names is None or name in names:
                plain = name.replace("-", "_")
                module = import_module(f"ackclock.cli.{plain}")
                command = getattr(module, "list_" if name == "list" else plain)
                if isinstance(command, typer.Typer):
                    for part in command.registered_commands:
                        declare(f"{name} {part.name}", part.callback)
                        part.help = _help(part.callback)
                    app.add_typer(command, name=name, rich_help_panel=panel)
                    continue
                declare(name, command)
                app.command(name, help=_help(command), rich_help_panel=panel)(command)
    return app


def _help(command: object) -> str:
    """Return a docstring as help: lines flow together, except examples, which start in colour."""
    blocks = inspect.cleandoc(command.__doc__ or "").split("\n\n")
    return "\n\n".join(
        block if block.startswith("[cyan]") else " ".join(block.split()) for block in blocks
    )


def _version(asked: bool) -> None:
    if asked:
        from ackclock._core import version

        typer.echo(f"ackclock {version()}")
        raise typer.Exit


def _ackclock(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """A laboratory for TCP congestion control.

    Simulates every packet of a network described in a scenario file, and compares the results
    with theory.

    [bold]First steps[/bold]

    [cyan]ackclock demo[/cyan]                           a first experiment
    [cyan]ackclock list scenario[/cyan]                  experiments that come with the package
    [cyan]ackclock run caltech/test-case-2-fast[/cyan]   simulate one, see figures and plots
    [cyan]ackclock list cc[/cyan]                        available congestion control

    Exit status: 0 done, 1 a run or a comparison failed, 2 bad input, 130 after Ctrl-C.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def program() -> None:
    """Run the program as a process of its own."""
    _open_standard_streams()
    for stream in (sys.stdout, sys.stderr):
        # A terminal that knows no arrows shows `\\u2192`, as JSON writes it.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    imports.spare()
    main()


class _Closed(io.RawIOBase):
    """Standard output that the caller has closed: the work is done, the exit status is 1."""

    lost = False

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.lost = True
        return memoryview(data).nbytes

    def fileno(self) -> int:
        return 1


def _open_standard_streams() -> None:
    """Replace the streams that the caller has closed (`ackclock list >&-`).

    Else they are None, and a file opened later would get the number of standard output.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(_Closed()), encoding="utf-8")
    for name in ("stdin", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r+", encoding="utf-8"))  # noqa: SIM115, PTH123


def _refuse_closed() -> None:
    """End with an error where a command has printed to a closed standard output."""
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    if isinstance(raw, _Closed) and raw.lost:
        raise AckclockError("the output could not be written: standard output is closed")


def _refuse_blanks(arguments: list[str]) -> None:
    """End where a value is empty, as of `--out "$UNSET"`; a path would stand for this folder."""
    for before, argument in itertools.pairwise(["", *arguments]):
        option, is_value, value = argument.partition("=")
        bare = not argument.strip() or (option.startswith("--") and is_value and not value.strip())
        if bare:
            name = option if option.strip() else before
            of_option = name.startswith("-")
            fail(InputError(f"{name}: the value is empty" if of_option else "an argument is empty"))


_FORMER = {("step", "--flow"): "--flows", ("grade", "--json"): "--out"}
"""Options of a command that were spelled in another way before."""


def _respelled(arguments: list[str]) -> Iterator[str]:
    """Yield the arguments with former options as they are spelled now."""
    for argument in arguments:
        option, is_value, value = argument.partition("=")
        yield _FORMER.get((arguments[0], option), option) + is_value + value


def main() -> None:
    """Run the program and exit with its status; errors become messages on standard error."""
    sys.argv[1:] = _respelled(sys.argv[1:])
    _refuse_blanks(sys.argv[1:])
    # A word that is no command is looked for among all of them.
    named = [name for names in PANELS.values() for name in names if name in sys.argv[1:2]]
    names = named or ([] if sys.argv[1:] == ["--version"] else None)
    try:
        try:
            application(names)()
        except SystemExit as ended:
            # Click ends the program itself where nobody reads its output any longer.
            unread = ended.__context__
            if isinstance(unread, OSError) and unread.errno == errno.EPIPE:
                raise unread from None
            raise
        finally:
            sys.stdout.flush()
            _refuse_closed()
    except AckclockError as error:
        fail(error)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            name = max(Path(str(error.filename)).parts, key=len)
            wanted = "most file systems allow names of 255 bytes"
            fail(InputError(f"'{name[:20]}...' is too long a file name; {wanted}"))
        if error.filename is None:  # not a file: standard output
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno == errno.EPIPE:
            # Whoever read our output (`| head`) has seen enough. Nothing failed; the status is that
            # of other programs, which a signal ends then.
            sys.exit(128 + 13)
        place = f"'{error.filename}': " if error.filename else ""
        fail(AckclockError(f"{place}{error.strerror or error}"))
    except KeyboardInterrupt:
        sys.exit(130)
