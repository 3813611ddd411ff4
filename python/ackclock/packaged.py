"""Files that stand beside the modules of the package: tables of definitions, and templates."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from pathlib import Path


def rows(path: Path) -> Iterator[dict[str, str]]:
    """Yield the lines of a CSV file by the names of its columns; an empty cell is the default."""
    with path.open(encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(lines)


def filled(path: Path, parts: Mapping[str, str]) -> str:
    """Return the text of a template with its parts, which stand there as `{{name}}`."""
    text = path.read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], text)
