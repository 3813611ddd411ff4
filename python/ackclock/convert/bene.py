"""Network files of the Bene simulator (zappala/bene, 2014 to 2017), used in BYU CS 460.

A file lists each node with its neighbours, one node a line; then, after a blank line, one direction
of a link a line with its rate, delay, queue limit and probability of loss. Lines that start with
``#`` are comments::

    n1 n2
    n2 n1

    n1 n2 10Mbps 10ms 100pkts 0.1loss
    n2 n1 10Mbps 10ms

Bene ignores words that it does not know, so that ``100packets`` means no limit there. Here every
word that is not understood is an error. Values that are not given are Bene's: 1 Mbps, 1 ms, a queue
without limit, no loss. The rules of that simulator are our profile ``bene``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from ackclock.convert import jsonfile, quantities
from ackclock.convert.base import Conversion
from ackclock.errors import Problem, ScenarioError, nearest

_RATES = {"Gbps": 10**9, "Mbps": 10**6, "Kbps": 10**3, "bps": 1}
_TIMES_NS = {"ms": 10**6, "seconds": 10**9}
_UNITS = (*_RATES, *_TIMES_NS, "pkts", "loss")
_ALLOWED = "10Mbps (also Gbps, Kbps, bps), 10ms, 0.5seconds, 100pkts, 0.1loss"
_WORD = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(.*)", re.DOTALL)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")

_DEFAULTS = {"rate": 1_000_000, "delay": 1_000_000, "queue": None, "loss": Decimal(0)}
"""Bit/s, nanoseconds, packets (none: without limit), probability."""

_SOURCE = "A network file of zappala/bene, the simulator of BYU CS 460."
_FLOW = (
    "The flow is a placeholder: a network file has none. Fill in who sends what to whom, and when."
)
_ROUTERS = (
    "In Bene every node forwards and every node can send. Here nodes with one link are hosts and "
    "the others are routers; only hosts send and receive."
)
_CHOSEN = (
    "Fewer than two nodes have a single link. The first node of the file and the last one that it "
    "reaches are hosts, which do not forward."
)
_ROUTES = "Bene's forwarding tables are set by its scripts; here packets take the shortest path."


class _Word(NamedTuple):
    text: str
    line: int
    column: int


@dataclass
class _Network:
    """What a file says: nodes and their neighbours in file order, values of directions."""

    neighbours: dict[str, list[str]] = field(default_factory=dict)
    values: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)


@dataclass
class _Faults:
    """Collects everything that is wrong with a file."""

    file: str
    found: list[Problem] = field(default_factory=list)

    def add(
        self, word: _Word, message: str, *, allowed: str | None = None, hint: str | None = None
    ) -> None:
        place = (self.file, word.line, word.column)
        self.found.append(Problem(message, "", word.text, allowed, hint, *place))


def recognizes(text: str) -> bool:
    """Whether a text looks like a network file: its first line with content is names only."""
    for words in _lines(text):
        if words:
            return len(words) > 1 and all(_NAME.fullmatch(word.text) for word in words)
    return False


def convert(path: Path) -> Conversion:
    """Read one network file as a scenario with a flow to fill in.

    Raises :class:`ackclock.errors.ScenarioError` with every word that is not understood and every
    link that does not fit together, each with line and column.
    """
    faults = _Faults(str(path))
    network = _read(jsonfile.text(path), faults)
    if faults.found:
        raise ScenarioError(sorted(faults.found, key=lambda fault: (fault.line, fault.column)))
    return _scenario(network, path.stem)


def _lines(text: str) -> Iterator[list[_Word]]:
    """Yield the words of each line that is not a comment; none for a blank line."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("#"):
            yield [
                _Word(match[0], number, match.start() + 1) for match in re.finditer(r"\S+", line)
            ]


def _read(text: str, faults: _Faults) -> _Network:
    network = _Network()
    places: dict[tuple[str, str], _Word] = {}
    in_links = False
    for words in _lines(text):
        if not words:
            # As in Bene, whose first blank line ends the list of neighbours for good.
            in_links = True
        elif in_links:
            _read_link(words, network, faults)
        else:
            _read_neighbours(words, network, places, faults)
    if not network.neighbours:
        hint = "lines of neighbours come first; the first blank line ends them"
        faults.add(_Word("", 1, 1), "no node has a neighbour", hint=hint)
    for (start, end), word in places.items():
        if (end, start) not in places:
            hint = f"add {start} to the neighbours of {end}; links here have two directions"
            faults.add(word, f"the link from {start} to {end} has no way back", hint=hint)
    return network


def _read_neighbours(
    words: Sequence[_Word],
    network: _Network,
    places: dict[tuple[str, str], _Word],
    faults: _Faults,
) -> None:
    for word in words:
        if not _NAME.fullmatch(word.text):
            allowed = "a letter, then letters, digits, _ and -"
            hint = "a blank line separates neighbours and links"
            return faults.add(word, "not the name of a node", allowed=allowed, hint=hint)
    start, *ends = words
    if not ends:
        faults.add(start, "a node without neighbours", hint="Bene leaves such a line out silently")
    if start.text in network.neighbours:
        return faults.add(start, "this node has its line of neighbours already")
    listed = network.neighbours[start.text] = []
    for end in ends:
        if end.text == start.text:
            faults.add(end, "a node is not its own neighbour")
        elif end.text in listed:
            faults.add(end, "this neighbour is named twice", hint="Bene makes two links of it")
        else:
            listed.append(end.text)
            places[start.text, end.text] = end
    return None


