"""A minimal reader of pcapng files with IPv4 packets, after the specification, for the tests."""

import struct
from dataclasses import dataclass, field


@dataclass
class Packet:
    interface: int
    time_ns: int
    data: bytes
    original: int
    options: dict[int, list[bytes]]

    @property
    def protocol(self):
        return self.data[9]

    @property
    def ends(self):
        return self.data[12:16], self.data[16:20]

    @property
    def comment(self):
        return self.options[1][0].decode() if 1 in self.options else None

    @property
    def number(self):
        return struct.unpack("<Q", self.options[5][0])[0]

    @property
    def outbound(self):
        return struct.unpack("<I", self.options[2][0])[0] == 2

    @property
    def ports(self):
        return struct.unpack(">HH", self.data[20:24])

    @property
    def seq(self):
        return struct.unpack(">I", self.data[24:28])[0]

    @property
    def ack(self):
        return struct.unpack(">I", self.data[28:32])[0]

    @property
    def flags(self):
        return self.data[33]

    @property
    def window(self):
        return struct.unpack(">H", self.data[34:36])[0]

    @property
    def header(self):
        return 20 + (self.data[32] >> 4) * 4 if self.protocol == 6 else 28

    @property
    def payload(self):
        return struct.unpack(">H", self.data[2:4])[0] - self.header

    @property
    def tcp_options(self):
        found, rest = {}, self.data[40 : self.header]
        while rest:
            if rest[0] == 1:
                rest = rest[1:]
                continue
            found[rest[0]] = rest[2 : rest[1]]
            rest = rest[rest[1] :]
        return found

    def checksums_hold(self):
        """Whether all checksums of a packet that is captured whole are right."""
        if _sum(self.data[:20]) != 0xFFFF:
            return False
        if self.protocol not in (6, 17):
            return True
        body = self.data[20:]
        pseudo = self.data[12:20] + bytes([0, self.protocol]) + struct.pack(">H", len(body))
        return _sum(pseudo + body) == 0xFFFF


@dataclass
class File:
    comment: str = ""
    interfaces: list[dict[int, list[bytes]]] = field(default_factory=list)
    names: dict[bytes, str] = field(default_factory=dict)
    packets: list[Packet] = field(default_factory=list)


def _sum(data):
    data += bytes(len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def _options(data):
    found = {}
    while data:
        code, length = struct.unpack("<HH", data[:4])
        if code == 0:
            assert length == 0
            assert len(data) == 4
            break
        found.setdefault(code, []).append(data[4 : 4 + length])
        data = data[4 + length + -length % 4 :]
    return found


def read(path):
    """Read a file; fails where it is not as the specification says."""
    data = path.read_bytes()
    file = File()
    at = 0
    while at < len(data):
        kind, total = struct.unpack_from("<II", data, at)
        assert total % 4 == 0
        assert struct.unpack_from("<I", data, at + total - 4) == (total,)
        body = data[at + 8 : at + total - 4]
        at += total
        if kind == 0x0A0D0D0A:
            assert struct.unpack("<IHHq", body[:16]) == (0x1A2B3C4D, 1, 0, -1)
            file.comment = _options(body[16:])[1][0].decode()
        elif kind == 1:
            assert struct.unpack("<HH", body[:4]) == (101, 0)
            file.interfaces.append(_options(body[8:]))
        elif kind == 4:
            while (record := struct.unpack("<HH", body[:4]))[0]:
                address, name = body[4:8], body[8 : 4 + record[1]]
                file.names[address] = name.rstrip(b"\0").decode()
                body = body[4 + record[1] + -record[1] % 4 :]
        else:
            assert kind == 6
            interface, high, low, captured, original = struct.unpack("<5I", body[:20])
            file.packets.append(
                Packet(
                    interface,
                    high << 32 | low,
                    body[20 : 20 + captured],
                    original,
                    _options(body[20 + captured + -captured % 4 :]),
                )
            )
    return file
