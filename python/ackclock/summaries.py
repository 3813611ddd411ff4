"""`summary.json`: how it is written, checked and read.

Of a run with very many flows and links the entries stay text until somebody asks for them: as
dicts, those of 100,000 flows take two gigabytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import ItemsView, Iterator, Mapping, ValuesView
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from ackclock.manifest import ResultsError, read_json
from ackclock.scenario import MOST_HELD

if TYPE_CHECKING:
    import numpy as np

# A summary of more flows and links than this has a line for each.
_MOST_SPREAD = 1000
_LEAST_BYTES = 2 << 20
"""Files with fewer bytes are read as a whole."""

_BLOCK_ROWS, _BLOCK_BYTES = 512, 4 << 20
_NAME = re.compile(rb' +("(?:[^"\\]|\\.)*"): ')

_FLOW = ("from", "to", "start_s", "finish_s", "goodput_bps", "segments_dropped")
_LINK = ("utilization", "bytes_carried", "packets_carried", "drops", "queue_packets",
         "queueing_delay_s")  # fmt: skip
_KINDS: dict[str, type | tuple[type, ...]] = {
    "ackclock": str, "scenario": str, "seed": int, "digest": str, "finished": bool,
    "stop_reason": str, "end_s": (int, float), "wall_s": (int, float), "events": int,
    "packet_hops": int, "flows": Mapping, "links": Mapping,
}  # fmt: skip


class _Text:
    """A file that is closed when nobody reads it any more."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def read(self, start: int, end: int) -> bytes:
        self._stream.seek(start)
        return self._stream.read(end - start)

    def __del__(self) -> None:
        self._stream.close()


class Rows(Mapping[str, Any]):
    """The entries of flows or of links, in their order, which are read from text when asked for.

    Going through all of them holds a few hundred at a time.
    """

    def __init__(
        self, text: _Text, starts: np.ndarray, ends: np.ndarray, source: Path | None = None
    ) -> None:
        self._text = text
        self._starts, self._ends = starts, ends
        self._source = source
        self._places: dict[str, int] | None = None
        self._block: tuple[int, list[bytes]] = (-1, [])
        self._last = -1

    def __len__(self) -> int:
        return len(self._starts)

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name())

    def __contains__(self, name: object) -> bool:
        return name in self._by_name()

    def __getitem__(self, name: str) -> Any:
        return self._entries(self._line(self._by_name()[name]))[name]

    def unlike(self, other: Rows) -> Iterator[tuple[str, Any, Any]]:
        """Yield each name with its entries in both where these differ; `{}` where one has none.

        What is written alike is never read.
        """
        theirs = other._by_name()
        for place, name in enumerate(self._by_name()):
            mine = self._line(place)
            line = other._line(theirs[name]) if name in theirs else b""
            if mine != line:
                yield name, self._entries(mine)[name], other._entries(line).get(name, {})
        yield from ((name, {}, other[name]) for name in other if name not in self)

    def items(self) -> ItemsView[str, Any]:
        """Names and entries."""
        return _Items(self)

    def values(self) -> ValuesView[Any]:
        """The entries."""
        return _Values(self)

    def pairs(self) -> Iterator[tuple[str, Any]]:
        """Yield names and entries."""
        for first in range(0, len(self), _BLOCK_ROWS):
            yield from self._entries(self._read(first, min(first + _BLOCK_ROWS, len(self)))).items()

    def text(self) -> Iterator[bytes]:
        """Yield all lines as written, in pieces; the last line has neither comma nor end."""
        for first in range(0, len(self), _BLOCK_ROWS):
            last = min(first + _BLOCK_ROWS, len(self))
            text = self._read(first, last)
            yield text.rstrip(b",\n") if last == len(self) else text

    def _by_name(self) -> dict[str, int]:
        if self._places is None:
            found: list[bytes] = []
            for first in range(0, len(self), _BLOCK_ROWS):
                last = min(first + _BLOCK_ROWS, len(self))
                text = self._read(first, last)
                starts = (self._starts[first:last] - self._starts[first]).tolist()
                found += [name[1] for start in starts if (name := _NAME.match(text, start))]
            names = (
                name[1:-1].decode() if b"\\" not in name else json.loads(name) for name in found
            )
            self._places = {name: place for place, name in enumerate(names)}
        return self._places

    def _entries(self, text: bytes) -> dict[str, Any]:
        try:
            return json.loads(b"{" + text.rstrip(b",\n") + b"}")
        except ValueError as error:
            raise ResultsError(f"'{self._source}' is damaged: {error}") from None

    def _line(self, place: int) -> bytes:
        first = place // _BLOCK_ROWS * _BLOCK_ROWS
        before, self._last = self._last, place
        if self._block[0] != first:
            if place not in (before, before + 1):
                return self._read(place, place + 1).rstrip(b",\n")
            # Who asks for one after the other goes on.
            text = self._read(first, min(first + _BLOCK_ROWS, len(self))).rstrip(b",\n")
            self._block = first, text.split(b",\n")
        return self._block[1][place - first]

    def _read(self, first: int, last: int) -> bytes:
        start, end = int(self._starts[first]), int(self._ends[last - 1])
        return self._text.read(start, end)


class _Items(ItemsView[str, Any]):
    _mapping: Rows

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return self._mapping.pairs()


