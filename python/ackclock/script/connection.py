"""The connection under test: a handshake, and one end of the engine once it is established."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from ackclock import _core
from ackclock.script.commands import Host
from ackclock.script.matching import Sent
from ackclock.script.model import NotSupportedError, Option, ScriptError, Segment, SettingError

OWN_MSS = 1460
OWN_SCALE = 8
_TIMESTAMPS = 12  # bytes of a segment
_MOST_STEPS = 200_000
_NOP = Option("nop")


@dataclass
class Connection:
    """One connection. Times are nanoseconds; numbers are those of the script."""

    name: str  # of the script, for messages
    host: Host
    overrides: dict[str, Any] = field(default_factory=dict)
    queue: list[Sent] = field(default_factory=list)
    stamps: dict[int, int] = field(default_factory=dict)
    """Time at which the segment was sent whose timestamp the script calls by a number."""

    state: str = "closed"
    active: bool = False
    ready_at: int | None = None  # when a connection that was asked for is there
    mss: int = OWN_MSS
    most: int = OWN_MSS
    scale: int = 0
    sack: bool = False
    timestamps: bool = False
    ecn: bool = False
    opened: int = 0
    nodelay: bool = False
    closing: bool = False
    taken: int = 0
    """Bytes that the application has read."""
    deaf: bool = False  # the application reads no more
    _last: int | None = None  # where the other end's FIN stands, in numbers of the script
    _fin: int | None = None  # number after our own FIN
    _passive: bool = False  # the other end closed first
    _sent: int = 1  # next number to send
    _stamp: int = 0  # what a timestamp echoes
    _window: int = 0
    _end: Any = None

    # The handshake.

    def listen(self) -> None:
        """Wait for a SYN."""
        self.state = "listen"

    def connect(self, now: int) -> None:
        """Send a SYN."""
        self.state, self.active, self.opened = "syn-sent", True, now
        flags = "SEW" if self.host.ecn == 1 else "S"
        options = self._own_options(self.host.sack, self.host.timestamps, scale=True, now=now)
        self._put(now, Segment(flags, 0, 0, None, 65535, options))

    def _own_options(
        self, sack: bool, timestamps: bool, *, scale: bool, now: int
    ) -> tuple[Option, ...]:
        options = [Option("mss", (self.most,))]
        if timestamps:
            stamp = Option("TS", (now // 1_000_000, 0))
            options += [Option("sackOK"), stamp] if sack else [_NOP, _NOP, stamp]
        elif sack:
            options += [_NOP, _NOP, Option("sackOK")]
        if scale:
            options += [_NOP, Option("wscale", (OWN_SCALE,))]
        return tuple(options)

    def _stamped(self, now: int, echo: int) -> tuple[Option, ...]:
        """The options of a segment that carries a timestamp, echoing this one, in milliseconds."""
        stamp = Option("TS", (now // 1_000_000, echo))
        return (_NOP, _NOP, stamp) if self.timestamps else ()

    def _agree(self, segment: Segment) -> bool:
        """Take what the other end offers; whether it scales its window."""
        if offer := segment.option("mss"):
            self.mss = offer.values[0]
        else:
            self.mss = 536
        self.mss = min(self.mss, self.most)
        self.sack = self.host.sack and segment.option("sackOK") is not None
        self.timestamps = self.host.timestamps and segment.option("TS") is not None
        if self.timestamps:
            self.mss -= _TIMESTAMPS
        scale = segment.option("wscale")
        self.scale = min(scale.values[0], 14) if scale else 0
        return scale is not None

    def _on_syn(self, line: int, now: int, segment: Segment) -> None:
        scales = self._agree(segment)
        self.ecn = self.host.ecn in (1, 2) and {"E", "W"} <= set(segment.flags)
        self.state, self.opened = "syn-received", now
        if segment.length:
            raise NotSupportedError(line, "data on a SYN")
        flags = "SE." if self.ecn else "S."
        options = self._own_options(self.sack, self.timestamps, scale=scales, now=now)
        self._put(now, Segment(flags, 0, 0, 1, 65535, options))

    def _on_syn_ack(self, now: int, segment: Segment) -> None:
        self._agree(segment)
        self.ecn = self.host.ecn == 1 and "E" in segment.flags and "W" not in segment.flags
        self._establish(now, segment.window or 0)
        self._put(now, Segment(".", 1, 0, 1, None, self._stamped(now, 0)))

    def _establish(self, now: int, window: int) -> None:
        self.state, self.ready_at, self._window = "established", now, window

    # The engine.

    def _tcp(self) -> dict[str, Any]:
        header = 40 + _TIMESTAMPS * self.timestamps
        tcp = {
            "preset": f"linux-{self.host.control}",
            "segment": f"{self.mss} B",
            "header": f"{header} B",
            "ack": f"{header} B",
            "sack": self.sack,
            "timestamps": self.timestamps,
            "nagle": not self.nodelay,
            "ecn": self.ecn,
            **self.host.tcp,
        }
        if self.host.paced:
            tcp |= {"pacing": "window", "pacing_burst": self.host.paced_segments}
        return tcp

    def _document(self, tcp: dict[str, Any]) -> dict[str, Any]:
        return {
            "name": "script",
            "topology": {
                "kind": "dumbbell",
                "leaves": 1,
                "access": {"rate": "1 Gbps", "delay": "1 ms"},
                "bottleneck": {"rate": "1 Gbps", "delay": "1 ms"},
            },
            "flows": [{"id": "F1", "from": "S1", "to": "D1", "tcp": tcp}],
            "stop": {"when": "time", "at_latest": "1 s"},
        }

    @property
    def end(self) -> Any:
        """The engine's end; made when it is first needed, as calls before that shape it."""
        if self._end is None:
            if self.ready_at is None:
                raise NotSupportedError(0, "data or state before the connection is established")
            tcp = self._tcp()
            if self.overrides:
                # What a preset says of a model stays, but for what is set.
                resolved = json.loads(self._check(tcp).canonical())["flows"][0]["tcp"]
                for key, value in self.overrides.items():
                    if isinstance(value, dict) and isinstance(resolved.get(key), dict):
                        value = resolved[key] | value
                    tcp[key] = value
            self._end = _core.Endpoint(self._check(tcp, overridden=bool(self.overrides)))
            self._end.open(self.opened)
            self._end.establish(self.ready_at, self.opened, self._window)
            self._end.take()
        return self._end

    def _check(self, tcp: dict[str, Any], *, overridden: bool = False) -> _core.Scenario:
        scenario, errors, _ = _core.check(json.dumps(self._document(tcp)))
        if scenario is not None:
            return scenario
        wrong = json.loads(errors)
        if overridden:
            raise self._refused(wrong)
        raise ScriptError(f"{self.name}: {'; '.join(e['message'] for e in wrong)}")

    def _refused(self, errors: list[dict[str, Any]]) -> SettingError:
        """Return the error of what is set from outside and cannot be with the script's control."""
        found = [(".".join(map(str, e["path"][3:])), e) for e in errors]
        told = ("; ".join(filter(None, (f"{key}: {e['message']}", e["hint"]))) for key, e in found)
        control = f"with the congestion control '{self.host.control}'"
        unknown = [key for key, e in found if e["message"].startswith("unknown key")]
        return SettingError(
            f"{self.name}, {control}: {'; '.join(told)}",
            tuple(unknown) if len(unknown) == len(found) else (),
        )

    @property
    def is_made(self) -> bool:
        """Whether the engine's end exists: what is set from now on would come too late."""
        return self._end is not None

    def run(self, until: int, *, inclusive: bool, need: int | None = None) -> None:
        """Let time pass; with `need`, only until the queue holds that many segments."""
        if self._end is None or self.state == "gone":
            return
        for _ in range(_MOST_STEPS):
            if need is not None and len(self.queue) >= need:
                return
            due = self._end.next_timer()
            if due is None or due > until or (due == until and not inclusive):
                return
            self._end.on_timer(due)
            self._collect()
        raise NotSupportedError(0, "a connection that never comes to rest")

    def _collect(self) -> None:
        for packet in self.end.take():
            self._put_packet(packet)

    def _put_packet(self, packet: dict[str, Any]) -> None:
        flags = ("F" if packet["fin"] else "") + ("P" if packet["push"] else "")
        flags += ("E" if packet["ece"] else "") + ("W" if packet["cwr"] else "")
        now = packet["time"]
        options = self._stamped(now, packet["echo"] // 1_000_000)
        if packet["blocks"]:
            edges = tuple(edge + 1 for block in packet["blocks"] for edge in block)
            options += (_NOP, _NOP, Option("sack", edges))
        segment = Segment(
            flags + ".", packet["seq"] + 1, packet["payload"], packet["ack"] + 1, None, options
        )
        after = segment.seq + segment.length + packet["fin"]
        self._sent = max(self._sent, after)
        if packet["fin"]:
            self._fin = after
        self._stamp = packet["echo"] // 1_000_000
        self.queue.append(Sent(now, segment, packet["ect"] and packet["payload"] > 0, now))

    def _put(self, now: int, segment: Segment) -> None:
        self.queue.append(Sent(now, segment, stamp=now))

    # What a script does to it.

    def inject(self, line: int, now: int, segment: Segment, ecn: str | None) -> None:
        """Let a segment arrive."""
        flags = set(segment.flags)
        if self.state == "gone":
            return self._refuse(now, segment)
        if "R" in flags:
            return self._on_reset(line, segment)
        if segment.urgent or "U" in flags:
            raise NotSupportedError(line, "urgent data")
        if "S" in flags:
            if "." in flags and self.state == "syn-sent":
                return self._on_syn_ack(now, segment)
            if "." not in flags and self.state == "listen":
                return self._on_syn(line, now, segment)
            raise NotSupportedError(line, f"a SYN in the state '{self.state}'")
        if "." not in flags:
            return None  # RFC 9293 section 3.10.7.4: without ACK it counts for nothing
        window = (segment.window or 0) << self.scale
        if self.state == "syn-received":
            self._establish(now, window)
            if not segment.length and "F" not in flags:
                return None
        if self.state != "established":
            raise NotSupportedError(line, f"a segment in the state '{self.state}'")
        if segment.seq < 1 or (segment.ack or 0) < 1:
            raise NotSupportedError(line, "numbers from before the connection")
        sack = segment.option("sack")
        edges = [edge - 1 for edge in sack.values] if sack and self.sack else []
        if min(edges, default=0) < 0:
            raise NotSupportedError(line, "numbers from before the connection")
        stamp = segment.option("TS")
        self.end.inject(
            now,
            ack=(segment.ack or 1) - 1,
            window=window,
            blocks=list(zip(edges[::2], edges[1::2], strict=True)),
            ece="E" in flags and self.ecn,
            echo=self._echo(line, stamp) if stamp and self.timestamps else None,
            seq=segment.seq - 1,
            payload=segment.length,
            fin="F" in flags,
            push="P" in flags,
            marked=ecn == "ce" and self.ecn,
            cwr="W" in flags and self.ecn,
            stamp=stamp.values[0] * 1_000_000 if stamp else now,
        )
        if "F" in flags and (segment.ack or 0) <= self._sent:
            self._last = segment.seq + segment.length
            self._passive = self._fin is None
        self._collect()
        return self._end_of_life(segment)

    def _end_of_life(self, segment: Segment) -> None:
        """Forget the connection when the other end closed first, and our FIN is acknowledged."""
        acknowledged = self._fin is not None and (segment.ack or 0) >= self._fin
        if acknowledged and self._passive and self.is_at_end:
            self.state = "gone"

    def _on_reset(self, line: int, segment: Segment) -> None:
        """Take a RST that is exactly where data are expected (RFC 5961 section 3)."""
        if self.state != "established" or segment.seq != self.end.received() + 1:
            raise NotSupportedError(line, "a RST that is not at the next byte expected")
        self.state = "gone"

    def _refuse(self, now: int, segment: Segment) -> None:
        """Answer a segment for which there is no connection (RFC 9293 section 3.10.7.1)."""
        if "R" in segment.flags:
            return
        if "." in segment.flags:
            self._put(now, Segment("R", segment.ack or 0, 0, None, None, None))
        else:
            after = segment.seq + segment.length + ("F" in segment.flags or "S" in segment.flags)
            self._put(now, Segment("R.", 0, 0, after, None, None))

    # What the application reads.

    @property
    def is_at_end(self) -> bool:
        """Whether the other end's FIN has arrived, with all before it."""
        return self._last is not None and self.end.received() >= self._last

    @property
    def unread(self) -> int:
        """Bytes that have arrived in order and were not read."""
        return self.end.received() - self.is_at_end - self.taken

    def read(self, most: int) -> int | None:
        """Let the application read; None if there is nothing yet."""
        if not self.unread:
            return 0 if self.deaf or self.is_at_end else None
        size = min(most, self.unread)
        self.taken += size
        return size

    def _echo(self, line: int, stamp: Option) -> int:
        value = stamp.values[1]
        if value not in self.stamps:
            raise NotSupportedError(line, f"ecr {value}, which no expected segment had as its val")
        return self.stamps[value]

    def write(self, now: int, size: int, *, record: bool = False, more: bool = False) -> None:
        """Let the application write: the end of a record, or with more to come at once."""
        self.end.write(now, size, record, more)
        self._collect()

    def close(self, now: int, *, whole: bool = True) -> None:
        """Let the application close: at once if it leaves data unread (RFC 2525 section 2.17)."""
        if self.state == "syn-sent":
            self.state = "gone"
        elif whole and not self.deaf and self.unread and self._fin is None:
            options = self._stamped(now, self._stamp)
            ack = self.end.received() + 1
            self._put(now, Segment("R.", self._sent, 0, ack, None, options))
            self.state = "gone"
        elif not self.closing:
            self.closing = True
            self.end.close(now)
            self._collect()

    def set_nodelay(self, now: int, on: bool) -> None:
        """Switch Nagle's algorithm off, or on."""
        self.nodelay = on
        if self.is_made:
            self.end.set_nagle(now, not on)
            self._collect()

    def set_cork(self, now: int, on: bool) -> None:
        """Hold small segments back, or no longer."""
        self.end.set_cork(now, on)
        self._collect()

    def info(self) -> dict[str, int]:
        """Return what `struct tcp_info` says."""
        info = dict(self.end.info())
        options = self.timestamps | self.sack << 1 | 4 * (self.scale > 0) | self.ecn << 3
        info["tcpi_options"] = options
        info["tcpi_advmss"] = self.most
        if not self.closing:
            info["tcpi_state"] = 1
        return info
