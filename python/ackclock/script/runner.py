"""Running scripts: events in order, and what each of them means."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ackclock.errors import mapping_of, refuse
from ackclock.script.commands import Host, run_commands, set_control
from ackclock.script.connection import OWN_MSS, Connection
from ackclock.script.grammar import number, read_script
from ackclock.script.matching import Sent, check, joined
from ackclock.script.model import (
    NS,
    Call,
    Event,
    MismatchError,
    NotSupportedError,
    Script,
    ScriptError,
    Segment,
)
from ackclock.script.snippets import Snippets, parse

PATIENCE = 2 * NS
"""How long after its time an expected segment is waited for."""
FOREVER = 3600 * NS
CALL = NS // 1_000_000
"""How long a call of the application takes: what follows counts from its end, which on no host is
the moment it began. A microsecond, the unit of packetdrill's times, is enough for the order."""
OLDER = {"linux-6.13": ("cubic", {"cc": {"hystart": "linux-6.13"}})}
"""Kernels with another rule: the congestion control that has it, and keys that choose it."""
_RECENT = 10


@dataclass
class Result:
    """What became of a script."""

    file: str
    verdict: str  # passed, failed, unsupported
    line: int | None = None
    message: str = ""
    expected: str = ""
    actual: str = ""
    time_s: float = 0.0
    recent: list[str] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)
    checks: int = 0
    rules_of: str = ""
    """The older kernel with whose rules it passed, if it did not with today's."""

    def to_json(self) -> dict[str, Any]:
        """Return it as a plain mapping."""
        return dict(vars(self))


def run_script(
    name: str,
    text: str,
    *,
    defines: Mapping[str, str] | None = None,
    overrides: Mapping[str, Any] | None = None,
    push: bool = False,
    strict_end: bool = False,
) -> Result:
    """Run one script: `name` is for messages, `overrides` are keys of a flow's `tcp` block.

    A script does not say which kernel it was written for. One that fails is run once more with each
    rule that older kernels had; if it passes then, that is said. A rule that is set stays.

    `push` compares PSH flags, too; `strict_end` lets nothing be left over that was not expected.

    Raises:
        ScriptError: the text is no script.
        SettingError: `overrides` hold what this script's congestion control cannot have.
        InputError: an argument is of the wrong kind.
    """
    if not isinstance(text, str):
        refuse("text", text, "the text of a script")
    texts = mapping_of("defines", defines, "a mapping of names to texts", str)
    keys = mapping_of("overrides", overrides)
    try:
        script = read_script(name, text, texts)
    except NotSupportedError as stop:
        return Result(name, "unsupported", stop.line, stop.what)

    def run(keys: dict[str, Any]) -> tuple[Result, str]:
        one = _Run(script, keys, push=push, strict_end=strict_end)
        return one.result(), one.host.control

    result, control = run(keys)
    for kernel, (concerned, older) in OLDER.items():
        if result.verdict == "failed" and control == concerned and not keys.keys() & older.keys():
            again, _ = run(keys | older)
            if again.verdict == "passed":
                again.rules_of = kernel
                return again
    return result


@dataclass(frozen=True)
class _Blocked:
    """A call of the application that has not returned."""

    line: int
    due: int
    width: int
    attempt: Callable[[], bool]


