"""What tshark says of a capture, all of it in one call: it takes half a second to start."""

import subprocess
from typing import NamedTuple

_KINDS = ("retransmission", "out_of_order", "spurious_retransmission", "initial_rtt")
_FIELDS = [
    *("frame.number", "tcp.stream", "tcp.options.sack_le", "_ws.malformed", "tcp.checksum.status"),
    *(f"tcp.analysis.{kind}" for kind in _KINDS),
]
_OPTIONS = ("-o", "tcp.check_checksum:TRUE", "-z", "expert")


class Said(NamedTuple):
    """The fields of each packet, empty where it has none, and the table of what is suspect."""

    packets: list[dict[str, str]]
    expert: str

    def where(self, field):
        """Packets that have this field."""
        return [packet for packet in self.packets if packet[field]]

    @property
    def faulty(self):
        """Packets that are malformed or whose checksum is wrong."""
        bad = [packet for packet in self.packets if "0" in packet["tcp.checksum.status"].split(",")]
        return self.where("_ws.malformed") + bad


def tshark(path):
    """Have a capture read by tshark, which checks checksums, too."""
    fields = [word for field in _FIELDS for word in ("-e", field)]
    done = subprocess.run(
        ["tshark", "-r", path, *_OPTIONS, "-T", "fields", *fields],
        capture_output=True,
        text=True,
        check=True,
    )
    rows, _, expert = done.stdout.partition("\n\n")
    packets = [dict(zip(_FIELDS, row.split("\t"), strict=True)) for row in rows.splitlines()]
    return Said(packets, expert)
