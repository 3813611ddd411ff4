"""Whether what was sent is what a script expects."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ackclock.script.model import NS, MismatchError, Option, Segment


@dataclass(frozen=True)
class Sent:
    """A segment that left the connection under test, with the time at which it did."""

    time: int
    segment: Segment
    ect: bool = False
    stamp: int | None = None  # its timestamp, in the connection's own time

    def text(self) -> str:
        """Return time and segment as scripts write them."""
        return f"{self.time / NS:.6f} > {self.segment.text()}"


def joined(line: int, expected: Segment, parts: list[Sent]) -> Sent:
    """Return several segments as the one that a script expects.

    Scripts are written for hosts that send trains of segments at once; so one line may stand for
    many segments, which follow each other and differ in nothing but their numbers.
    """
    first, last = parts[0], parts[-1]
    size = first.segment.length
    at = first.segment.seq
    for i, part in enumerate(parts):
        segment = part.segment
        full = segment.length == size or (i == len(parts) - 1 and segment.length < size)
        alike = (
            segment.seq == at
            and full
            and segment.ack == first.segment.ack
            and segment.options == first.segment.options
            and part.ect == first.ect
            and ("E" in segment.flags) == ("E" in first.segment.flags)
        )
        if not alike:
            sizes = " ".join(f"{p.segment.seq}:{p.segment.seq + p.segment.length}" for p in parts)
            raise MismatchError(
                line, f"segments that cannot be joined: {sizes}", expected.text(), part.text()
            )
        at += segment.length
    if len(parts) == 1:
        return first
    flags = last.segment.flags
    if "W" in first.segment.flags and "W" not in flags:
        flags += "W"
    return Sent(
        last.time,
        replace(last.segment, seq=first.segment.seq, length=at - first.segment.seq, flags=flags),
        last.ect,
        last.stamp,
    )


def check(
    line: int, expected: Segment, sent: Sent, *, push: bool, stamps: tuple[int, float] | None
) -> None:
    """Compare one segment, all but its time.

    `push` compares PSH, too; `stamps` is by what the script's timestamps are ahead, and how far
    off they may be; None if they do not matter.

    Raises:
        MismatchError: they differ; the message names the first field that does.
    """
    actual = sent.segment
    ignored = "" if push else "P"
    wanted, found = (set(s.flags) - set(ignored) for s in (expected, actual))
    differing = [
        (name, was)
        for name, was in (
            ("flags", wanted != found),
            ("sequence number", expected.seq != actual.seq),
            ("payload length", expected.length != actual.length),
            ("ack number", (expected.ack or 0) != (actual.ack or 0)),
            ("ECN bits", _ecn_differs(expected.ecn, sent.ect)),
            ("options", _options_differ(expected.options, actual.options, stamps)),
            ("window", expected.window is not None and expected.window != actual.window),
        )
        if was
    ]
    if differing:
        raise MismatchError(line, f"wrong {differing[0][0]}", expected.text(), sent.text())


def _ecn_differs(expected: str | None, ect: bool) -> bool:
    match expected:
        case None:
            return False
        case "ect0" | "ect01":
            return not ect
        case "noecn":
            return ect
    return True


def _options_differ(
    expected: tuple[Option, ...] | None,
    actual: tuple[Option, ...] | None,
    stamps: tuple[int, float] | None,
) -> bool:
    if expected is None:
        return False
    actual = actual or ()
    if [option.kind for option in expected] != [option.kind for option in actual]:
        return True
    for wanted, found in zip(expected, actual, strict=True):
        if wanted.kind != "TS":
            if wanted.values != found.values:
                return True
        elif stamps and abs(wanted.values[0] - found.values[0] - stamps[0]) > stamps[1]:
            return True
    return False
