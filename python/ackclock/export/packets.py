"""All packets of a run, by number, put together from the records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ackclock.arrays import Flags, Integers
from ackclock.export.columns import ACK, DATA, KINDS, SYN, records
from ackclock.metrics.segments import unwrapped
from ackclock.results import Results


@dataclass
class Packets:
    """What each packet is; arrays by packet number.

    Attributes:
        flow: Place of its flow in the scenario; -1 for a router's packet.
        kind: Code of its kind.
        seq: As recorded, with the bits beyond 32 put back: of data, the first byte (classic) or the
            number of the packet; of ACKs, the next byte expected or the packet that caused it; of a
            router's packet, the router.
        bytes: Size on the wire.
        stamp_ns: Of an ACK, when the data were sent that it echoes.
        sent_ns: When it was sent; -1 for a router's packet. A copy that a link made has the times
            of the packet that it was made of.
        back: Whether the flow's receiver sent it.
    """

    flow: Integers
    kind: Integers
    seq: Integers
    bytes: Integers
    stamp_ns: Integers
    sent_ns: Integers
    back: Flags

    def __len__(self) -> int:
        return len(self.flow)

    @classmethod
    def of(cls, results: Results) -> Packets:
        """Put them together from the tables `packets`, `transmissions`, `drops` and `waiting`."""
        flows = [flow["id"] for flow in results.model["flows"]]
        tables = [
            records(results, name) for name in ("packets", "transmissions", "drops", "waiting")
        ]
        ids = [table.ints("packet_id") for table in tables]
        count = max((int(numbers.max()) + 1 for numbers in ids if len(numbers)), default=0)
        unknown = [np.full(count, -1, np.int64) for _ in range(6)]
        made = cls(*unknown, back=np.zeros(count, bool))
        for table, numbers in zip(tables, ids, strict=True):
            made.flow[numbers] = table.places("flow", flows)
            made.kind[numbers] = table.places("kind", KINDS)
            made.seq[numbers] = table.ints("seq")
            made.bytes[numbers] = table.ints("bytes")
        packets = tables[0]
        sent = packets.places("event", ("sent", "received")) == 0
        made.stamp_ns[ids[0][sent]] = packets.ns("stamp_s")[sent]
        made.sent_ns[ids[0][sent]] = packets.ns("time_s")[sent]
        hosts = results.model["hosts"]
        receiver = np.array([hosts.index(flow["to"]) for flow in results.model["flows"]])
        host = packets.places("host", hosts)
        made.back[ids[0][sent]] = host[sent] == receiver[made.flow[ids[0][sent]]]
        made._complete_copies()
        for number, flow in enumerate(results.model["flows"]):
            if counts_bytes(flow):
                for kind in (DATA, ACK):
                    mine = np.flatnonzero((made.flow == number) & (made.kind == kind))
                    made.seq[mine] = unwrapped(made.seq[mine])
        return made

    def _complete_copies(self) -> None:
        """Give copies that links made, which nobody sent, the times of the packet before them."""
        copies = (self.sent_ns < 0) & (self.flow >= 0)
        if not copies.any():
            return
        numbers = np.arange(len(self))
        order = np.lexsort((numbers, self.seq, self.kind, self.flow))
        # In this order a copy comes after what it was made of, the last one that was sent.
        origin = np.empty_like(numbers)
        known = np.where(self.sent_ns[order] >= 0, numbers, 0)
        origin[order] = order[np.maximum.accumulate(known)]
        for column in (self.sent_ns, self.stamp_ns, self.back):
            column[copies] = column[origin[copies]]

    def of_flow(self, flow: int, kind: int) -> Integers:
        """Numbers of the packets of a flow of one kind, in the order of sending."""
        return np.flatnonzero((self.flow == flow) & (self.kind == kind))

    def answers_to_syn(self, flow: int) -> Flags:
        """Which of all packets are the receiver's ACKs of a SYN: sent before the first data."""
        data = self.of_flow(flow, DATA)
        mine = (self.flow == flow) & (self.kind == ACK) & self.back
        if not len(self.of_flow(flow, SYN)):
            return np.zeros(len(self), bool)
        return mine & (np.arange(len(self)) < data[0]) if len(data) else mine


def counts_bytes(flow: dict[str, Any]) -> bool:
    """Whether sequence numbers of a flow of the model count bytes; others number the packets."""
    return flow["tcp"] is not None and flow["tcp"]["numbering"] == "bytes"


def is_modern(flow: dict[str, Any]) -> bool:
    """Whether the ends of a flow of the model agree on options, and close, as in TCP."""
    return flow["tcp"] is not None and flow["tcp"]["sender"] == "modern"
