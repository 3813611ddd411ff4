"""Single files that are complete or absent, and what may be made where."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

from ackclock.errors import InputError

if TYPE_CHECKING:
    from pyarrow import OSFile


def expanded(written: str) -> Path:
    """Return the path as written, with the home folder for `~`; as it is where there is none."""
    try:
        return Path(written).expanduser()
    except RuntimeError:
        return Path(written)


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
        OSError: the disk is full, the folder cannot be written to. What was at `path` stays.
    """
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
            raise InputError(f"'{parent}' is not a folder; choose another place with --out")


def umask() -> int:
    """Return which rights new files of this process do not get."""
    # It can be read only by setting it.
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
