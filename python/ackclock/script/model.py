"""What a script is made of."""

from __future__ import annotations

from dataclasses import dataclass, field

from ackclock.errors import AckclockError, InputError

NS = 1_000_000_000


class ScriptError(InputError):
    """A script that is not written in the language."""


class SettingError(InputError):
    """A key that was set for a script cannot be.

    Attributes:
        unknown: Those that the flow of this script does not have, as `--set` spells them.
    """

    def __init__(self, message: str, unknown: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.unknown = unknown


class NotSupportedError(AckclockError):
    """A script asks for something that cannot be done here; neither passed nor failed."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line = line
        self.what = what


class MismatchError(AckclockError):
    """What happened is not what the script says."""

    def __init__(self, line: int, message: str, expected: str = "", actual: str = "") -> None:
        super().__init__(message)
        self.line = line
        self.message = message
        self.expected = expected
        self.actual = actual


@dataclass(frozen=True)
class When:
    """When an event happens: nanoseconds, relative to the event before or not."""

    relative: bool = True
    start: int = 0
    end: int | None = None  # of a window
    anytime: bool = False
    until: int | None = None  # when a call that may block returns


@dataclass(frozen=True)
class Option:
    """An option of a segment: its kind and its values."""

    kind: str
    values: tuple[int, ...] = ()

    def text(self) -> str:
        """Return it as scripts write it."""
        if self.kind == "TS":
            return f"TS val {self.values[0]} ecr {self.values[1]}"
        if self.kind == "sack":
            edges = zip(self.values[::2], self.values[1::2], strict=True)
            return " ".join(["sack", *(f"{left}:{right}" for left, right in edges)])
        return " ".join([self.kind, *map(str, self.values)])


@dataclass(frozen=True)
class Segment:
    """A segment as a script writes it. `options` is None where they are not looked at."""

    flags: str
    seq: int
    length: int
    ack: int | None
    window: int | None
    options: tuple[Option, ...] | None
    ecn: str | None = None
    urgent: bool = False

    def option(self, kind: str) -> Option | None:
        """Return the option of this kind."""
        return next((o for o in self.options or () if o.kind == kind), None)

    def text(self) -> str:
        """Return it as scripts write it."""
        ecn = f"[{self.ecn}] " if self.ecn else ""
        words = [f"{ecn}{self.flags or '-'} {self.seq}:{self.seq + self.length}({self.length})"]
        if self.ack is not None:
            words.append(f"ack {self.ack}")
        if self.window is not None:
            words.append(f"win {self.window}")
        if self.options is None:
            words.append("<...>")
        elif self.options:
            words.append(f"<{','.join(option.text() for option in self.options)}>")
        return " ".join(words)


@dataclass(frozen=True)
class Call:
    """A system call: its name, its arguments as text, and what it returns."""

    name: str
    arguments: tuple[str, ...]
    result: str
    errno: str | None = None


@dataclass(frozen=True)
class Event:
    """Something that happens: one of the four is given."""

    line: int
    when: When
    inject: Segment | None = None
    expect: Segment | None = None
    call: Call | None = None
    command: str | None = None
    snippet: str | None = None


@dataclass
class Script:
    """A script as it was read."""

    name: str
    options: dict[str, str] = field(default_factory=dict)
    start: tuple[int, str] | None = None
    events: list[Event] = field(default_factory=list)
