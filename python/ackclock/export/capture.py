"""Which packets a capture shows, where and when, and what is noted about them.

By default each flow is captured once, where it is sent: a reader that judges retransmissions from
what it sees knows there what the sender knew. A packet that is dropped carries a comment with
place, time and reason. At hosts, packets stand at the time at which TCP or UDP sends or receives
them; on links, at the start of their transmission, or at the time of the drop for those that the
queue refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ackclock.arrays import Flags, Integers
from ackclock.export.columns import SYN, records
from ackclock.export.network import DIRECTIONS, Network
from ackclock.export.options import Options
from ackclock.export.packets import Packets
from ackclock.export.segments import HANDSHAKE
from ackclock.export.visits import NEVER, Visits
from ackclock.results import Results

_COLUMNS = ("interface", "time_ns", "number", "outbound", "comment", "marked")
_MADE_UP = "made up: this flow starts established"


@dataclass(frozen=True)
class Interface:
    """A place of capture."""

    name: str
    description: str
    rate_bps: int


@dataclass
class Capture:
    """Packets as they are captured, in order of time.

    Attributes:
        interfaces: Places of capture.
        interface: For each packet its place.
        time_ns: When it was seen.
        number: Number of the packet; beyond all packets, of a message of a made-up handshake.
        outbound: Whether it leaves the node whose interface it is; on a link, whether it goes
            forward.
        comment: Place of its comment in `comments`; -1 for none.
        comments: Texts of comments.
        marked: Whether it had been marked (CE) before.
    """

    interfaces: list[Interface]
    interface: Integers
    time_ns: Integers
    number: Integers
    outbound: Flags
    comment: Integers
    comments: list[str]
    marked: Flags

    def __len__(self) -> int:
        return len(self.number)

    @classmethod
    def of(cls, results: Results, network: Network, packets: Packets, options: Options) -> Capture:
        """Capture at hosts or on links, as the options say."""
        made = _Maker(results, network, packets, options)
        if options.links is not None:
            made.on_links(options.links)
        if options.hosts is not None:
            made.at_hosts(options.hosts)
        if options.links is None and options.hosts is None:
            made.at_senders()
        return made.capture()


class _Maker:
    def __init__(
        self, results: Results, network: Network, packets: Packets, options: Options
    ) -> None:
        self._results, self._network, self._packets = results, network, packets
        self._visits = Visits.of(results, network)
        flows = network.flows if options.flows is None else options.flows
        self._flows = np.array([network.flows.index(flow) for flow in flows], np.int64)
        self._all_flows = options.flows is None
        self._interfaces: dict[tuple[int, int], int] = {}
        self._shown: list[Interface] = []
        # Columns of `Capture`; handshakes stand before what is captured then.
        self._parts: list[dict[str, Any]] = []
        self._handshakes: list[dict[str, Any]] = []
        self._comments: list[str] = [_MADE_UP]
        self._comment_of = self._drops()
        self._marked_ns = self._marks()

    def capture(self) -> Capture:
        parts = self._handshakes + self._parts
        columns = {name: np.concatenate([part[name] for part in parts]) for name in _COLUMNS}
        order = np.argsort(columns["time_ns"], kind="stable")
        found = {name: column[order] for name, column in columns.items()}
        return Capture(self._shown, comments=self._comments, **found)

    def at_senders(self) -> None:
        """Each flow where it is sent."""
        self._at(lambda node, flow: node == self._network.ends_of_flow[flow, 0])

    def at_hosts(self, hosts: list[str]) -> None:
        """All that these hosts send and receive."""
        nodes = [self._network.nodes.index(host) for host in hosts]
        self._at(lambda node, _: np.isin(node, nodes))

    def _at(self, here: Callable[[Integers, Integers], Flags]) -> None:
        table = records(self._results, "packets")
        node = table.places("host", self._network.nodes)
        flow = table.places("flow", self._network.flows)
        wanted = np.isin(flow, self._flows) & here(node, flow)
        rows = np.flatnonzero(wanted)
        number = table.ints("packet_id")[rows]
        sent = table.places("event", ("sent", "received"))[rows] == 0
        # Its first link, or its last one.
        link = np.where(sent, self._link_of(-1)[number], self._link_of(1)[number])
        key = node[rows] * (len(self._network.links) + 1) + link + 1
        interface = np.empty(len(rows), np.int64)
        for value in np.unique(key):
            place, via = divmod(int(value), len(self._network.links) + 1)
            interface[key == value] = self._interface(place, via - 1)
        comment = np.where(sent, self._comment_of[number], -1)
        time_ns = table.ns("time_s")[rows]
        marked = ~sent & (self._marked_ns[number] <= time_ns)
        self._add(self._parts, interface, time_ns, number, sent, comment, marked)
        self._handshakes_at(node[rows], flow[rows], interface)

    def _handshakes_at(self, node: Integers, flow: Integers, interface: Integers) -> None:
        """Messages of handshakes, at the interface of the first packet of a flow."""
        for number in self._flows:
            for place in self._network.ends_of_flow[number]:
                rows = np.flatnonzero((flow == number) & (node == place))
                if len(rows):
                    first = rows[0]
                    leaves = place == self._network.ends_of_flow[number, 0]
                    self._handshake(int(number), int(interface[first]), bool(leaves))

    def _handshake(self, number: int, interface: int, outbound: bool) -> None:
        flow = self._results.model["flows"][number]
        packets = self._packets
        if flow["tcp"] is None or len(packets.of_flow(number, SYN)):
            return  # it has none, or one of its own
        numbers = len(packets) + HANDSHAKE * number + np.arange(HANDSHAKE)
        ways = np.array([outbound, not outbound, outbound])
        whole = np.ones(HANDSHAKE, np.int64)
        start = whole * flow["start_ns"]
        self._add(self._handshakes, whole * interface, start, numbers, ways, 0 * whole, whole < 0)

    def _add(self, parts: list[dict[str, Any]], *columns: Any) -> None:
        parts.append(dict(zip(_COLUMNS, columns, strict=True)))

    def on_links(self, links: list[str]) -> None:
        """All that travels on these links, and what their queues refuse."""
        visits = self._visits
        flow = self._packets.flow[visits.packet]
        seen = np.where(visits.start_ns != NEVER, visits.start_ns, visits.dropped_ns)
        wanted = np.isin(flow, self._flows) | ((flow < 0) & self._all_flows)
        for name in links:
            link = self._network.links.index(name)
            rows = np.flatnonzero(wanted & (visits.link == link) & (seen != NEVER))
            rows = rows[np.argsort(seen[rows], kind="stable")]
            interface = self._interface(-1, link)
            first_end = self._network.nodes.index(self._results.model["links"][link]["ends"][0])
            outbound = visits.origin[rows] == first_end
            here = visits.dropped_ns[rows] != NEVER
            comment = np.where(here, self._comment_of[visits.packet[rows]], -1)
            number, time_ns = visits.packet[rows], seen[rows]
            marked = self._marked_ns[number] <= time_ns
            place = np.full(len(rows), interface)
            self._add(self._parts, place, time_ns, number, outbound, comment, marked)
            for number in np.unique(flow[rows][flow[rows] >= 0]):
                of_flow = rows[flow[rows] == number]
                forward = visits.origin[of_flow[0]] == first_end
                back = self._packets.back[visits.packet[of_flow[0]]]
                self._handshake(int(number), interface, bool(forward != back))

    def _interface(self, node: int, link: int) -> int:
        key = (node, link)
        if key not in self._interfaces:
            self._interfaces[key] = len(self._shown)
            self._shown.append(self._described(node, link))
        return self._interfaces[key]

    def _described(self, node: int, link: int) -> Interface:
        if link < 0:
            name = self._network.nodes[node]
            return Interface(name, f"host {name}", 0)
        model: dict[str, Any] = self._results.model["links"][link]
        ends = model["ends"]
        if node < 0:
            what = f"link {model['id']} from {ends[0]} to {ends[1]}, both directions"
            return Interface(model["id"], what, model["forward"]["rate_bps"])
        name = self._network.nodes[node]
        way = "forward" if model["duplex"] == "half" or ends[0] == name else "backward"
        what = f"host {name} on link {model['id']}"
        return Interface(f"{name}:{model['id']}", what, model[way]["rate_bps"])

    def _link_of(self, sign: int) -> Integers:
        """Link of each packet's last visit, or with -1 of its first one; -1 for none."""
        order = np.lexsort((sign * self._visits.came_ns, self._visits.packet))
        found = np.full(len(self._packets), -1)
        found[self._visits.packet[order]] = self._visits.link[order]
        return found

    def _marks(self) -> Integers:
        """When each packet was marked first, if marks were recorded."""
        found = np.full(len(self._packets), np.iinfo(np.int64).max)
        if "marks" in self._results.tables:
            marks = records(self._results, "marks")
            np.minimum.at(found, marks.ints("packet_id"), marks.ns("time_s"))
        return found

    def _drops(self) -> Integers:
        """Comments about drops, by number of the packet."""
        drops = records(self._results, "drops")
        found = np.full(len(self._packets), -1)
        words: list[str] = self._results.table("drops")["reason"].cast("string").to_pylist()
        link = drops.places("link", self._network.links)
        direction = drops.places("direction", DIRECTIONS)
        numbers, time_ns = drops.ints("packet_id"), drops.ns("time_s")
        for row, number in enumerate(numbers):
            place = "in a router"
            if link[row] >= 0:
                place = f"at {self._network.links[link[row]]} {DIRECTIONS[direction[row]]}"
            whole, part = divmod(int(time_ns[row]), 1_000_000_000)
            reason = words[row].replace("-", " ")
            found[number] = len(self._comments)
            self._comments.append(f"dropped {place} at {whole}.{part:09} s: {reason}")
        return found
