"""Convert files of other simulators to scenarios.

A format is one module and one entry in :data:`FORMATS`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ackclock.canonical import to_yaml
from ackclock.convert import bene, caltech, jsonfile
from ackclock.convert.base import Conversion, Format
from ackclock.document import Document
from ackclock.errors import InputError, Problem, ScenarioError, path_of
from ackclock.files import write_text

__all__ = ["FORMATS", "Conversion", "Format", "convert", "convert_file", "read", "written"]

FORMATS: tuple[Format, ...] = (
    Format(
        name="caltech",
        summary="topologies of the Caltech CS/EE 143 simulator of 2015 (JSON by jsonpickle)",
        source="lakshbhasin/network_simulator",
        recognizes=caltech.recognizes,
        convert=caltech.convert,
    ),
    Format(
        name="bene",
        summary="networks of the Bene simulator of BYU CS 460 (neighbours, then links; text)",
        source="zappala/bene",
        recognizes=bene.recognizes,
        convert=bene.convert,
        is_text=True,
    ),
)
"""All formats that can be read, in the order in which a file is tried."""


def convert(path: str | Path) -> dict[str, Any]:
    """Read a foreign file as a scenario document (see :func:`read` for notes and errors)."""
    return read(path).document


def read(path: str | Path) -> Conversion:
    """Read a foreign file of any known format.

    Raises :class:`ackclock.errors.ScenarioError` (every fault with file, line, path and value)
    when the format is not known, or the file holds anything that is not understood or that no
    scenario can have.
    """
    return _read(path_of("path", path))[1]


def written(path: str | Path) -> tuple[Conversion, str]:
    """Read a foreign file (see :func:`read`); return it with the text of its scenario file."""
    path = path_of("path", path)
    kind, conversion = _read(path)
    header = f"Converted by `ackclock convert` from {path.name}, a file of {kind.source}."
    return conversion, to_yaml(conversion.document, (header, *conversion.notes))


def convert_file(path: str | Path, out: str | Path) -> Conversion:
    """Convert a foreign file and write the scenario to ``out``; nothing is written on an error.

    Raises:
        InputError: ``out`` is the file that is read, or cannot be a file; as :func:`read`.
    """
    path, out = path_of("path", path), path_of("out", out)
    if out.exists() and path.exists() and out.samefile(path):
        raise InputError(f"'{out}' is the file that is converted; choose another name with --out")
    conversion, text = written(path)
    write_text(out, text)
    return conversion


def _read(path: Path) -> tuple[Format, Conversion]:
    kind = _format_of(path)
    conversion = kind.convert(path)
    document = Document(conversion.document, str(path))
    scenario, errors, _ = document.check()
    if scenario is None:
        raise ScenarioError(document.problems(errors))
    return kind, conversion


def _format_of(path: Path) -> Format:
    content: Any = jsonfile.text(path)
    is_text = path.suffix != ".json" and not content.lstrip().startswith(("{", "["))
    if not is_text:
        content = jsonfile.load(path)
    for kind in FORMATS:
        if kind.is_text == is_text and kind.recognizes(content):
            return kind
    raise ScenarioError(
        [
            Problem(
                "not a file of any format that can be converted",
                file=str(path),
                allowed="; ".join(f"{kind.name}: {kind.summary}" for kind in FORMATS),
            )
        ]
    )
