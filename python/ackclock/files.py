"""Single files that are complete or absent, and what may be made where."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

from ackclock.errors import InputError, flag_of, path_of

if TYPE_CHECKING:
    from pyarrow import OSFile


SWEEP = "study.json"
"""The file that makes a folder that of a sweep."""


def expanded(written: str) -> Path:
    """Return the path as written, with the home folder for `~`; as it is where there is none."""
    try:
        return Path(written).expanduser()
    except RuntimeError:
        return Path(written)


def page(place: str | PathLike[str], what: str, *, force: bool) -> Path:
    """Return where a page of ours may be written: in place of an earlier one, or of nothing.

    Args:
        place: The file.
        what: What the page is, as it says itself: `report`.
        force: Whether it may take the place of any file.

    Raises:
        InputError: something else is there, or no folder is there.
    """
    path, force = path_of("place", place), flag_of("force", force)
    if path.is_dir():
        raise InputError(f"'{path}' is a folder; the {what} is a file")
    if not path.parent.is_dir():
        raise InputError(f"there is no folder '{path.parent}' for the {what}")
    if not force and path.is_file():
        with path.open(encoding="utf-8", errors="replace") as file:
            if f'<meta name="generator" content="Ackclock {what}">' not in file.read(2000):
                raise InputError(f"'{path}' is not a {what}; `force` (--force) replaces it")
    return path


@contextmanager
def named(written: Any, folder: Path) -> Iterator[IO[bytes]]:
    """Give a stream of the file that a document names, read from a folder if it is relative.

    Raises:
        ValueError: there is none, it cannot be read, or what is read from it is no text.
    """
    if not isinstance(written, str) or not written or "\0" in written:
        raise ValueError("not the path of a file")
    path = folder / expanded(written)
    try:
        if path.is_dir():
            raise ValueError("this is a folder, not a file")
        # Not a pipe or a device: reading these may never end.
        if path.exists() and not path.is_file():
            raise ValueError("this is not a regular file")
        with path.open("rb") as stream:
            yield stream
    except FileNotFoundError as error:
        raise ValueError("there is no such file") from error
    except UnicodeDecodeError:
        raise ValueError("this is not a text file") from None
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror or error}") from error


def readable(name: str) -> str:
    """Return the name of a file as text, whatever letters the locale knows."""
    return os.fsencode(name).decode(errors="replace")


def arrow_file(path: Path, mode: Literal["rb", "wb"] = "rb") -> OSFile:
    """Open a file for Arrow, which takes names for UTF-8, by its name as the system has it."""
    from pyarrow import OSFile

    return OSFile(os.fsencode(path), mode)


def write_text(path: Path, text: str) -> None:
    """Write a text file as `write_bytes` does."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file: under a temporary name first, then renamed into place.

    Raises:
        OSError: the disk is full, the folder cannot be written to. What was at `path` stays.
    """
    with replacement(path) as stream:
        stream.write(data)


@contextmanager
def replacement(path: Path) -> Iterator[IO[bytes]]:
    """Give a stream into a file that takes the place of `path` on success.

    `/dev/stdout` and the like are written to as they are.

    Raises:
        InputError: it is a folder, or there is no folder to hold it.
        OSError: the disk is full, the folder cannot be written to. What was at `path` stays.
    """
    if path.is_dir():
        raise InputError(f"'{path}' is a folder; choose a file")
    if not path.absolute().parent.is_dir():
        raise InputError(f"there is no folder '{path.parent}' for '{path.name}'")
    if path.exists() and not path.is_file():
        with path.open("wb") as stream:
            yield stream
        return
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.absolute().parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(0o666 & ~umask())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def require_folder_above(path: Path) -> None:
    """Check that a folder can be made at `path`, as far as what is above it says.

    Raises:
        InputError: a file is where a folder would have to be.
    """
    for parent in path.absolute().parents:
        if parent.is_dir():
            return
        if os.path.lexists(parent):
            raise InputError(f"'{parent}' is not a folder; choose another place (--out)")


def umask() -> int:
    """Return which rights new files of this process do not get."""
    # It can be read only by setting it.
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
