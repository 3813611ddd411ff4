"""Runs as files of other programs: packet traces, captures, tables.

>>> export(results, "pcapng", "two-flows.pcapng")  # doctest: +SKIP

`FORMATS` lists what there is; `ackclock export` is the same on the command line.
"""

from __future__ import annotations

from ackclock.export.options import Options
from ackclock.export.registry import FORMATS, Format, export, find, names

__all__ = ["FORMATS", "Format", "Options", "export", "find", "names"]
