"""The language of scripts: text becomes events."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ackclock.script.model import (
    NS,
    Call,
    Event,
    NotSupportedError,
    Option,
    Script,
    ScriptError,
    Segment,
    When,
)

_BLANK = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.S)
_NUMBER = r"(?:\d+(?:\.(?!\.)\d*)?|\.\d+)"
_TIME = re.compile(
    rf"(?P<any>\*)|(?P<plus>\+?)(?P<start>{_NUMBER})(?:\s*~\s*\+?(?P<end>{_NUMBER}))?"
    rf"(?:\s*\.\.\.\s*(?P<until>{_NUMBER}))?"
)
_OPTION_LINE = re.compile(r"--(\w+)(?:=(\S*))?[^\S\n]*(?://[^\n]*)?(?=\n|$)")
_ECN = re.compile(r"[\[(]\s*([^\])]*?)\s*[\])]")
_FLAGS = re.compile(r"([SFRP.UEWA]+|-)(?=\s)")
_ACE = re.compile(r"[SFRP.UEWA]*[0-7][SFRP.UEWA]*\s+\d+:")
_RANGE = re.compile(r"(\d+)\s*:\s*(\d+)\s*\(\s*(\d+)\s*\)")
_FIELD = re.compile(r"(ack|win|urg)\s+(\d+)")
_CALL = re.compile(r"([a-z_]\w*)\s*\(")
_RESULT = re.compile(r"=\s*(-?(?:0x[0-9a-fA-F]+|\d+)|\.\.\.|\?)(?:[^\S\n]*(E[A-Z]+))?")
_NOTE = re.compile(r"\s*\([^)\n]*\)")
_RARE = re.compile(r"(icmp|udp|gre|mpls|ipv4|ipv6|encap|\d+\s*>\s*\d+)\b")

OPTIONS = {
    "tolerance_usecs",
    "tolerance_percent",
    "tcp_ts_tick_usecs",
    "tcp_ts_ecr_scaled",
    "strict_segments",
    "mss",
    "mtu",
    "ip_version",
    "local_ip",
    "remote_ip",
    "define",
    "non_fatal",
    "psp_udp_port",
}
"""Options of a file that are known; some of them say nothing here (addresses)."""

_NOT_SUPPORTED = {"non_fatal", "psp_udp_port"}


class _Reader:
    """A text and a place in it."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self.at = 0

    def line(self, at: int | None = None) -> int:
        return self.text.count("\n", 0, self.at if at is None else at) + 1

    def fail(self, message: str) -> ScriptError:
        column = self.at - (self.text.rfind("\n", 0, self.at) + 1) + 1
        found = self.text[self.at :].split("\n", 1)[0][:40].rstrip()
        shown = f"; found '{found}'" if found else "; the file ends here"
        return ScriptError(f"{self.name}:{self.line()}:{column}: {message}{shown}")

    def skip(self) -> None:
        match = _BLANK.match(self.text, self.at)
        assert match is not None
        self.at = match.end()
        if self.text.startswith("/*", self.at):
            raise self.fail("a comment without end")

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self.text, self.at)
        if found:
            self.at = found.end()
        return found

    def need(self, pattern: re.Pattern[str], what: str) -> re.Match[str]:
        found = self.match(pattern)
        if not found:
            raise self.fail(f"expected {what}")
        return found

    def until(self, mark: str, what: str) -> str:
        end = self.text.find(mark, self.at)
        if end < 0:
            raise self.fail(f"{what} without end: no {mark}")
        found = self.text[self.at : end]
        self.at = end + len(mark)
        return found


def read_script(name: str, text: str, defines: dict[str, str] | None = None) -> Script:
    """Return the script of a text; `name` is for messages.

    Raises:
        ScriptError: the text is no script.
        NotSupportedError: it uses a part of the language that is not supported.
    """
    reader = _Reader(name, text.replace("\r\n", "\n"))
    script = Script(name)
    defines = dict(defines or {})
    reader.skip()
    while reader.text.startswith("--", reader.at):
        _option(reader, script, defines)
        reader.skip()
    for word, value in defines.items():
        head, rest = reader.text[: reader.at], reader.text[reader.at :]
        reader.text = head + re.sub(rf"\b{re.escape(word)}\b", lambda _, v=value: v, rest)
    if reader.text.startswith("`", reader.at):
        line = reader.line()
        reader.at += 1
        script.start = (line, reader.until("`", "a command"))
    while True:
        reader.skip()
        if reader.at >= len(reader.text):
            break
        if reader.text.startswith("`", reader.at):
            # A command at the end restores the system.
            reader.at += 1
            reader.until("`", "a command")
            continue
        script.events.append(_event(reader))
    if not script.events:
        raise ScriptError(f"{name}: the script has no events")
    return script


def _option(reader: _Reader, script: Script, defines: dict[str, str]) -> None:
    line = reader.line()
    match = reader.need(_OPTION_LINE, "an option as in --tolerance_usecs=4000")
    name, value = match[1], match[2] or ""
    if name not in OPTIONS:
        raise ScriptError(f"{reader.name}:{line}: unknown option '--{name}'")
    if name == "define":
        word, _, replaced = value.partition("=")
        defines[word] = replaced
        return
    if name == "ip_version" and value == "ipv6":
        raise NotSupportedError(line, "IPv6 headers")
    if name in _NOT_SUPPORTED:
        raise NotSupportedError(line, f"the option --{name}")
    script.options[name] = value