def _read_link(words: Sequence[_Word], network: _Network, faults: _Faults) -> None:
    for word in words[:2]:
        if word.text not in network.neighbours:
            known = list(network.neighbours)
            close = nearest(word.text, known, 1)
            hint = f"did you mean {close[0]}?" if close else None
            return faults.add(word, "no such node", allowed=", ".join(known[:20]), hint=hint)
    if len(words) < 3:
        hint = "the first blank line ends the neighbours; after it stand links with their values"
        return faults.add(words[0], "a link line without values", hint=hint)
    start, end = (word.text for word in words[:2])
    if end not in network.neighbours[start]:
        faults.add(words[1], f"{start} has no such neighbour")
    elif (start, end) in network.values:
        faults.add(words[0], f"the values of {start} to {end} are given already")
    else:
        network.values[start, end] = _read_values(words[2:], faults)
    return None


def _read_values(words: Sequence[_Word], faults: _Faults) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for word in words:
        match = _WORD.fullmatch(word.text)
        number, unit = (Decimal(match[1]), match[2]) if match else (Decimal(0), "")
        if match is None or unit not in _UNITS:
            faults.add(word, "not understood", allowed=_ALLOWED, hint=_advice(word.text, match))
            continue
        key, value, fault = _value(number, unit)
        if fault:
            faults.add(word, fault)
        elif key in values:
            faults.add(word, f"a second {key} of the same link")
        else:
            values[key] = value
    return values


def _value(number: Decimal, unit: str) -> tuple[str, Any, str | None]:
    """Return what a word sets, its value and what is wrong with it."""
    if unit in _RATES:
        bits = number * _RATES[unit]
        fault = None if bits == int(bits) else "not a whole number of bits per second"
        return "rate", int(bits), fault if bits else "a rate is at least 1bps"
    if unit in _TIMES_NS:
        time_ns = number * _TIMES_NS[unit]
        return "delay", int(time_ns), None if time_ns == int(time_ns) else "finer than a nanosecond"
    if unit == "pkts":
        # A limit of 0 is none in Bene, and one that is not whole is never met.
        fault = None if number == int(number) else "not a whole number of packets"
        return (
            "queue",
            int(number),
            fault if number else "a limit is at least 1pkts; for none, leave it out",
        )
    return "loss", number, None if number <= 1 else "a probability is at most 1"


def _advice(text: str, match: re.Match[str] | None) -> str:
    unit = match[2] if match else ""
    if not unit and (match or text in _UNITS):
        return "number and unit stand together; Bene would ignore it"
    if text.endswith(_UNITS) and (match is None or re.search(r"[^A-Za-z]", unit)):
        return "Bene would take its digits alone"
    if match is None:
        return "Bene would ignore it"
    if unit.lower().startswith(("p", "seg")):
        return f"did you mean {match[1]}pkts? Bene would ignore it: a queue without limit"
    close = nearest(unit, _UNITS, 1)
    return f"did you mean {match[1]}{close[0]}?" if close else "Bene would ignore it"


def _scenario(network: _Network, stem: str) -> Conversion:
    nodes = list(network.neighbours)
    hosts = [node for node in nodes if len(network.neighbours[node]) == 1]
    notes = [_FLOW]
    if len(hosts) < 2:
        hosts = [nodes[0], _connected(network, nodes[0], nodes)[-1]]
        notes.append(_CHOSEN)
    routers = [node for node in nodes if node not in hosts]
    if routers:
        notes += [_ROUTERS, _ROUTES]
    document: dict[str, Any] = {
        "name": re.sub(r"[^A-Za-z0-9.]+", "-", stem).strip("-") or "converted",
        "title": f"{stem} of the Bene simulator",
        "source": _SOURCE,
        "profile": "bene",
        "hosts": hosts,
    }
    if routers:
        document["routers"] = routers
    pairs: dict[frozenset[str], tuple[str, str]] = {}  # each link once, as it is named first
    for start, ends in network.neighbours.items():
        for end in ends:
            pairs.setdefault(frozenset((start, end)), (start, end))
    document["links"] = [_link(network, *pair) for pair in pairs.values()]
    tcp = {"cc": "aimd", "recovery": "tahoe"}
    receiver = _connected(network, hosts[0], hosts)[-1]
    flow = {"id": "F1", "from": hosts[0], "to": receiver, "send": "1 MB", "tcp": tcp}
    document["flows"] = [flow]
    document["stop"] = {"when": "flows-complete", "at_latest": "1 h"}
    return Conversion(document, tuple(notes))


def _connected(network: _Network, start: str, nodes: Sequence[str]) -> list[str]:
    """Return those of the nodes to which a path leads: a file may describe several networks."""
    reached = [start]
    for node in reached:
        reached += [one for one in network.neighbours[node] if one not in reached]
    return [node for node in nodes if node in reached]


def _link(network: _Network, start: str, end: str) -> dict[str, Any]:
    forward, backward = (
        _direction({**_DEFAULTS, **network.values.get(pair, {})})
        for pair in ((start, end), (end, start))
    )
    link: dict[str, Any] = {"id": f"{start}-{end}", "between": [start, end]}
    shared = {key: value for key, value in forward.items() if backward.get(key) == value}
    link.update(shared)
    for name, values in (("forward", forward), ("backward", backward)):
        if own := {key: value for key, value in values.items() if key not in shared}:
            link[name] = own
    return link


def _direction(values: dict[str, Any]) -> dict[str, Any]:
    limit = "unlimited" if values["queue"] is None else f"{values['queue']} packets"
    direction: dict[str, Any] = {
        "rate": quantities.rate(values["rate"]),
        "delay": quantities.time(values["delay"]),
        "queue": {"kind": "droptail", "limit": limit},
    }
    if values["loss"]:
        probability = quantities.plain(values["loss"])
        direction["loss"] = {"kind": "bernoulli", "p": probability, "at": "entry"}
    return direction