class _Values(ValuesView[Any]):
    _mapping: Rows

    def __iter__(self) -> Iterator[Any]:
        return (entry for _, entry in self._mapping.pairs())


def put_rows(summary: dict[str, Any], lines: BinaryIO) -> None:
    """Put entries of flows and links, which are read when asked for, in the place of their numbers.

    Args:
        summary: A summary with the numbers of flows and links.
        lines: The lines of all flows, then of all links, as in `summary.json`.
    """
    starts, ends, _ = _lines(lines)
    flows = summary["flows"]
    text = _Text(lines)
    summary["flows"] = Rows(text, starts[:flows], ends[:flows])
    summary["links"] = Rows(text, starts[flows:], ends[flows:])


def write(path: Path, summary: Mapping[str, Any]) -> None:
    """Write a summary: a figure a line, or a flow or link a line where these are many."""

    def text(value: Any, indent: int | None = None) -> bytes:
        return json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False).encode()

    with path.open("wb") as file:
        if len(summary["flows"]) + len(summary["links"]) <= _MOST_SPREAD:
            file.write(text(summary, 2) + b"\n")
            return
        comma = b"{"
        for key, value in summary.items():
            file.write(b"%b\n  %b: " % (comma, text(key)))
            comma = b","
            if key not in ("flows", "links"):
                file.write(text(value))
                continue
            file.write(b"{\n")
            if isinstance(value, Rows):
                file.writelines(value.text())
            else:
                rows = (b"    %b: %b" % (text(name), text(row)) for name, row in value.items())
                file.write(b",\n".join(rows))
            file.write(b"\n  }")
        file.write(b"\n}\n")


def read(path: Path) -> dict[str, Any]:
    """Read a summary and check that it has what everything else relies on.

    The entries of very many flows and links are read, and checked, when they are asked for.

    Raises:
        ResultsError: something is missing.
    """
    summary = _read_rows(path) or read_json(path)

    def require(there: object, what: str) -> None:
        if not there:
            raise ResultsError(f"'{path}' is damaged: {what}")

    for key, kind in _KINDS.items():
        require(isinstance(summary.get(key), kind), f"`{key}` is missing or of a wrong type")
    if isinstance(summary["flows"], Rows):
        return summary
    for name, flow in summary["flows"].items():
        require(isinstance(flow, dict), f"`flows.{name}` is not a mapping")
        for key in _FLOW:
            require(key in flow, f"`flows.{name}.{key}` is missing")
        # A flow that was done before the end of the warm-up has no rate after it, nor has one that
        # the run did not start.
        rated = flow["goodput_bps"] is not None or "warmup_s" in summary
        rated = rated or flow["start_s"] >= summary["end_s"]
        require(rated, f"`flows.{name}.goodput_bps` is null")
    for name, ways in summary["links"].items():
        require(isinstance(ways, dict) and ways, f"`links.{name}` is not a mapping")
        for way, figures in ways.items():
            place = f"links.{name}.{way}"
            require(isinstance(figures, dict), f"`{place}` is not a mapping")
            for key in _LINK:
                require(figures.get(key) is not None, f"`{place}.{key}` is missing")
    return summary


def _read_rows(path: Path) -> dict[str, Any] | None:
    """Read a summary with a line for each flow and link; None for one that is not large."""
    if not path.is_file() or path.stat().st_size < _LEAST_BYTES:
        return None
    stream = path.open("rb")
    text = _Text(stream)
    starts, ends, others = _lines(stream)
    heads = {line: rows for rows, line in others}
    flows, links = (heads.get(b'"%b": {' % key) for key in (b"flows", b"links"))
    if flows != 0 or links is None or len(starts) <= MOST_HELD:
        return None
    try:
        summary = json.loads(b"".join(line for _, line in others))
    except ValueError as error:
        raise ResultsError(f"'{path}' is damaged: {error}") from None
    summary["flows"] = Rows(text, starts[:links], ends[:links], path)
    summary["links"] = Rows(text, starts[links:], ends[links:], path)
    return summary


def _lines(stream: BinaryIO) -> tuple[np.ndarray, np.ndarray, list[tuple[int, bytes]]]:
    """Where the lines of entries begin and end, and all other lines, each with how many precede it.

    The line of an entry is the one that begins with four blanks.
    """
    import numpy as np

    found: list[tuple[np.ndarray, np.ndarray]] = []
    others: list[tuple[int, bytes]] = []
    at = rows = 0
    stream.seek(0)
    rest = b""
    while piece := stream.read(_BLOCK_BYTES):
        text = rest + piece
        cut = text.rfind(b"\n") + 1
        text, rest = text[:cut], text[cut:]
        data = np.frombuffer(text + b"    ", np.uint8)
        ends = np.flatnonzero(data[:cut] == ord("\n")) + 1
        starts = np.concatenate([[0], ends[:-1]]) if len(ends) else ends
        entry = (data[starts] == ord(" ")) & (data[starts + 3] == ord(" "))
        before = np.cumsum(entry) + rows
        for place in np.flatnonzero(~entry):
            if line := text[starts[place] : ends[place]].strip():
                others.append((int(before[place]), line))
        found.append((starts[entry] + at, ends[entry] + at))
        rows += int(np.count_nonzero(entry))
        at += cut
    if not found:
        return np.empty(0, np.int64), np.empty(0, np.int64), others
    starts, ends = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return starts, ends, others
