"""What arrived of files that were sent through the simulated network.

The simulator moves sizes, not contents. After the run the bytes that the receiver has are put
together from the records of data packets that reached it, each with the content of the bytes it
stands for, as a receiver does it. What comes out is compared with the file, byte by byte.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ackclock.files_transfer import FileToSend

if TYPE_CHECKING:
    from ackclock.results import Results

Carried = Callable[[int, int], bytes]
"""Gives the bytes that a packet carried: this many from an offset in the file on."""


def verify(files: Sequence[FileToSend], contents: Sequence[bytes], results: Results) -> None:
    """Put together what arrived, keep it in the results and write a verdict for each flow.

    The verdict is `summary["flows"][FLOW]["file"]`: `path` as in the scenario, `bytes` of the file,
    `bytes_received` in order, `complete` (all of them), `sha256_sent`, `sha256_received`,
    `identical`.
    """
    for file, content in zip(files, contents, strict=True):
        flow = results.summary["flows"][file.flow]
        received = reassemble(arrivals(results, file.flow), _slices(content))
        # What came may have been discarded: too old (PAWS), or for lack of room.
        received = received[: flow["bytes_delivered"]]
        results.received[file.place] = received
        flow["file"] = verdict(file, content, received)


def verdict(file: FileToSend, sent: bytes, received: bytes) -> dict[str, Any]:
    """Compare a file with what arrived of it."""
    return {
        "path": file.written,
        "bytes": len(sent),
        "bytes_received": len(received),
        "complete": len(received) >= len(sent),
        "sha256_sent": hashlib.sha256(sent).hexdigest(),
        "sha256_received": hashlib.sha256(received).hexdigest(),
        "identical": received == sent,
    }


def arrivals(results: Results, flow: str) -> list[tuple[int, int]]:
    """Return the data packets of a flow that reached its receiver, in order of arrival.

    Each is the offset of its first byte in the file and the number of bytes.
    """
    import pyarrow.compute as pc

    entry = next(entry for entry in results.model["flows"] if entry["id"] == flow)
    tcp = entry["tcp"]
    packets = results.table("packets")
    wanted = {"flow": flow, "host": entry["to"], "event": "received", "kind": "data"}
    for column, value in wanted.items():
        packets = packets.filter(pc.equal(packets[column], value))  # pyrefly: ignore[missing-attribute]
    unit = 1 if tcp["numbering"] == "bytes" else tcp["segment_bytes"]
    return [
        (seq * unit, wire - tcp["header_bytes"])
        for seq, wire in zip(packets["seq"].to_pylist(), packets["bytes"].to_pylist(), strict=True)
    ]


def reassemble(packets: Iterable[tuple[int, int]], carried: Carried) -> bytes:
    """Put packets together as a receiver does: in order, up to the first byte that is missing.

    Data ahead of a gap wait; of a byte that arrives twice, the first copy in order counts.
    """
    out = bytearray()
    waiting: list[tuple[int, int, bytes]] = []
    for number, (offset, length) in enumerate(packets):
        heapq.heappush(waiting, (offset, number, carried(offset, length)))
        while waiting and waiting[0][0] <= len(out):
            start, _, content = heapq.heappop(waiting)
            out += content[len(out) - start :]
    return bytes(out)


def unidentical(summary: dict[str, Any]) -> list[str]:
    """Return the flows whose file has not arrived as it was sent."""
    flows = summary["flows"].items()
    return [name for name, flow in flows if "file" in flow and not flow["file"]["identical"]]


def _slices(content: bytes) -> Carried:
    view = memoryview(content)

    def carried(offset: int, length: int) -> bytes:
        return bytes(view[offset : offset + length])

    return carried
