"""Joins Parquet files of one schema to one file by copying bytes, without decoding a page.

A Parquet file is its column chunks one after the other and a footer that says where each of them
begins. The chunks of several files can follow each other in one file if the footer of that file
names them all at their new places. pyarrow can join footers only for readers that look the files up
beside each other, so this module moves the offsets itself.

Source: Apache Parquet, `parquet.thrift` (FileMetaData, RowGroup, ColumnChunk, ColumnMetaData) and
the compact protocol of Apache Thrift.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

_MAGIC = b"PAR1"

# Wire types of the compact protocol.
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)

Fields = dict[int, tuple[int, Any]]
"""The fields of a struct: wire type and value by number, in ascending order."""

# Field numbers.
_FILE_ROWS, _FILE_ROW_GROUPS = 3, 4
_GROUP_COLUMNS, _GROUP_ROWS, _GROUP_OFFSET, _GROUP_ORDINAL = 1, 3, 5, 7
_CHUNK_OFFSET, _CHUNK_META = 2, 3
_CHUNK_INDEXES = (4, 6)
_META_OFFSETS = (9, 10, 11)
_META_BLOOM_FILTER = 14


class NotJoinableError(Exception):
    """Not a Parquet file, or one with parts whose places this module does not know."""


def join(parts: Sequence[Path], like: Path, out: IO[bytes]) -> None:
    """Write one file with the row groups of all parts, in their order.

    Args:
        parts: Parquet files of one schema.
        like: A Parquet file that gives schema and metadata; its rows are left out.
        out: Where it is written.

    Raises:
        NotJoinableError: a part cannot be joined.
        OSError: the disk is full, a part cannot be read.
    """
    footer, _ = _read_footer(like)
    groups: list[Fields] = []
    rows = 0
    out.write(_MAGIC)
    place = len(_MAGIC)
    for part in parts:
        about, length = _read_footer(part)
        _, found = about.get(_FILE_ROW_GROUPS, (_LIST, (_STRUCT, [])))
        for group in found[1]:
            rows += group[_GROUP_ROWS][1]
            groups.append(_moved(group, place - len(_MAGIC), len(groups)))
        with part.open("rb") as stream:
            stream.seek(len(_MAGIC))
            _copy(stream, out, length)
        place += length
    footer[_FILE_ROWS] = (_I64, rows)
    footer[_FILE_ROW_GROUPS] = (_LIST, (_STRUCT, groups))
    text = b"".join(_struct(dict(sorted(footer.items()))))
    out.write(text + struct.pack("<I", len(text)) + _MAGIC)


def _copy(stream: IO[bytes], out: IO[bytes], length: int) -> None:
    while length > 0:
        block = stream.read(min(length, 1 << 20))
        if not block:
            raise NotJoinableError("a part is shorter than it says")
        out.write(block)
        length -= len(block)


def _moved(group: Fields, by: int, ordinal: int) -> Fields:
    """Return a row group whose bytes have been moved."""

    def move(fields: Fields, number: int) -> None:
        if number in fields and fields[number][1] > 0:
            fields[number] = (_I64, fields[number][1] + by)

    move(group, _GROUP_OFFSET)
    if _GROUP_ORDINAL in group:
        # 16 bits; readers do without.
        del group[_GROUP_ORDINAL]
        if ordinal < 1 << 15:
            group[_GROUP_ORDINAL] = (_I16, ordinal)
    for chunk in group[_GROUP_COLUMNS][1][1]:
        meta = chunk[_CHUNK_META][1]
        if _META_BLOOM_FILTER in meta or any(number in chunk for number in _CHUNK_INDEXES):
            raise NotJoinableError("a part has an index beside its pages")
        move(chunk, _CHUNK_OFFSET)
        for number in _META_OFFSETS:
            move(meta, number)
    return group


def _read_footer(path: Path) -> tuple[Fields, int]:
    """Return the footer of a file and the number of bytes between its head and its footer."""
    with path.open("rb") as stream:
        size = stream.seek(0, 2)
        if size < 12:
            raise NotJoinableError(f"'{path}' is not a Parquet file")
        stream.seek(size - 8)
        tail = stream.read(8)
        length = struct.unpack("<I", tail[:4])[0]
        start = size - 8 - length
        if tail[4:] != _MAGIC or start < len(_MAGIC):
            raise NotJoinableError(f"'{path}' is not a Parquet file")
        stream.seek(start)
        return _Reader(stream.read(length)).struct(), start - len(_MAGIC)


class _Reader:
    """Reads values of the compact protocol."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._at = 0

    def struct(self) -> Fields:
        fields: Fields = {}
        number = 0
        while head := self._byte():
            step, kind = head >> 4, head & 15
            number = number + step if step else self._signed()
            fields[number] = (kind, self._value(kind))
        return fields

    def _value(self, kind: int) -> Any:
        if kind in (_TRUE, _FALSE):
            return kind == _TRUE
        if kind == _BYTE:
            return self._byte()
        if kind in (_I16, _I32, _I64):
            return self._signed()
        if kind == _DOUBLE:
            return self._bytes(8)
        if kind == _BINARY:
            return self._bytes(self._unsigned())
        if kind in (_LIST, _SET):
            head = self._byte()
            count, inner = head >> 4, head & 15
            count = self._unsigned() if count == 15 else count
            # Flags in lists take a byte each.
            inner_kind = _BYTE if inner in (_TRUE, _FALSE) else inner
            return inner, [self._value(inner_kind) for _ in range(count)]
        if kind == _STRUCT:
            return self.struct()
        raise NotJoinableError(f"wire type {kind} in a footer")

    def _byte(self) -> int:
        self._at += 1
        return self._text[self._at - 1]

    def _bytes(self, count: int) -> bytes:
        self._at += count
        return self._text[self._at - count : self._at]

    def _unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7

    def _signed(self) -> int:
        value = self._unsigned()
        return value >> 1 ^ -(value & 1)


def _struct(fields: Fields) -> Iterator[bytes]:
    before = 0
    for number, (kind, value) in fields.items():
        actual = (_TRUE if value else _FALSE) if kind in (_TRUE, _FALSE) else kind
        if 0 < number - before < 16:
            yield bytes([(number - before) << 4 | actual])
        else:
            yield bytes([actual]) + _signed(number)
        if actual not in (_TRUE, _FALSE):
            yield from _value(kind, value)
        before = number
    yield b"\0"


def _value(kind: int, value: Any) -> Iterator[bytes]:
    if kind == _BYTE:
        yield bytes([value])
    elif kind in (_I16, _I32, _I64):
        yield _signed(value)
    elif kind == _DOUBLE:
        yield value
    elif kind == _BINARY:
        yield _unsigned(len(value)) + value
    elif kind in (_LIST, _SET):
        inner, items = value
        count = len(items)
        yield (
            bytes([count << 4 | inner]) if count < 15 else bytes([0xF0 | inner]) + _unsigned(count)
        )
        inner_kind = _BYTE if inner in (_TRUE, _FALSE) else inner
        for item in items:
            yield from _value(inner_kind, item)
    else:
        yield from _struct(value)


def _unsigned(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _signed(value: int) -> bytes:
    return _unsigned(value << 1 if value >= 0 else (-value << 1) - 1)