def _event(reader: _Reader) -> Event:
    line = reader.line()
    when = _when(reader)
    reader.skip()
    text, at = reader.text, reader.at
    if text.startswith("`", at):
        reader.at += 1
        return Event(line, when, command=reader.until("`", "a command").strip())
    if text.startswith("%{", at):
        reader.at += 2
        return Event(line, when, snippet=reader.until("}%", "a snippet"))
    if text.startswith(("<", ">"), at):
        inject = text[at] == "<"
        reader.at += 1
        segment = _segment(reader, line, inject=inject)
        if inject:
            if when.anytime or when.end is not None:
                raise ScriptError(f"{reader.name}:{line}: only expected segments have a window")
            return Event(line, when, inject=segment)
        return Event(line, when, expect=segment)
    return Event(line, when, call=_call(reader))


def _when(reader: _Reader) -> When:
    match = reader.need(_TIME, "a time: +0.1, 0.1, +0~+0.1 or *")
    if match["any"]:
        return When(anytime=True)
    end, until = (None if match[name] is None else _ns(match[name]) for name in ("end", "until"))
    return When(match["plus"] == "+", _ns(match["start"]), end, until=until)


def _ns(seconds: str) -> int:
    whole, _, part = seconds.partition(".")
    return int(whole or "0") * NS + int(part[:9].ljust(9, "0") or "0")


def _segment(reader: _Reader, line: int, *, inject: bool) -> Segment:
    reader.skip()
    ecn = None
    if match := reader.match(_ECN):
        ecn = match[1]
        if ecn not in ("ect0", "ect1", "ce", "noecn", "ect01"):
            raise NotSupportedError(line, f"the header field [{ecn}]")
        reader.skip()
    if match := reader.match(_RARE):
        raise NotSupportedError(line, f"packets with '{match[0]}'")
    if _ACE.match(reader.text, reader.at):
        raise NotSupportedError(line, "AccECN counters in place of flags")
    flags = reader.need(_FLAGS, "flags of a segment, as in 'P.'")[1].replace("-", "")
    reader.skip()
    match = reader.need(_RANGE, "sequence numbers, as in 1:1001(1000)")
    first, last, length = (int(number) for number in match.groups())
    if last != first + length:
        raise ScriptError(f"{reader.name}:{line}: {first} + {length} is not {last} in '{match[0]}'")
    fields: dict[str, int] = {}
    reader.skip()
    while match := reader.match(_FIELD):
        fields[match[1]] = int(match[2])
        reader.skip()
    if inject and "win" not in fields:
        raise ScriptError(f"{reader.name}:{line}: an injected segment needs its window ('win N')")
    options: tuple[Option, ...] | None = ()
    if reader.text.startswith("<", reader.at):
        reader.at += 1
        options = _options(reader, line)
        if options is None and inject:
            raise ScriptError(f"{reader.name}:{line}: an injected segment cannot have '<...>'")
    return Segment(
        flags,
        first,
        length,
        fields.get("ack"),
        fields.get("win"),
        options,
        ecn,
        "urg" in fields,
    )


def _options(reader: _Reader, line: int) -> tuple[Option, ...] | None:
    text = reader.until(">", "a list of options").strip()
    if text == "...":
        return None
    return tuple(_one_option(reader, line, " ".join(part.split())) for part in text.split(","))


_ONE: dict[str, tuple[re.Pattern[str], Callable[[re.Match[str]], tuple[int, ...]]]] = {
    "nop": (re.compile(r"nop"), lambda _: ()),
    "eol": (re.compile(r"eol"), lambda _: ()),
    "sackOK": (re.compile(r"sackOK"), lambda _: ()),
    "mss": (re.compile(r"mss (\d+)"), lambda m: (int(m[1]),)),
    "wscale": (re.compile(r"wscale (\d+)"), lambda m: (int(m[1]),)),
    "TS": (re.compile(r"TS val (\d+) ecr (\d+)"), lambda m: (int(m[1]), int(m[2]))),
    "sack": (
        re.compile(r"sack((?: \d+:\d+)*)"),
        lambda m: tuple(int(n) for n in re.findall(r"\d+", m[1])),
    ),
}


def _one_option(reader: _Reader, line: int, text: str) -> Option:
    for kind, (pattern, values) in _ONE.items():
        if match := pattern.fullmatch(text):
            return Option(kind, values(match))
    if text.split(" ")[0] in ("FO", "FOEXP", "md5", "ECN", "exp-sack"):
        raise NotSupportedError(line, f"the option '{text}'")
    raise ScriptError(f"{reader.name}:{line}: unknown option '{text}' of a segment")


def _call(reader: _Reader) -> Call:
    match = reader.need(_CALL, "a segment (< or >), a call, a command or a snippet")
    arguments, depth, start = [], 0, reader.at
    quoted = False
    while True:
        if reader.at >= len(reader.text):
            raise reader.fail("a call without end")
        char = reader.text[reader.at]
        if char == '"':
            quoted = not quoted
        elif not quoted:
            if char in "([{":
                depth += 1
            elif char in ")]}":
                depth -= 1
            if depth < 0 or (char == "," and depth == 0):
                arguments.append(" ".join(reader.text[start : reader.at].split()))
                start = reader.at + 1
        reader.at += 1
        if depth < 0:
            break
    reader.skip()
    result = reader.need(_RESULT, "what the call returns, as in '= 0'")
    reader.match(_NOTE)
    return Call(match[1], tuple(arguments), result[1], result[2])


def number(text: str) -> Any:
    """Return a number of an argument, None for what is none."""
    text = text.strip("[] ")
    try:
        return int(text, 0)
    except ValueError:
        return None
