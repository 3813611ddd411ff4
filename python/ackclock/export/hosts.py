"""What a scenario asks of real hosts: addresses, routes, links, flows, and what is left out.

Formats that write scripts for Linux hosts print this plan in their own words.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ackclock.theory.routes import Graph, Path

LINUX_CC = (
    "reno", "cubic", "bbr", "dctcp", "vegas", "bic", "highspeed", "htcp", "hybla", "illinois",
    "scalable", "veno", "westwood", "yeah", "lp",
)  # fmt: skip
"""Congestion control that Linux has under the same name."""

QUEUES = ("droptail", "codel", "fq-codel", "pie", "red")
_PACKET = 1500
FIRST_PORT = 5201


@dataclass(frozen=True)
class Side:
    """One direction of a link: what its transmitter does.

    Attributes:
        node: Where packets come from.
        rate_bps: Rate.
        delay_ms: Propagation delay.
        jitter_ms: Standard deviation of the delay; 0 for none.
        loss: Probability that a packet is lost.
        queue: The discipline of the model, with its limit as `limit_packets` or `limit_bytes`.
    """

    node: str
    rate_bps: int
    delay_ms: float
    jitter_ms: float
    loss: float
    queue: Mapping[str, Any]

    def packets(self) -> int:
        """The room of the queue in packets of full size, at most 100,000."""
        if (count := self.queue.get("limit_packets")) is not None:
            return max(1, int(count))
        if (size := self.queue.get("limit_bytes")) is not None:
            return max(1, int(size) // _PACKET)
        return 100_000

    def in_flight(self) -> int:
        """Packets of full size that are on the wire at once, which netem keeps as well."""
        return int(self.rate_bps * self.delay_ms * 1e-3 / 8 / _PACKET) + 1


@dataclass(frozen=True)
class Wire:
    """A link: its name, its number from 0, and both directions."""

    name: str
    number: int
    sides: tuple[Side, Side]

    def address(self, side: int) -> str:
        """The address of an end, in a network of its own (10.a.b.0/24)."""
        return f"10.{self.number // 250}.{self.number % 250}.{side + 1}"


@dataclass(frozen=True)
class Stream:
    """A flow: where from and to (an address), its port, when, how much, and how."""

    name: str
    source: str
    target: str
    address: str
    port: int
    start_s: float
    stop_s: float
    bytes: int | None
    cc: str | None
    udp_bps: int | None
    udp_bytes: int | None


@dataclass
class Plan:
    """A scenario for real hosts.

    Attributes:
        name: The scenario.
        hosts: Names of hosts.
        routers: Names of routers.
        wires: Links.
        routes: Of each node the next hops: address of the neighbour, by network of a link.
        streams: Flows.
        unsaid: What the script does not repeat, a line each.
    """

    name: str
    hosts: list[str]
    routers: list[str]
    wires: list[Wire]
    streams: list[Stream]
    end_s: float
    routes: dict[str, dict[str, str]] = field(default_factory=dict)
    unsaid: list[str] = field(default_factory=list)


def plan(model: Mapping[str, Any], flows: list[str] | None = None) -> Plan:
    """Return the plan of a model of a scenario, with these flows (default all)."""
    end = model["stop"].get("at_latest_ns")
    wanted = [flow for flow in model["flows"] if flows is None or flow["id"] in flows]
    name, nodes = model["name"] or "scenario", (list(model["hosts"]), list(model["routers"]))
    made = Plan(name, *nodes, [], [], end * 1e-9 if end is not None else 60.0)
    if end is None:
        made.unsaid.append("the scenario has no end: flows without an amount of data stop at 60 s")
    graph = Graph(model)
    paths = {flow["id"]: (graph.data_path(flow), graph.ack_path(flow)) for flow in model["flows"]}
    trips = _round_trips(model, paths.values())
    for number, link in enumerate(model["links"]):
        half = link["duplex"] == "half"
        sides = tuple(
            _side(link, place, way, trips.get((number, 0 if half else place), 0), made.unsaid)
            for place, way in enumerate(("forward", "backward"))
        )
        made.wires.append(Wire(link["id"], number, (sides[0], sides[1])))
        if half:
            made.unsaid.append(f"link {link['id']}: half duplex; here each direction has the rate")
        if link.get("changes"):
            made.unsaid.append(f"link {link['id']}: its changes over time")
    if model["routing"]["kind"] == "distance-vector":
        made.unsaid.append("routing distance-vector: routes here are static")
    for place, flow in enumerate(wanted):
        _route(flow, paths[flow["id"]], made)
        made.streams.append(_stream(flow, place, made, paths[flow["id"]][0]))
    return made


def _side(link: Mapping[str, Any], place: int, way: str, trip_ns: int, unsaid: list[str]) -> Side:
    side = link["forward" if link["duplex"] == "half" else way]
    here = f"link {link['id']} {way}"
    loss, jitter = side["loss"], side["jitter"]
    share = 0.0
    if loss["kind"] == "bernoulli":
        share = float(loss["p"])
    elif loss["kind"] != "none":
        unsaid.append(f"{here}: loss {loss['kind']}")
    spread = 0.0
    if jitter["kind"] == "normal":
        spread = jitter.get("deviation_ns", jitter.get("sigma_ns", 0)) * 1e-6
    if jitter["kind"] != "none" and not spread:
        unsaid.append(f"{here}: jitter {jitter['kind']}")
    unsaid += [f"{here}: {word}" for word in ("corruption", "duplication") if side.get(word)]
    if side.get("rate"):
        unsaid.append(f"{here}: a rate that varies; here its mean")
    queue = dict(side["queue"])
    if (share_of := queue.get("limit_products")) is not None:
        queue["limit_bytes"] = int(side["rate_bps"] * share_of * trip_ns / 8e12)
    if (time_ns := queue.get("limit_ns")) is not None:
        queue["limit_bytes"] = int(side["rate_bps"] * time_ns / 8e9)
    if queue["kind"] not in QUEUES:
        unsaid.append(f"{here}: queue {queue['kind']}; here first in, first out")
        queue["kind"] = "droptail"
    return Side(
        link["ends"][place], side["rate_bps"], side["delay_ns"] * 1e-6, spread, share, queue
    )


def _round_trips(
    model: Mapping[str, Any], paths: Iterable[tuple[Path, Path]]
) -> dict[tuple[int, int], int]:
    """Of each link and direction the longest round trip of the flows over it, ns.

    Propagation alone, as the engine counts it. A half-duplex link has one direction.
    """
    links, found = model["links"], dict[tuple[int, int], int]()
    half = [link["duplex"] == "half" for link in links]
    for ways in paths:
        crossed = [(index, 0 if half[index] else back) for way in ways for index, back in way]
        trip = sum(links[i]["backward" if back else "forward"]["delay_ns"] for i, back in crossed)
        for place in crossed:
            found[place] = max(found.get(place, 0), trip)
    return found


def _route(flow: Mapping[str, Any], ways: tuple[Path, Path], made: Plan) -> None:
    """Static routes along the ways of a flow, to the networks where its data and its ACKs go.

    Its ACKs go to the address that its data come from, whichever link they arrive by.
    """
    there, back = ways
    for what, path, goal in (("data", there, there[-1][0]), ("ACKs", back, there[0][0])):
        ends = [side.node for side in made.wires[goal].sides]
        network = made.wires[goal].address(0).rpartition(".")[0] + ".0/24"
        for index, way in path:
            wire = made.wires[index]
            node, gateway = wire.sides[way].node, wire.address(1 - way)
            if node in ends:  # which needs no route, and can have no other
                said = index == goal
            else:
                said = made.routes.setdefault(node, {}).setdefault(network, gateway) == gateway
            if not said:
                if what == "data" or flow["tcp"]:
                    made.unsaid.append(
                        f"flow {flow['id']}: its {what} leave {node} over link {wire.name}; here "
                        "routes are by destination, and lead another way"
                    )
                break


def _stream(flow: Mapping[str, Any], place: int, made: Plan, path: Path) -> Stream:
    index, back = path[-1]
    name, tcp, udp = flow["id"], flow["tcp"], flow["udp"]
    source = (tcp or udp)["source"]
    cc = None
    if tcp:
        cc = tcp["cc"]["kind"]
        if cc not in LINUX_CC:
            made.unsaid.append(f"flow {name}: {flow['label']}, which Linux does not have")
            cc = None
        elif tcp["sender"] != "modern":
            made.unsaid.append(f"flow {name}: sender {tcp['sender']}; here that of Linux")
        if source["kind"] != "bulk":
            made.unsaid.append(f"flow {name}: source {source['kind']}; here as fast as it can")
    elif source["kind"] != "cbr":
        made.unsaid.append(f"flow {name}: source {source['kind']}; here at its mean rate")
    start = flow["start_ns"] * 1e-9
    stop = flow["stop_ns"] * 1e-9 if flow["stop_ns"] is not None else made.end_s
    address, port = made.wires[index].address(1 - back), FIRST_PORT + place
    udp_of = [source.get(key) if udp else None for key in ("rate_bps", "write_bytes")]
    ends = (flow["from"], flow["to"], address, port, start, stop)
    return Stream(name, *ends, flow["send_bytes"], cc, *udp_of)


def client(stream: Stream) -> str:
    """The command of iperf3 that sends a flow; its report goes to `NAME.json`."""
    much = f"-n {stream.bytes}" if stream.bytes is not None else f"-t {_seconds(stream)}"
    words = [f"iperf3 -c {stream.address} -p {stream.port} {much} --json"]
    if stream.cc:
        words.append(f"-C {stream.cc}")
    if stream.udp_bps is not None:
        words.append(f"-u -b {stream.udp_bps} -l {stream.udp_bytes or 1448}")
    return " ".join(words)


def _seconds(stream: Stream) -> int:
    """How long a flow sends: iperf3 cuts off what is beyond a whole second."""
    return max(1, math.ceil(stream.stop_s - stream.start_s - 1e-9))
