"""`manifest.json`: checksums of the files of a run directory, so that a change does not go unseen.

Tables of records can be large. They carry checksums of their pages themselves, which are looked at
when a page is read; the manifest has their length and a checksum of their footer, which says where
the pages are.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ackclock.errors import AckclockError
from ackclock.run_directory import FILES


class ResultsError(AckclockError):
    """A run directory that cannot be read: a file is missing, cut off, damaged or changed."""

    exit_code = 2


def fingerprint(canonical: Mapping[str, Any]) -> str:
    """Return a checksum of a resolved scenario."""
    text = json.dumps(canonical, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def write(folder: Path, scenario: str, *, files: bool = True) -> None:
    """Write the manifest of a run directory.

    It has the fingerprint of its scenario, and the files that are there.
    """
    found: dict[str, Any] = {}
    if files:
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder).as_posix()
            if path.is_file() and name not in (FILES.manifest, FILES.lock):
                found[name] = _described(path)
    document = {"scenario": scenario, "files": found}
    (folder / FILES.manifest).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


class Manifest:
    """The manifest of a run directory; one without, of an older version, knows nothing.

    Raises:
        ResultsError: it is damaged.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.scenario: str | None = None
        self._files: dict[str, Any] = {}
        path = folder / FILES.manifest
        if path.is_file():
            document = read_json(path)
            files = document.get("files")
            if not isinstance(files, dict) or not all(isinstance(e, dict) for e in files.values()):
                raise ResultsError(f"'{path}' is damaged: it does not list files")
            self.scenario, self._files = document.get("scenario"), files

    def is_as_written(self, path: Path) -> bool:
        """Return whether a file is the one that the run wrote, as far as that is known."""
        expected = self._files.get(path.relative_to(self._folder).as_posix())
        return expected is None or (path.is_file() and _described(path) == expected)

    def has(self, path: Path) -> bool:
        """Return whether it lists a file."""
        return path.relative_to(self._folder).as_posix() in self._files

    def require(self, path: Path) -> None:
        """Check that a file is the one that the run wrote.

        Raises:
            ResultsError: it is another one.
        """
        expected = self._files.get(path.relative_to(self._folder).as_posix())
        if expected is None:
            return
        if not path.is_file():
            raise ResultsError(f"'{path}' is missing; the run wrote it")
        size = path.stat().st_size
        if path.suffix == ".parquet" and size < expected.get("bytes", 0):
            raise ResultsError(f"'{path}' is damaged: {size} of {expected['bytes']} bytes are left")
        if _described(path) != expected:
            raise ResultsError(
                f"'{path}' has been changed since the run wrote it; "
                f"'ackclock run {self._folder}' makes it again"
            )


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON file that holds a mapping.

    Raises:
        ResultsError: it does not.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ResultsError(f"'{path}' is damaged: {error}") from None
    if not isinstance(document, dict):
        raise ResultsError(f"'{path}' is damaged: it does not hold a mapping")
    return document


def _described(path: Path) -> dict[str, Any]:
    size = path.stat().st_size
    if path.suffix == ".parquet":
        return {"bytes": size, "footer_sha256": hashlib.sha256(_footer(path)).hexdigest()}
    with path.open("rb") as stream:
        return {"bytes": size, "sha256": hashlib.file_digest(stream, "sha256").hexdigest()}


def _footer(path: Path) -> bytes:
    """Return the footer of a Parquet file, or of what pretends to be one its last 8 bytes."""
    with path.open("rb") as stream:
        size = stream.seek(0, 2)
        stream.seek(max(0, size - 8))
        tail = stream.read()
        length = struct.unpack("<I", tail[:4])[0] if len(tail) == 8 else 0
        if length + 8 > size:
            return tail
        stream.seek(size - 8 - length)
        return stream.read()