class _Run:
    def __init__(
        self, script: Script, overrides: dict[str, Any], *, push: bool, strict_end: bool
    ) -> None:
        self.script = script
        self.push = push
        self.strict_end = strict_end
        self.host = Host()
        self.connection = Connection(script.name, self.host, overrides)
        self.now = 0
        self.listeners: set[str] = set()
        self.recent: list[str] = []
        self.snippets = Snippets(script.name)
        self.snapshots: list[tuple[int, str, dict[str, int]]] = []
        self.checks = 0
        self.tolerance = self._number("tolerance_usecs", 4000) * 1000
        self.percent = self._number("tolerance_percent", 12.5) / 100
        self.tick = self._number("tcp_ts_tick_usecs", 0)
        self.stamps_differ: int | None = None  # by what the script's timestamps are ahead of ours
        self.blocked: list[_Blocked] = []

    def _number(self, option: str, default: float) -> float:
        text = self.script.options.get(option)
        try:
            return default if text is None else float(text)
        except ValueError:
            raise ScriptError(f"{self.script.name}: --{option}={text}: expected a number") from None

    def result(self) -> Result:
        result = Result(self.script.name, "passed")
        event = self.script.events[0]
        try:
            if self.script.start:
                run_commands(self.host, *self.script.start)
            self._check_snippets()
            previous, injected_at = 0, None
            for event in self.script.events:
                base = injected_at if injected_at is not None and event.inject else self.now
                start = event.when.start + (base if event.when.relative else 0)
                if event.when.anytime:
                    start = self.now
                width = max(self.tolerance, self.percent * abs(start - previous))
                self._do(event, base, start, int(width))
                # An injected segment counts from when one before it was due.
                injected_at = start if event.inject else None
                previous = start
            self._finish()
        except MismatchError as failure:
            result.verdict, result.line = "failed", failure.line
            result.message = failure.message
            result.expected, result.actual = failure.expected, failure.actual
        except NotSupportedError as stop:
            result.verdict, result.line, result.message = (
                "unsupported",
                stop.line or event.line,
                stop.what,
            )
        result.time_s = self.now / NS
        result.recent = self.recent[-_RECENT:]
        result.printed = self.snippets.printed
        result.checks = self.checks
        return result

    def _check_snippets(self) -> None:
        for event in self.script.events:
            if event.snippet is not None:
                parse(self.script.name, event.line, event.snippet)

    def _wake(self) -> None:
        """Let calls return that waited for what has just arrived."""
        self.blocked = [call for call in self.blocked if not self._returns(call)]

    def _returns(self, call: _Blocked) -> bool:
        if not call.attempt():
            return False
        if abs(self.now - call.due) > call.width:
            raise MismatchError(
                call.line,
                f"the call returned at the wrong time; it may be {call.width / NS:.6f} s off",
                f"{call.due / NS:.6f}",
                f"{self.now / NS:.6f}",
            )
        return True

    def _block(self, event: Event, base: int, attempt: Callable[[], bool]) -> bool:
        """Try a call that may block, now and whenever something has arrived; whether it may."""
        if event.when.until is None:
            return False
        due = event.when.until + (base if event.when.relative else 0)
        width = max(self.tolerance, self.percent * (due - self.now))
        call = _Blocked(event.line, due, int(width), attempt)
        if not self._returns(call):
            self.blocked.append(call)
        return True

    def _finish(self) -> None:
        if self.blocked:
            raise MismatchError(
                self.blocked[0].line,
                "the call did not return",
                f"{self.blocked[0].due / NS:.6f}",
                "never",
            )
        self.recent.append("the end: snippets")
        for line, text, info in self.snapshots:
            self.snippets.run(line, text, info)
            self.checks += 1
        if self.strict_end and self.connection.queue:
            left = self.connection.queue[0]
            line = self.script.events[-1].line
            raise MismatchError(
                line, "a segment that was not expected", "nothing more", left.text()
            )

    # One event.

    def _do(self, event: Event, base: int, start: int, width: int) -> None:
        if event.expect:
            return self._expect(event, base, start, width)
        self.connection.run(start, inclusive=False)
        if self.now > start + width:
            late = (self.now - start) / NS
            raise MismatchError(
                event.line,
                f"the event comes {late:.6f} s too late, as something before it did",
                f"{start / NS:.6f}",
                f"{self.now / NS:.6f}",
            )
        self.now = max(self.now, start)
        if event.inject:
            self._note(event, f"< {event.inject.text()}")
            self.connection.inject(event.line, self.now, event.inject, event.inject.ecn)
            self._wake()
        elif event.call:
            self._note(event, f"{event.call.name}(...)")
            self._call(event, event.call, base)
            self.now += CALL if event.when.until is None else 0
        elif event.command is not None:
            self._note(event, f"`{event.command.splitlines()[0]}`")
            self._command(event.line, event.command)
        elif event.snippet is not None:
            # Timers of this moment have run when somebody looks.
            self.connection.run(self.now, inclusive=True)
            self.snapshots.append((event.line, event.snippet, self.connection.info()))
        return None

    def _note(self, event: Event, what: str) -> None:
        self.recent.append(f"{event.line}: {self.now / NS:.6f} {what}")

    def _expect(self, event: Event, base: int, start: int, width: int) -> None:
        wanted, line = event.expect, event.line
        assert wanted is not None
        self.checks += 1
        end = start
        if event.when.end is not None:
            end = event.when.end + (base if event.when.relative else 0)
        limit = self.now + FOREVER if event.when.anytime else end + PATIENCE
        parts = [self._next(line, wanted, limit)]
        if parts[0].segment.seq != wanted.seq:  # another one already: nothing can be joined to it
            raise MismatchError(line, "wrong sequence number", wanted.text(), parts[0].text())
        while wanted.length and "strict_segments" not in self.script.options:
            have = sum(part.segment.length for part in parts)
            if have >= wanted.length or not parts[-1].segment.length:
                break
            if parts[-1].segment.length < parts[0].segment.length:
                break
            parts.append(self._next(line, wanted, limit, parts))
        sent = joined(line, wanted, parts)
        check(line, wanted, sent, push=self.push, stamps=self._stamps(wanted, sent, width))
        if not event.when.anytime and not start - width <= sent.time <= end + width:
            window = f"{start / NS:.6f}" + (f"~{end / NS:.6f}" if end != start else "")
            raise MismatchError(
                line,
                f"the segment left at the wrong time; it may be {width / NS:.6f} s off",
                f"{window} > {wanted.text()}",
                sent.text(),
            )
        stamp = wanted.option("TS")
        if stamp and sent.stamp is not None:
            self.connection.stamps[stamp.values[0]] = sent.stamp
        self.now = max(self.now, sent.time)
        self._note(event, f"> {sent.segment.text()}")

    def _stamps(self, wanted: Segment, sent: Sent, width: int) -> tuple[int, float] | None:
        """Return how timestamps are compared: the first one is where the script's clock begins."""
        stamps = wanted.option("TS"), sent.segment.option("TS")
        if not self.tick or not stamps[0] or not stamps[1]:
            return None
        if self.stamps_differ is None:
            self.stamps_differ = stamps[0].values[0] - stamps[1].values[0]
        return self.stamps_differ, width / 1000 / self.tick

    def _next(
        self, line: int, wanted: Segment, limit: int, so_far: list[Sent] | None = None
    ) -> Sent:
        self.connection.run(limit, inclusive=True, need=1)
        if not self.connection.queue:
            if "S" in wanted.flags and self.connection.state in ("syn-sent", "syn-received"):
                raise NotSupportedError(line, "a SYN or SYN-ACK that is retransmitted")
            seen = " after ".join(["nothing", *(part.text() for part in (so_far or [])[-1:])])
            raise MismatchError(line, "no segment was sent", wanted.text(), seen)
        return self.connection.queue.pop(0)

    # Commands and calls.

    def _command(self, line: int, text: str) -> None:
        before = (self.host.control, dict(self.host.tcp), self.host.paced)
        refuses = run_commands(self.host, line, text)
        after = (self.host.control, self.host.tcp, self.host.paced)
        if self.connection.is_made and before != after:
            raise NotSupportedError(line, "settings that change after the first data")
        if refuses is not None:
            self.connection.end.refuse(refuses)

    def _call(self, event: Event, call: Call, base: int) -> None:
        handle = _CALLS.get(call.name)
        if handle is None:
            raise NotSupportedError(event.line, f"the call {call.name}()")
        handle(self, event, call, base)

    def _prepare(self, _event: Event, _call: Call, _base: int) -> None:
        """Do nothing: calls that only prepare."""

    def _listen(self, event: Event, call: Call, _base: int) -> None:
        self.listeners.add(call.arguments[0])
        self.connection.listen()

    def _accept(self, event: Event, call: Call, base: int) -> None:
        if self._block(event, base, lambda: self.connection.state == "established"):
            return
        if self.connection.state != "established":
            raise NotSupportedError(event.line, "accept() before there is a connection")

    def _connect(self, event: Event, call: Call, base: int) -> None:
        if self.connection.state != "closed":
            raise NotSupportedError(event.line, "a second connection")
        self.connection.connect(self.now)

    def _write(self, event: Event, call: Call, _base: int) -> None:
        line = event.line
        vector = call.name in ("sendmsg", "writev")
        size = number(call.result) if vector else number(call.arguments[2])
        if self.connection.closing and call.errno == "EPIPE":
            return
        if size is None or number(call.result) != size:
            raise NotSupportedError(line, f"{call.name}() that returns {call.result}")
        flags = call.arguments[3] if call.name in ("send", "sendto") else "0"
        if vector and call.name == "sendmsg" and len(call.arguments) > 2:
            flags = call.arguments[2]
        known = {part.strip() for part in flags.split("|")} - {"0", "MSG_NOSIGNAL", "MSG_DONTWAIT"}
        if known - {"MSG_EOR", "MSG_MORE"}:
            raise NotSupportedError(line, f"the flag {sorted(known)[0]} of {call.name}()")
        if self.connection.closing:
            raise NotSupportedError(line, f"{call.name}() after the connection was closed")
        self.connection.write(self.now, size, record="MSG_EOR" in known, more="MSG_MORE" in known)

    def _close(self, event: Event, call: Call, _base: int) -> None:
        if call.arguments[0] in self.listeners:
            return
        if self.connection.state not in ("established", "syn-sent", "gone"):
            raise NotSupportedError(event.line, f"{call.name}() before there is a connection")
        if self.connection.state != "gone":
            self.connection.close(self.now, whole=call.name == "close")

    def _shutdown(self, event: Event, call: Call, base: int) -> None:
        self.connection.deaf |= call.arguments[1] in ("SHUT_RD", "SHUT_RDWR")
        if call.arguments[1] != "SHUT_RD":
            self._close(event, call, base)

    def _read(self, event: Event, call: Call, base: int) -> None:
        most, result = number(call.arguments[2]), number(call.result)
        if most is None or result is None or (call.name == "recv" and call.arguments[3:] != ("0",)):
            raise NotSupportedError(event.line, f"{call.name}({', '.join(call.arguments)})")

        def attempt() -> bool:
            size = self.connection.read(most)
            if size is not None and size != result:
                raise MismatchError(
                    event.line, f"wrong result of {call.name}()", call.result, str(size)
                )
            return size is not None

        if self._block(event, base, attempt):
            return
        if call.errno == "EAGAIN":
            if self.connection.unread or self.connection.is_at_end:
                raise MismatchError(event.line, f"{call.name}() finds data", "EAGAIN", "data")
        elif not attempt():
            raise NotSupportedError(event.line, f"{call.name}() that waits without end")

    def _ioctl(self, event: Event, call: Call, _base: int) -> None:
        if call.arguments[1] != "SIOCINQ":
            raise NotSupportedError(event.line, f"ioctl() with {call.arguments[1]}")
        self._compare_value(event, call.arguments[2], "SIOCINQ", self.connection.unread)

    def _compare_value(self, event: Event, text: str, name: str, value: int) -> None:
        if (wanted := number(text)) != value:
            raise MismatchError(event.line, f"wrong value of {name}", str(wanted), str(value))

    def _setsockopt(self, event: Event, call: Call, _base: int) -> None:
        name, value = call.arguments[2], call.arguments[3].strip("[] ")
        line, connection = event.line, self.connection
        if name in _NO_EFFECT:
            return
        if name == "TCP_NODELAY":
            connection.set_nodelay(self.now, on=value != "0")
        elif name == "TCP_CORK":
            connection.set_cork(self.now, on=value != "0")
        elif name == "TCP_CONGESTION":
            if connection.is_made:
                raise NotSupportedError(
                    line, "a congestion control that changes after the first data"
                )
            set_control(self.host, line, value.strip('"'))
        elif name == "TCP_MAXSEG" and connection.state in ("closed", "listen"):
            connection.most = min(int(value, 0), OWN_MSS)
        else:
            raise NotSupportedError(line, f"the option {name} of setsockopt()")

    def _getsockopt(self, event: Event, call: Call, _base: int) -> None:
        name = call.arguments[2]
        known = {"SO_ERROR": 0, "TCP_MAXSEG": min(self.connection.mss, self.connection.most)}
        if name not in known:
            raise NotSupportedError(event.line, f"the option {name} of getsockopt()")
        self._compare_value(event, call.arguments[3], name, known[name])


_NO_EFFECT = {"SO_REUSEADDR", "IP_TOS", "IP_MTU_DISCOVER", "SO_SNDBUF", "SO_KEEPALIVE", "SO_LINGER"}
_CALLS: dict[str, Callable[[_Run, Event, Call, int], None]] = {
    "socket": _Run._prepare,
    "bind": _Run._prepare,
    "fcntl": _Run._prepare,
    "listen": _Run._listen,
    "accept": _Run._accept,
    "connect": _Run._connect,
    "write": _Run._write,
    "writev": _Run._write,
    "send": _Run._write,
    "sendto": _Run._write,
    "sendmsg": _Run._write,
    "read": _Run._read,
    "recv": _Run._read,
    "ioctl": _Run._ioctl,
    "close": _Run._close,
    "shutdown": _Run._shutdown,
    "setsockopt": _Run._setsockopt,
    "getsockopt": _Run._getsockopt,
}
