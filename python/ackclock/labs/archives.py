"""Submissions as .zip files, as learning platforms give them: unpacked with limits.

Only answers and programs are taken out, by their last name: no path, link or size in the archive
decides over what is written where.
"""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from ackclock.errors import InputError
from ackclock.labs.answers import SUFFIXES

MOST_FILES = 100
MOST_BYTES = 1 << 20
MOST_ENTRIES = 10_000


class ArchiveError(InputError):
    """An archive that cannot be unpacked, or holds more than a submission can."""


def is_archive(path: Path) -> bool:
    """Whether this is a file that is called like an archive."""
    return path.suffix.lower() == ".zip" and path.is_file() and not path.is_symlink()


@contextmanager
def opened(path: Path) -> Iterator[tuple[Path, list[str]]]:
    """Give the folder of a submission: this one, or a temporary one with what the archive holds.

    With it come remarks: which of several files of one name counts.

    Raises:
        ArchiveError: the archive cannot be read, or holds more than a submission can.
    """
    if not is_archive(path):
        yield path, []
        return
    with tempfile.TemporaryDirectory(prefix="ackclock-") as place:
        yield Path(place), _unpack(path, Path(place))


def _unpack(path: Path, folder: Path) -> list[str]:
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if len(entries) > MOST_ENTRIES:
                raise ArchiveError(f"'{path}' holds more than {MOST_ENTRIES} files")
            chosen = [entry for entry in entries if _counts(entry)]
            if len(chosen) > MOST_FILES:
                raise ArchiveError(f"'{path}' holds more than {MOST_FILES} answers and programs")
            # A platform may put a folder around all: the files nearest to the top count.
            depths = [len(PurePosixPath(entry.filename).parts) for entry in chosen]
            taken: dict[str, list[str]] = {}
            for entry, depth in zip(chosen, depths, strict=True):
                if depth == min(depths):
                    name = _extract(archive, entry, folder)
                    taken.setdefault(name, []).append(entry.filename)
            return [
                f"The archive has {len(names)} files {name}: '{names[-1]}' counts."
                for name, names in taken.items()
                if len(names) > 1
            ]
    except (zipfile.BadZipFile, RuntimeError, EOFError, OSError) as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise
        raise ArchiveError(f"'{path}' cannot be unpacked: {error}") from None


def _counts(entry: zipfile.ZipInfo) -> bool:
    name = PurePosixPath(entry.filename.replace("\\", "/"))
    hidden = any(part.startswith((".", "__MACOSX")) for part in name.parts)
    link = (entry.external_attr >> 16) & 0o170000 == 0o120000
    return not entry.is_dir() and not hidden and not link and name.suffix.lower() in SUFFIXES


def _extract(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, folder: Path) -> str:
    """Write a file of the archive under its last name, and return that."""
    name = PurePosixPath(entry.filename.replace("\\", "/")).name
    with archive.open(entry) as file:
        # The size that an archive claims is not to be believed.
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ArchiveError(f"'{name}' in the archive is larger than {MOST_BYTES >> 20} MiB")
    (folder / name).write_bytes(data)
    return name
