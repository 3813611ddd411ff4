"""Options that several commands share, and how their values are read."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from ackclock.errors import InputError, one_of

LogLevel = Literal["debug", "info", "warning", "error"]
ImageFormat = Literal["png", "svg", "pdf"]
LinkOrder = Literal["busiest", "file"]
"""Order of links in the summary."""


def read_overrides(settings: Sequence[str] | None) -> list[tuple[str, str]]:
    """Return `PATH=VALUE` settings as pairs.

    Raises:
        InputError: a setting has no '='.
    """
    return [
        pair(text, "--set needs PATH=VALUE, as in 'flows.F1.tcp.cc=reno'")
        for text in settings or ()
    ]


def read_where(conditions: Sequence[str] | None) -> dict[str, list[str]]:
    """Return `NAME=VALUE,VALUE` conditions as the values of each name.

    Raises:
        InputError: a condition has no '='.
    """
    wanted: dict[str, list[str]] = {}
    for text in conditions or ():
        name, values = pair(text, "--where needs NAME=VALUE, as in 'queue=64 KiB'")
        wanted.setdefault(name, []).extend(value.strip() for value in _at_commas(values))
    return wanted


def _at_commas(text: str) -> list[str]:
    """Return the parts between commas; those within quotes, brackets and braces separate nothing.

    Where one of these is never closed, it is a letter like others.
    """
    parts, depth, quote = [""], 0, ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif letter == "," and not depth:
            parts.append("")
            continue
        parts[-1] += letter
    return text.split(",") if depth or quote else parts


def pair(text: str, needed: str) -> tuple[str, str]:
    """Return the two sides of an equals sign.

    Raises:
        InputError: there is none; the message begins with what is needed.
    """
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise InputError(f"{needed}; got '{text}'")
    return name.strip(), value


def name_list(texts: Sequence[str] | None) -> list[str]:
    """Return names that are repeated or separated by commas."""
    return [name.strip() for text in texts or () for name in text.split(",") if name.strip()]


def require_folder(file: Path, option: str) -> None:
    """Check that the folder of a file that is to be written is there.

    Raises:
        InputError: it is not.
    """
    if not file.absolute().parent.is_dir():
        raise InputError(f"there is no folder '{file.parent}'; choose another place with {option}")


def require_writable(file: Path, option: str) -> None:
    """Check that a file can be written or replaced, as far as folders are concerned.

    Raises:
        InputError: its folder is not there, or it is a folder itself.
    """
    require_folder(file, option)
    if file.is_dir():
        raise InputError(f"'{file}' is a folder; choose a file with {option}")


def choose(kind: str, wanted: Sequence[str] | None, known: Iterable[str]) -> list[str] | None:
    """Return the names asked for (repeated, or separated by commas); None when none were.

    Raises:
        InputError: there is no such `kind` of thing; names the nearest.
    """
    if not wanted:
        return None
    names = list(known)
    chosen: list[str] = []
    for text in wanted:
        parts = [text] if text in names else [part.strip() for part in text.split(",")]
        for part in filter(None, parts):
            chosen.append(one_of(kind, part, names))
    return list(dict.fromkeys(chosen))


def set_up_logging(level: LogLevel, file: Path | None) -> None:
    """Send messages of the package to standard error or to a file.

    Raises:
        InputError: the file cannot be written.
    """
    import logging

    try:
        handler: logging.Handler = (
            logging.StreamHandler(sys.stderr)
            if file is None
            else logging.FileHandler(file, encoding="utf-8")
        )
    except OSError as error:
        raise InputError(f"cannot write the log file '{file}': {error.strerror}") from None
    stamp = "" if file is None else "%(asctime)s "
    handler.setFormatter(logging.Formatter(f"{stamp}%(levelname)s: %(message)s"))
    logger = logging.getLogger("ackclock")
    for old in logger.handlers:
        old.close()
    logger.handlers = [handler]
    logger.setLevel(level.upper())
    logger.propagate = False
