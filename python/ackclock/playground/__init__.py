"""The playground: the simulator as one page that opens from a file and asks nobody for anything.

>>> from ackclock import playground
>>> playground.write("playground.html")                                # doctest: +SKIP

The page holds the engine as WebAssembly, the scenarios of the package, and the panels of a report.
What it simulates has the same digest as with `ackclock run`.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from ackclock import files
from ackclock.errors import InputError

__all__ = ["write"]

ENGINE = Path(__file__).parent / "engine.wasm.gz"
"""The engine, as `make playground` builds it from crates/wasm."""


def write(place: str | PathLike[str], *, force: bool = False) -> Path:
    """Write the playground and return its path.

    Args:
        place: The file. An earlier playground is replaced, anything else only with `force`.
        force: Replace whatever file stands there.

    Raises:
        InputError: this installation has no engine for browsers, or the file is something else.
        OSError: the file cannot be written.
    """
    path = files.page(place, "playground", force=force)
    if not ENGINE.is_file():
        raise InputError(
            "this installation has no engine for browsers: in a copy of the sources, "
            "'rustup target add wasm32-unknown-unknown' and 'make playground' build it"
        )
    from . import page

    files.write_text(path, page.html(ENGINE))
    return path
