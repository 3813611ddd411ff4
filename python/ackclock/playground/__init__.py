"""The playground: the simulator as one page that opens from a file and asks nobody for anything.

>>> from ackclock import playground
>>> playground.write("playground.html")                                # doctest: +SKIP

The page holds the engine as WebAssembly, the scenarios of the package, and the panels of a report.
What it simulates has the same digest as with `ackclock run`.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from ackclock.errors import InputError
from ackclock.files import write_text

__all__ = ["write"]

ENGINE = Path(__file__).parent / "engine.wasm.gz"
"""The engine, as `make playground` builds it from crates/wasm."""

_MADE_BY_US = '<meta name="generator" content="Ackclock playground">'


def write(place: str | PathLike[str], *, force: bool = False) -> Path:
    """Write the playground and return its path.

    Args:
        place: The file. An earlier playground is replaced, anything else only with `force`.
        force: Replace whatever file stands there.

    Raises:
        InputError: this installation has no engine for browsers, or the file is something else.
        OSError: the file cannot be written.
    """
    path = Path(place)
    if path.is_dir():
        raise InputError(f"'{path}' is a folder; the playground is a file")
    if not path.parent.is_dir():
        raise InputError(f"there is no folder '{path.parent}' for the playground")
    if not force and path.is_file():
        with path.open(encoding="utf-8", errors="replace") as file:
            if _MADE_BY_US not in file.read(2000):
                raise InputError(f"'{path}' is not a playground; --force replaces it")
    if not ENGINE.is_file():
        raise InputError(
            "this installation has no engine for browsers: in a copy of the sources, "
            "'rustup target add wasm32-unknown-unknown' and 'make playground' build it"
        )
    from . import page

    write_text(path, page.html(ENGINE))
    return path
