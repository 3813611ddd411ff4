"""What all plots of one run share: the selection, colours, units, time axis and series."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ackclock.arrays import Floats, Integers
from ackclock.errors import InputError, names_of
from ackclock.measured import Measurement, read
from ackclock.metrics import step_mean, windowed_rates
from ackclock.metrics.carried import windowed_link_rates, windowed_rule_rates
from ackclock.metrics.percentiles import Recorded
from ackclock.metrics.records import Records
from ackclock.metrics.series import HasPieces, is_long
from ackclock.metrics.windows import window_edges

from . import lanes, palette, paths, quantities
from .capacity import Offered, offered, while_up
from .errors import PlotError, unknown
from .lanes import FEW_PACKETS, Interest, Lane
from .long_records import CarriedIn, LongRecords
from .options import Options
from .records import read as read_records

Series = tuple[Floats, Floats]
_T = TypeVar("_T")


class Active(NamedTuple):
    """When a flow is active: from its start until it is finished or stopped, or the run ends."""

    start_s: float
    stop_s: float
    finished: bool


class View:
    """A run as the plots see it.

    Args:
        results: The run.
        flows: Flows to draw, by name; default all.
        links: Links to draw, by name; default those that ever queue more than a few packets.
        options: Plot options; default none.

    Raises:
        PlotError: a flow or link that the run does not have, or a span of time outside of it.
    """

    def __init__(
        self,
        results: Recorded,
        flows: str | Sequence[str] | None = None,
        links: str | Sequence[str] | None = None,
        options: Options | None = None,
    ) -> None:
        self.results = results
        self.model: Mapping[str, Any] = results.model
        self.summary: Mapping[str, Any] = results.summary
        self.options = options or Options()
        self.width_mm = self.options.page_mm
        self._tables: dict[str, Records | None] = {}
        self._long: dict[str, LongRecords | None] = {}
        self._flow_of = {flow["id"]: flow for flow in self.model["flows"]}
        self._link_of = {link["id"]: link for link in self.model["links"]}
        self.flows = _chosen("flow", flows, list(self._flow_of))
        self.flows_asked = flows is not None
        self.asked_links = None if links is None else _chosen("link", links, list(self._link_of))
        if (begin := self.span[0]) >= self.end_s:
            raise PlotError(f"the run ends at {self.end_s:g} s: there is nothing after {begin:g} s")

    @cached_property
    def flow_color(self) -> dict[str, str]:
        """The colour of each flow."""
        return palette.flow_colors(list(self._flow_of), self.flows)

    @cached_property
    def measured(self) -> list[tuple[str, Measurement]]:
        """What is laid over the run: the flow that it stands beside, and the measurement.

        Raises:
            PlotError: there is no such flow.
            InputError: a file cannot be read.
        """
        found = []
        for text in self.options.overlay:
            flow, equals, place = text.partition("=")
            if not equals:
                windows = self.window_flows()
                flow, place = (windows or self.flows)[0], text
            elif flow not in self._flow_of:
                raise unknown("flow", flow, self._flow_of)
            if flow in self.flows:
                found.append((flow, read(place)))
        return found

    def of_flows(self, names: Sequence[str]) -> View:
        """The same with some of its flows only, in the colours that they have among all."""
        links = self.asked_links
        one = View(self.results, names, links, self.options)
        one.width_mm, one.span, one.time_unit = self.width_mm, self.span, self.time_unit
        one.flow_color = {name: self.flow_color[name] for name in names}
        one._tables = self._tables
        one._long = self._long
        return one

    def beside(self, count: int, span: tuple[float, float]) -> View:
        """The same in one of several columns of a figure, with the time axis of all of them."""
        one = copy(self)
        one.width_mm = self.width_mm / count
        one.span = span
        one.time_unit = quantities.time_unit(span[1])
        return one

    # The run as a whole

    @cached_property
    def end_s(self) -> float:
        """End of the time axis: the end of the run, or 1 s for a run without any time."""
        end = float(self.summary.get("end_s") or 0.0)
        return end if end > 0 else 1.0

    @cached_property
    def span(self) -> tuple[float, float]:
        """Begin and end of the time axis, seconds: the whole run unless asked otherwise."""
        end = self.options.to_s
        return self.options.from_s or 0.0, self.end_s if end is None else min(end, self.end_s)

    @property
    def warmup_s(self) -> float:
        """When the figures of the run begin, seconds; 0 without a warm-up."""
        return float(self.summary.get("warmup_s") or 0.0)

    def counted(self, times: Floats) -> str:
        """How many things happened at these times, and how many of them are in the figures."""
        text = f"{len(times):,}"
        if not self.warmup_s or np.all(times > self.warmup_s):
            return text
        return f"{text}, {int((times > self.warmup_s).sum()):,} after the warm-up"

    @property
    def span_s(self) -> float:
        """Length of the time axis, seconds."""
        return self.span[1] - self.span[0]

    @cached_property
    def time_unit(self) -> quantities.Unit:
        """The unit of the time axis."""
        return quantities.time_unit(self.span[1])

    @cached_property
    def window_s(self) -> float:
        """Width of the windows for rates and losses.

        0.1 s as in the Caltech paper, for runs of 5 s to about half an hour; for others a round
        number that gives between 100 and 20,000 windows.
        """
        if 5.0 <= self.end_s <= 2000.0:
            return 0.1
        wanted = self.end_s / (200 if self.end_s < 5.0 else 20_000)
        return quantities.round_up(wanted)

    @cached_property
    def binary_rates(self) -> bool:
        """Whether this scenario counts rates in 2^20 bit/s."""
        return quantities.binary_rates(
            link[way]["rate_bps"] for link in self.model["links"] for way in ("forward", "backward")
        )

    # Records

    def recorded(self, table: str) -> bool:
        """Whether the run has kept this record table."""
        return self.records(table) is not None

    def records(self, table: str) -> Records | None:
        """A record table; None if the run has not kept it."""
        if table not in self._tables:
            kept = self.model.get("record", {}).get(table) != "off"
            try:
                self._tables[table] = read_records(self.results, table) if kept else None
            except (InputError, LookupError):
                self._tables[table] = None
        return self._tables[table]

    def long(self, table: str) -> LongRecords | None:
        """A record table that is too long to be held; None if it is not."""
        if table not in self._long:
            results, self._long[table] = self.results, None
            if self.recorded(table) and isinstance(results, HasPieces) and is_long(results, table):
                self._long[table] = LongRecords(results, table, self.span)
        return self._long[table]

    def need(self, table: str) -> Records:
        """A record table.

        Raises:
            PlotError: the run has not kept it.
        """
        records = self.records(table)
        if records is None:
            raise PlotError(
                f"this run has not recorded '{table}'; "
                f"run it again with --set record.{table}=changes"
            )
        return records

    # Flows

    @cached_property
    def transports(self) -> list[tuple[Mapping[str, Any], int]]:
        """For each transport a flow that has it, and how many flows of the run do."""
        counts = Counter(id(flow["tcp"] or flow["udp"]) for flow in self.model["flows"])
        flow_of = {id(flow["tcp"] or flow["udp"]): flow for flow in reversed(self.model["flows"])}
        return [(flow_of[key], count) for key, count in counts.items()]

    def flow(self, name: str) -> Mapping[str, Any]:
        """The model of a flow."""
        return self._flow_of[name]

    def window_flows(self) -> list[str]:
        """The drawn flows that have a congestion window."""
        return [name for name in self.flows if self._flow_of[name].get("tcp")]

    def active(self, name: str) -> Active:
        """When a flow is active: until its sender is stopped or knows that all has arrived."""
        start = self._flow_of[name]["start_ns"] * 1e-9
        entry = self.summary.get("flows", {}).get(name, {})
        finish = entry.get("finish_ack_s", entry.get("finish_s"))
        finish = entry.get("stopped_s") if finish is None else finish
        stop = self.end_s if finish is None else min(float(finish), self.end_s)
        return Active(min(start, self.end_s), max(start, stop), finish is not None)

    def window_packets(self, name: str) -> Series:
        """Congestion window of a flow after each change, in segments."""
        return self._window(name, "cwnd_bytes")

    def ssthresh_packets(self, name: str) -> Series:
        """Slow-start threshold of a flow after each change, in segments; NaN while unlimited."""
        times, values = self._window(name, "ssthresh_bytes")
        return times, np.where(np.isfinite(values), values, np.nan)

    def rtt_s(self, name: str) -> Series:
        """RTT samples of a flow, in seconds."""
        return self._series("rtt", "rtt_s", flow=name)

    def tcp_info(self, name: str, column: str) -> Series:
        """What the sender of a flow reports of itself after each change."""
        return self._series("tcp_info", column, flow=name)

    def flow_rate(self, name: str, event: str) -> Series:
        """Rate at which a flow's data packets are `sent` by the source or `received` at the target.

        Window edges in seconds and the rate in each window in bit/s; retransmissions and headers
        count.
        """
        among = [
            {"flow": other, "event": way, "kind": "data"}
            for other in self.flows
            for way in ("sent", "received")
        ]
        return self._windowed("packets", {"flow": name, "event": event, "kind": "data"}, among)

    def host_rate(self, host: str, event: str) -> Series:
        """Rate of all packets `sent` or `received` by a host: window edges, bit/s."""
        among = [
            {"host": other, "event": way} for other in self.hosts for way in ("sent", "received")
        ]
        return self._windowed("packets", {"host": host, "event": event}, among)

    # Hosts

    @cached_property
    def hosts(self) -> list[str]:
        """The hosts at the ends of the drawn flows, in the order of the scenario."""
        ends = {self._flow_of[name][end] for name in self.flows for end in ("from", "to")}
        return [host for host in self.model["hosts"] if host in ends]

    def is_source(self, host: str) -> bool:
        """Whether a drawn flow starts at a host."""
        return any(self._flow_of[name]["from"] == host for name in self.flows)

    def host_color(self, host: str) -> str:
        """The colour of a host at an end of a drawn flow: that of its first one."""
        mine = [name for name in self.flows if self._flow_of[name]["from"] == host]
        mine = mine or [name for name in self.flows if self._flow_of[name]["to"] == host]
        return self.flow_color[mine[0]]

    # Links

    def link(self, name: str) -> Mapping[str, Any]:
        """The model of a link."""
        return self._link_of[name]

    @cached_property
    def all_lanes(self) -> list[Lane]:
        """The transmitters of all links, in the order of the scenario.

        Of very many links, those with most to see by the summary, those that change or set a path
        apart, and those that are asked for.
        """
        routers = set(self.model["routers"])
        links, summaries = self.model["links"], self.summary.get("links", {})
        notable = lanes.notable(summaries)
        if notable is not None:
            notable.update(self.asked_links or (), *self.own_links)
            links = [link for link in links if link["id"] in notable or link["changes"]]
        return [
            lane
            for link in links
            for lane in lanes.of_link(link, routers, summaries.get(link["id"], {}), self.end_s)
        ]

    @cached_property
    def all_lanes_are_here(self) -> bool:
        """Whether `all_lanes` has the transmitters of every link."""
        return len({lane.link for lane in self.all_lanes}) == len(self._link_of)

    @cached_property
    def interest(self) -> dict[Lane, Interest]:
        """How much there is to see at each transmitter."""
        return {lane: self._interest(lane) for lane in self.all_lanes}

    @cached_property
    def lane_color(self) -> dict[Lane, str]:
        """A colour for each transmitter.

        The links between routers come first: they are the likely bottlenecks, and so keep the
        clearest colours. With more transmitters than colours, those that are drawn come first, then
        those that lose most: what stands in one legend has different colours.
        """
        order = sorted(self.all_lanes, key=lambda lane: not lane.inner)
        if len(order) > len(palette.LINKS):
            drawn = set(self.lanes)
            order.sort(key=lambda lane: (lane not in drawn, -self.interest[lane].lost))
        return palette.link_colors(order)

    @cached_property
    def link_color(self) -> dict[str, str]:
        """The colour of each link: that of its first transmitter."""
        colors: dict[str, str] = {}
        for lane, color in self.lane_color.items():
            colors.setdefault(lane.link, color)
        return colors

    @cached_property
    def lanes(self) -> list[Lane]:
        """The transmitters to draw: those asked for, or else those with something to see."""
        if self.asked_links is not None:
            return [lane for lane in self.all_lanes if lane.link in self.asked_links]
        return lanes.worth_drawing(self.interest, self.own_links)

    @cached_property
    def hidden_links(self) -> list[str]:
        """Links that are not drawn, in the order of the scenario; empty if links were asked for."""
        if self.asked_links is not None:
            return []
        drawn = {lane.link for lane in self.lanes}
        return [name for name in self._link_of if name not in drawn]

    @cached_property
    def changing_lanes(self) -> list[Lane]:
        """The transmitters that change in the run, drawn or on the path of a drawn flow."""
        changing = [lane for lane in self.all_lanes if len(lane.states) > 1]
        if not changing:
            return []
        used = {link for spans in self.flow_paths.values() for span in spans for link in span.links}
        used |= {lane.link for lane in self.lanes}
        return [lane for lane in changing if lane.link in used]

    def queue_packets(self, lane: Lane) -> Series:
        """Data packets waiting in a link's buffer after each change."""
        return self._series("queue", "queue_data_packets", link=lane.link, direction=lane.direction)

    def queue_length(self, lane: Lane) -> Series:
        """Packets of any kind waiting in a link's buffer after each change."""
        return self.queue_level(lane, "packets")

    def queue_level(self, lane: Lane, unit: str) -> Series:
        """The same in `packets` or `bytes`."""
        return self._series("queue", f"queue_{unit}", link=lane.link, direction=lane.direction)

    def aqm(self, lane: Lane, variable: str) -> Series:
        """What the queue of a link computes, after each change."""
        names = {"link": lane.link, "direction": lane.direction, "variable": variable}
        return self._series("aqm", "value", **names)

    def link_rate(self, lane: Lane, among: Sequence[Lane] | None = None) -> Series:
        """Rate of a link, all kinds of packets together: window edges, bit/s.

        `among` are those that will be asked for (default those that are drawn): a long table is
        read once for all of them.
        """
        lane_of = {(one.link, one.direction): one for one in self.all_lanes}

        def carried(
            names: Mapping[str, str], times: Floats, size: Integers, *windows: float
        ) -> Series:
            one = lane_of[names["link"], names["direction"]]
            if self.rule(one):
                return windowed_rule_rates(times, size, self._offered(one), *windows)
            # A transmission in progress keeps the rate at which it began.
            since = [state.time_s for state in one.states]
            rates = np.array([state.rate_bps for state in one.states], np.float64)
            at = np.searchsorted(since, times, side="right") - 1
            return windowed_link_rates(times, size, rates[at], *windows)

        others = [
            {"link": one.link, "direction": one.direction}
            for one in (self.lanes if among is None else among)
        ]
        names = {"link": lane.link, "direction": lane.direction}
        return self._windowed("transmissions", names, others, carried)

    def rule(self, lane: Lane) -> Mapping[str, Any] | None:
        """The rule that the rate of a transmitter follows; none if it has one rate at a time."""
        return self._link_of[lane.link][lane.way].get("rate")

    def capacity(self, lane: Lane) -> Series:
        """What a transmitter could carry in each window: edges in seconds, bit/s; 0 while down."""
        edges = window_edges(0.0, self.end_s, self.window_s)
        bits = while_up(self._offered(lane), lane.states, self.end_s)(edges)
        return self._whole(edges, np.diff(bits) / self.window_s)

    def _offered(self, lane: Lane) -> Offered:
        return offered(lane.states, self.rule(lane))

    def sojourn_s(self, lane: Lane) -> Series:
        """When packets leave a link's buffer, and how long each has waited in it, seconds."""
        table = self.need("transmissions")
        rows = table.rows(link=lane.link, direction=lane.direction)
        times = table.plain("time_s")[rows]
        return times, times - table.plain("entered_s")[rows]

    def loss_times(self, lane: Lane | None = None, flow: str | None = None) -> Floats:
        """Times at which packets were lost: at a link, of a flow, or all; empty if not recorded."""
        if (table := self.records("drops")) is None:
            return np.empty(0)
        where = {} if lane is None else {"link": lane.link, "direction": lane.direction}
        where |= {} if flow is None else {"flow": flow}
        times = table.plain("time_s")
        return np.sort(times[table.rows(**where)] if where else times)

    def other_loss_times(self) -> Floats:
        """Times at which packets were lost at links that are not among `all_lanes`."""
        table = self.need("drops")
        known = {lane.link for lane in self.all_lanes}
        links = [code for code, name in enumerate(table.names("link")) if name not in known]
        return np.sort(table.plain("time_s")[np.isin(table.codes("link"), links)])

    def unrouted_times(self) -> Floats:
        """Times at which routers dropped packets because there was no route."""
        table = self.records("drops")
        return np.empty(0) if table is None else table.plain("time_s")[table.codes("link") < 0]

    # Routes

    @cached_property
    def hops(self) -> list[paths.Hop]:
        """The next hops of all routers over time; empty if routes were not recorded."""
        return paths.hops(self.records("routes"), self.end_s)

    @cached_property
    def flow_paths(self) -> dict[str, list[paths.PathSpan]]:
        """The path of each drawn flow over time; empty where it was not recorded."""
        if not self.hops:
            taken = {name: self.summary["flows"][name].get("path") or () for name in self.flows}
            whole = (0.0, self.end_s)
            return {name: [paths.PathSpan(*whole, tuple(links))] for name, links in taken.items()}
        return {name: self._over_time(name, "from", "to") for name in self.flows}

    def _over_time(self, name: str, source: str, target: str) -> list[paths.PathSpan]:
        flow = self._flow_of[name]
        return paths.over_time(self.model, self.hops, flow[source], flow[target], self.end_s)

    @cached_property
    def moving_flows(self) -> list[str]:
        """The drawn flows whose path changes while they are active."""
        return [name for name in self.flows if self.hops and len(self._taken(name)) > 1]

    def _taken(self, name: str) -> set[tuple[str, ...]]:
        """The paths of a flow while it is active."""
        active = self.active(name)
        return {
            span.links
            for span in self.flow_paths[name]
            if span.links and span.stop_s > active.start_s and span.start_s < active.stop_s
        }

    def own(self, name: str, span: paths.PathSpan) -> list[str]:
        """The links of a flow's path that are not part of all its paths."""
        every = [set(other.links) for other in self.flow_paths[name] if other.links]
        common = set.intersection(*every) if every else set[str]()
        return [link for link in span.links if link not in common]

    @cached_property
    def own_links(self) -> list[list[str]]:
        """For each path of a flow that changes its path, the links that set it apart."""
        found = {
            tuple(self.own(name, span)): None
            for name in self.moving_flows
            for span in self.flow_paths[name]
        }
        return [list(links) for links in found if links]

    @cached_property
    def route_changes(self) -> list[paths.RouteChange]:
        """Changes of a next hop that move a drawn flow's data or ACKs, while the flow is active."""
        moved: set[float] = set()
        for name in self.flows if self.hops else ():
            active = self.active(name)
            for ends in (("from", "to"), ("to", "from")):
                starts = (span.start_s for span in self._over_time(name, *ends)[1:])
                moved |= {at for at in starts if active.start_s <= at <= active.stop_s}
        return [change for change in paths.changes(self.hops) if change.time_s in moved]

    # Helpers

    def _interest(self, lane: Lane) -> Interest:
        summary = self.summary.get("links", {}).get(lane.link, {}).get(lane.direction, {})
        drops = summary.get("drops")
        lost = len(self.loss_times(lane)) if drops is None else sum(drops.values())
        waiting = summary.get("queue_packets") or {}
        high, mean = float(waiting.get("max") or 0.0), float(waiting.get("mean") or 0.0)
        if self.recorded("queue"):
            times, values = self.queue_packets(lane)
            high = float(values.max(initial=0.0))
            mean = step_mean(times, values, 0.0, self.end_s) if high > FEW_PACKETS else 0.0
        queue = mean if high > FEW_PACKETS else 0.0
        return Interest(lost, queue, float(summary.get("utilization") or 0.0))

    def _window(self, name: str, column: str) -> Series:
        times, values = self._series("cwnd", column, flow=name)
        return times, values / self._flow_of[name]["tcp"]["segment_bytes"]

    def _series(self, name: str, column: str, **names: str) -> Series:
        table = self.need(name)
        if (long := self.long(name)) is not None:
            return long.series(column, **names)
        rows = table.rows(**names)
        return table.plain("time_s")[rows], table.plain(column)[rows].astype(np.float64)

    def _windowed(
        self,
        name: str,
        names: Mapping[str, str],
        among: Sequence[Mapping[str, str]],
        carried: CarriedIn | None = None,
    ) -> Series:
        """Rate of the rows with these names; `among` are those that are drawn beside them.

        With `carried` they are transmissions, which last.
        """
        table, end_s, width_s = self.need(name), self.end_s, self.window_s
        if (long := self.long(name)) is not None:
            return self._whole(*long.rates(names, among, end_s, width_s, carried))
        rows = table.rows(**names)
        times, size = table.plain("time_s")[rows], table.plain("bytes")[rows]
        if carried is None:
            return self._whole(*windowed_rates(times, size, 0.0, end_s, width_s))
        return self._whole(*carried(names, times, size, 0.0, end_s, width_s))

    def _whole(self, edges: Floats, rates: Floats) -> Series:
        """Without a last window that reaches beyond the end of the run: its rate would be low."""
        if len(rates) > 1 and edges[-1] > self.end_s * (1 + 1e-9):
            return edges[:-1], rates[:-1]
        return edges, rates


def evenly(items: Sequence[_T], count: int) -> list[_T]:
    """Return this many of the items, at equal distances, the first and the last among them."""
    last = len(items) - 1
    return [items[round(last * i / (count - 1))] for i in range(count)]


def _chosen(kind: str, asked: str | Sequence[str] | None, known: list[str]) -> list[str]:
    if asked is None:
        return known
    names = names_of(f"{kind}s", asked, next(iter(known), kind))
    wanted, there = set(names), set(known)
    for name in names:
        if name not in there:
            raise unknown(kind, name, known)
    return [name for name in known if name in wanted]
