"""The program `ackclock`: its commands, and what happens when one of them fails."""

from __future__ import annotations

import errno
import inspect
import os
import sys
from collections.abc import Callable
from typing import Annotated

import typer

from ackclock.cli.convert import convert
from ackclock.cli.export import export
from ackclock.cli.list import list_
from ackclock.cli.log import log
from ackclock.cli.plot import plot
from ackclock.cli.replicate import replicate
from ackclock.cli.reproduce import reproduce
from ackclock.cli.run import run
from ackclock.cli.schema import schema
from ackclock.cli.sweep import sweep
from ackclock.cli.table import table
from ackclock.cli.terminal import fail
from ackclock.cli.theory import theory
from ackclock.cli.validate import validate
from ackclock.errors import AckclockError

app = typer.Typer(
    name="ackclock",
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _help(command: Callable[..., None]) -> str:
    """Return a docstring as help: lines flow together, except examples, which start in colour."""
    blocks = inspect.cleandoc(command.__doc__ or "").split("\n\n")
    return "\n\n".join(
        block if block.startswith("[cyan]") else " ".join(block.split()) for block in blocks
    )


for _panel, _commands in {
    "Experiment": {"run": run, "sweep": sweep, "replicate": replicate, "reproduce": reproduce},
    "Look closer": {
        "table": table,
        "plot": plot,
        "log": log,
        "export": export,
        "theory": theory,
    },
    "Write scenarios": {
        "list": list_,
        "validate": validate,
        "schema": schema,
        "convert": convert,
    },
}.items():
    for _name, _command in _commands.items():
        app.command(_name, help=_help(_command), rich_help_panel=_panel)(_command)


def _version(asked: bool) -> None:
    if asked:
        from ackclock._core import version

        typer.echo(f"ackclock {version()}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _ackclock(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """A laboratory for TCP congestion control.

    Simulates every packet of a network described in a scenario file, and sets theory beside it.

    [bold]First steps[/bold]

    [cyan]ackclock list scenario[/cyan]                  experiments that come with the package
    [cyan]ackclock run caltech/test-case-2-fast[/cyan]   simulate one, see figures and plots
    [cyan]ackclock list cc[/cyan]                        what congestion control it can use

    Exit status: 0 done, 1 a run or a comparison failed, 2 bad input, 130 after Ctrl-C.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """Run the program and exit with its status; errors become messages on standard error."""
    try:
        app()
    except AckclockError as error:
        fail(error)
    except BrokenPipeError:
        _be_quiet()
    except OSError as error:
        if error.errno == errno.EPIPE:
            _be_quiet()
        place = f"'{error.filename}': " if error.filename else ""
        fail(AckclockError(f"{place}{error.strerror or error}"))
    except KeyboardInterrupt:
        sys.exit(130)


def _be_quiet() -> None:
    """Leave without a word: whoever read our output (`| head`) has seen enough."""
    # What is still buffered must not raise again when the interpreter closes the stream.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(1)
