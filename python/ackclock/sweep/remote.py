"""Results in object storage: tables are put at URLs and read from there."""

from __future__ import annotations

import importlib
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from ackclock.errors import InputError
from ackclock.results import ResultsError
from ackclock.sweep.store import RESULTS

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.fs import FileSystem

_PATIENCE_S = 20
_LONGEST_REASON = 300
_OF_URLS = "%/:?#[]@!$&'()*+,;=~"
"""Letters that mean something in a URL, and what is quoted already."""


def is_url(place: object) -> bool:
    """Return whether this names something in object storage."""
    return isinstance(place, str) and "://" in place


def publish(folder: Path, url: str) -> str:
    """Copy the table of a sweep to a URL, `.../results.parquet` or the folder of it.

    Returns:
        Where it is now.

    Raises:
        ResultsError: the storage refuses.
    """
    system, path = require(url)
    try:
        if system.type_name == "local":
            system.create_dir(str(Path(path).parent))
        with system.open_output_stream(path) as stream:
            stream.write((folder / RESULTS).read_bytes())
    except OSError as error:
        raise ResultsError(f"cannot write to '{url}': {_reason(error)}") from None
    return _file(url)


def read(url: str) -> pa.Table:
    """Read a table that was published.

    Raises:
        InputError: there is none.
        ResultsError: it cannot be read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    system, path = require(url)
    try:
        with system.open_input_file(path) as stream:
            return pq.ParquetFile(stream, page_checksum_verification=True).read()
    except FileNotFoundError:
        raise InputError(f"there is no '{_file(url)}'") from None
    except (pa.ArrowException, OSError) as error:
        raise ResultsError(f"cannot read '{_file(url)}': {_reason(error)}") from None


def require(url: str) -> tuple[FileSystem, str]:
    """Return where results can be put or stand, as far as the URL says.

    Raises:
        InputError: they cannot.
    """
    import pyarrow as pa
    import pyarrow.fs

    # A blank or a letter such as ä has no place in a URL as it is.
    file = quote(_file(url), safe=_OF_URLS)
    if file.startswith("s3://") and "pyarrow._s3fs" not in sys.modules:
        # The program has spared it (`ackclock.imports`); loaded so, it is also closed at exit.
        importlib.reload(pyarrow.fs)
    if file.startswith(("gs://", "gcs://")) and "retry_limit_seconds" not in file:
        # Arrow tries for a quarter of an hour where nobody answers.
        file += f"{'&' if '?' in file else '?'}retry_limit_seconds={_PATIENCE_S}"
    try:
        return pyarrow.fs.FileSystem.from_uri(file)
    except (pa.ArrowException, ValueError, OSError) as error:
        hint = "such as s3://BUCKET/FOLDER, gs://BUCKET/FOLDER or file:///FOLDER"
        raise InputError(
            f"'{url}' cannot be a place for results: {_reason(error)}; {hint}"
        ) from None


def _file(url: str) -> str:
    base, mark, options = url.partition("?")
    if not base.endswith(".parquet"):
        base = f"{base.rstrip('/')}/{RESULTS}"
    return base + mark + options


def _reason(error: BaseException) -> str:
    # The libraries of clouds put all that they tried into one line.
    return textwrap.shorten(str(error), _LONGEST_REASON, placeholder=" ...") or type(error).__name__
