"""A model as the theory sees it: queues, and flows that visit them.

A *station* is one queue with its transmitter: a half-duplex link is one station that both
directions share, a full-duplex link is two. A flow visits stations with its data packets and, on
the way back, with its ACKs. A visit costs the bits of the packet, and a packet waits at each visit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ackclock.arrays import Floats
from ackclock.theory.routes import Graph, Path

NS_PER_S = 1_000_000_000

WITHOUT_OWN_DROPS = ("droptail", "drop-head", "random-drop")
"""Queue disciplines that drop or mark nothing as long as there is room."""


class Station(NamedTuple):
    """One queue with its transmitter.

    Attributes:
        link: Name of the link.
        direction: `both` on a half-duplex link, else `forward` or `backward`.
        rate_bps: Capacity, bit/s.
        delay_ns: Propagation delay behind it.
        limit_bytes: Size of the buffer in bytes, if it is limited in bytes.
        limit_packets: Size of the buffer in packets, if it is limited in packets.
    """

    link: str
    direction: str
    rate_bps: int
    delay_ns: int
    limit_bytes: int | None
    limit_packets: int | None

    def transit_s(self, bits: int) -> Fraction:
        """Time from start of transmission to delivery, without waiting."""
        return Fraction(bits, self.rate_bps) + Fraction(self.delay_ns, NS_PER_S)


@dataclass(frozen=True)
class FlowPath:
    """A flow and what it visits.

    Attributes:
        id: Name of the flow.
        source: Host that sends data.
        target: Host that receives them.
        cc: Congestion control, or `udp`.
        params: Parameters of the congestion control or of the source, from the model.
        start_s: When it starts.
        segment_bits: Payload of a packet.
        data_bits: A data packet on the wire.
        ack_bits: An ACK on the wire; 0 if there are none.
        ack_every: Packets for which the receiver waits at most before it sends an ACK.
        initial_window: Initial window in packets.
        packets: What it has to send, in packets (a fraction for the rest); none if without end.
        data_visits: Stations that a data packet visits, in order.
        ack_visits: Stations that an ACK visits, in order.
        empty_rtt: RTT in an empty network, exact, seconds; without ACKs the one-way delay.
        empty_ack_s: The ACK's part of it.
        links: Names of the links of the data path, in order.
        alternatives: Names of the links of other data paths with the same delay, between which
            routing by measured delay may alternate.
        equivalent: Whether these are like the predicted path, link by link.
    """

    id: str
    source: str
    target: str
    cc: str
    params: Mapping[str, Any]
    start_s: float
    segment_bits: int
    data_bits: int
    ack_bits: int
    ack_every: int
    initial_window: float
    packets: float | None
    data_visits: tuple[int, ...]
    ack_visits: tuple[int, ...]
    empty_rtt: Fraction
    empty_ack_s: float
    links: tuple[str, ...]
    alternatives: tuple[tuple[str, ...], ...]
    equivalent: bool

    @cached_property
    def empty_rtt_s(self) -> float:
        """RTT in an empty network, seconds."""
        return float(self.empty_rtt)

    def meets(self, other: "FlowPath") -> bool:
        """Whether data of both visit a common station."""
        return not set(self.data_visits).isdisjoint(other.data_visits)


class Network:
    """Stations and flows of a model.

    Attributes:
        stations: All, in file order of the links; of a full-duplex link forward before backward.
        flows: All flows, in file order.
    """

    def __init__(self, model: Mapping[str, Any]) -> None:
        self._model = model
        self._graph = Graph(model)
        self.stations: list[Station] = []
        self._manages_queues = any(
            link[side]["queue"]["kind"] not in WITHOUT_OWN_DROPS
            for link in model["links"]
            for side in ("forward", "backward")
        )
        self._number: dict[tuple[int, int], int] = {}
        for index, link in enumerate(model["links"]):
            for way in (0, 1):
                if way == 0 or link["duplex"] == "full":
                    self.stations.append(_station(link, way))
                self._number[index, way] = len(self.stations) - 1
        self.flows = [self._flow(flow) for flow in model["flows"]]
        self._limit_by_time()

    def _limit_by_time(self) -> None:
        """Give buffers of some BDP or milliseconds their bytes, as the engine does."""
        asking = {
            (link["id"], side): link[side]["queue"]
            for link in self._model["links"]
            for side in ("forward", "backward")
            if side in link and {"limit_ns", "limit_products"} & link[side]["queue"].keys()
        }
        if not asking:
            return
        trips = [0] * len(self.stations)
        for flow, said in zip(self.flows, self._model["flows"], strict=True):
            crossed = [
                *flow.data_visits,
                *(self._number[hop] for hop in self._graph.ack_path(said)),
            ]
            trip_ns = sum(self.stations[place].delay_ns for place in crossed)
            for place in crossed:
                trips[place] = max(trips[place], trip_ns)
        for place, station in enumerate(self.stations):
            side = "forward" if station.direction == "both" else station.direction
            if (queue := asking.get((station.link, side))) is None:
                continue
            time_ns = queue.get("limit_ns")
            if time_ns is None:
                time_ns = queue["limit_products"] * trips[place] // 1000
            limit = (station.rate_bps * time_ns + 4 * NS_PER_S) // (8 * NS_PER_S)
            self.stations[place] = station._replace(limit_bytes=limit)

    def capacity(self) -> Floats:
        """Capacity of each station, bit/s; shape (stations,)."""
        return np.array([station.rate_bps for station in self.stations], dtype=np.float64)

    @cached_property
    def visits(self) -> tuple[Floats, Floats]:
        """How often data packets and ACKs of flows visit stations; each of (stations, flows)."""
        data, acks = (np.zeros((len(self.stations), len(self.flows))) for _ in range(2))
        for column, flow in enumerate(self.flows):
            np.add.at(data[:, column], list(flow.data_visits), 1.0)
            np.add.at(acks[:, column], list(flow.ack_visits), 1.0)
        return data, acks

    @cached_property
    def positions(self) -> Floats:
        """Place of each station on the round trip of each flow; shape (stations, flows)."""
        places = np.zeros((len(self.stations), len(self.flows)))
        for column, flow in enumerate(self.flows):
            for place, station in reversed(list(enumerate((*flow.data_visits, *flow.ack_visits)))):
                places[station, column] = place
        return places

    def _flow(self, flow: Mapping[str, Any]) -> FlowPath:
        tcp, udp = flow.get("tcp"), flow.get("udp")
        if tcp is not None:
            cc, params = tcp["cc"]["kind"], tcp["cc"]
            if tcp["source"]["kind"] != "bulk":
                params = {"kind": "application-limited flows"}  # no law knows them
            if self._manages_queues:
                params = {"kind": "flows whose queues drop or mark early"}  # nor these
            segment = int(tcp["segment_bytes"]) * 8
            data = segment + int(tcp["header_bytes"]) * 8
            ack = int(tcp["ack_bytes"]) * 8
            initial = float(tcp["initial_window"])
            receiver = tcp.get("receiver") or {}
            ack_every = 2 if receiver.get("kind") == "linux" else int(receiver.get("count", 1))
        else:
            if udp is None:
                raise KeyError("tcp or udp")
            cc, params = "udp", udp["source"]
            segment = data = largest_write(udp["source"]) * 8
            ack, initial, ack_every = 0, 0.0, 1

        if self._model["routing"]["kind"] == "distance-vector":
            way_out, *others = self._graph.least_delay_paths(flow["from"], flow["to"])
        else:
            way_out, others = self._graph.data_path(flow), []
        way_back = self._graph.ack_path(flow) if tcp else ()
        data_visits = tuple(self._number[hop] for hop in way_out)
        ack_visits = tuple(self._number[hop] for hop in way_back)
        empty_ack = sum((self.stations[s].transit_s(ack) for s in ack_visits), Fraction(0))
        empty_data = sum((self.stations[s].transit_s(data) for s in data_visits), Fraction(0))
        size = flow["send_bytes"]
        return FlowPath(
            id=flow["id"],
            source=flow["from"],
            target=flow["to"],
            cc=cc,
            params=params,
            start_s=flow["start_ns"] / NS_PER_S,
            segment_bits=segment,
            data_bits=data,
            ack_bits=ack,
            ack_every=ack_every,
            initial_window=initial,
            packets=None if size is None else size * 8 / segment,
            data_visits=data_visits,
            ack_visits=ack_visits,
            empty_rtt=empty_data + empty_ack,
            empty_ack_s=float(empty_ack),
            links=self._names(way_out),
            alternatives=tuple(self._names(path) for path in others),
            equivalent=all(self._alike(way_out, path) for path in others),
        )

    def queues_along(self, source: str, path: Sequence[str]) -> list[tuple[str, str]]:
        """Link and direction of each queue on a path from a host, given by its links."""
        links = {link["id"]: link for link in self._model["links"]}
        queues, node = [], source
        for name in path:
            first, second = links[name]["ends"]
            half = links[name]["duplex"] == "half"
            queues.append((name, "both" if half else "forward" if node == first else "backward"))
            node = second if node == first else first
        return queues

    def _names(self, path: Path) -> tuple[str, ...]:
        return tuple(self._model["links"][index]["id"] for index, _ in path)

    def _alike(self, path: Path, other: Path) -> bool:
        def traits(hops: Path) -> list[tuple[str, int, int]]:
            stations = [self.stations[self._number[hop]] for hop in hops]
            return [(s.direction, s.rate_bps, s.delay_ns) for s in stations]

        return traits(path) == traits(other)


def _station(link: Mapping[str, Any], way: int) -> Station:
    half = link["duplex"] == "half"
    side = "backward" if way == 1 else "forward"
    queue = link[side]["queue"]
    return Station(
        link=link["id"],
        direction="both" if half else side,
        rate_bps=int(link[side]["rate_bps"]),
        delay_ns=int(link[side]["delay_ns"]),
        limit_bytes=queue.get("limit_bytes"),
        limit_packets=queue.get("limit_packets"),
    )


def largest_write(source: Mapping[str, Any]) -> int:
    """Return the bytes of the largest datagram of a UDP source."""
    if writes := source.get("writes"):
        return max(int(write["size_bytes"]) for write in writes)
    return int(source["write_bytes"])
