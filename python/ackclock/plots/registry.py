"""All plots, by name. To add one: write its file and add its entry here.

An entry names its function as text, so that listing the plots loads no plotting library.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from itertools import chain
from typing import Any, Literal

from .errors import unknown


@dataclass(frozen=True)
class Plot:
    """A plot that can be asked for.

    Attributes:
        name: The word for `--kind`, and the name of the file.
        summary: What it shows, in one line.
        needs: Record tables without which it cannot be drawn.
        function: `module:function` within this package. What the function takes and returns
            depends on `form`.
        form: `panel`: the function fills one panel over time, `(view, panel) -> None`.
            `figure`: it makes a whole figure, `(view) -> Figure`. `runs`: a figure of several
            runs, `(views) -> Figure`. `sweep`: it shows sweeps only.
        sweep: The function that draws it of a sweep, `(sweep view) -> Figure`; none if it cannot.
        panels: In place of a function: the names of the plots that are stacked in this one.
        default: `always`, `never`, or `changing-routes`: whether `plot` draws it unasked.
        options: Names of the `Options` that it knows, beside the span of time that all panels know.
        apart: Whether it makes one figure for each flow unless they are asked for together.
    """

    name: str
    summary: str
    needs: tuple[str, ...]
    function: str = ""
    form: Literal["panel", "figure", "runs", "sweep"] = "panel"
    sweep: str = ""
    panels: tuple[str, ...] = ()
    default: Literal["always", "never", "changing-routes"] = "never"
    options: tuple[str, ...] = ()
    apart: bool = False

    def knows(self, option: str) -> bool:
        """Whether an option (a name of `Options`) has a meaning for this plot."""
        if option in ("from_s", "to_s") and self.form == "panel":
            return True
        return option in self.options or any(find(name).knows(option) for name in self.panels)

    def parts(self) -> list[Plot]:
        """The plots that are stacked in this one, or this one alone."""
        return [find(name) for name in self.panels] or [self]

    def missing(self, recorded: Callable[[str], bool]) -> list[str]:
        """The record tables whose absence leaves nothing to draw."""
        lacking = [[table for table in part.needs if not recorded(table)] for part in self.parts()]
        return list(dict.fromkeys(chain(*lacking))) if all(lacking) else []

    def load(self) -> Callable[..., Any]:
        """Import the function of this plot."""
        return _load(self.function or self.sweep)

    def load_sweep(self) -> Callable[..., Any]:
        """Import the function of this plot that draws sweeps."""
        return _load(self.sweep)


def _load(place: str) -> Callable[..., Any]:
    module, _, function = place.partition(":")
    return getattr(import_module(f"{__package__}.{module}"), function)


PLOTS = (
    Plot(
        "overview",
        "Queues, losses, link rates, send rates, windows and RTTs on one time axis",
        (),
        panels=(
            "link-queue",
            "link-losses",
            "link-rate",
            "flow-send-rate",
            "flow-window",
            "flow-rtt",
        ),
        default="always",
    ),
    Plot(
        "topology",
        "Hosts, routers, links with rate, delay and buffer, and the paths of the flows",
        (),
        "topology:draw",
        "figure",
        default="always",
    ),
    Plot(
        "rates",
        "Send and receive rates of flows and of hosts on one time axis",
        ("packets",),
        panels=("flow-send-rate", "flow-receive-rate", "host-send-rate", "host-receive-rate"),
        default="always",
    ),
    Plot(
        "link-queue",
        "Data packets waiting in the buffers of links",
        ("queue",),
        "link_queue:fill",
    ),
    Plot(
        "link-sojourn",
        "Time that packets wait in the buffers of links",
        ("transmissions",),
        "link_queue:fill_sojourn",
    ),
    Plot(
        "link-losses",
        "Packets lost at links in each 0.1 s",
        ("drops",),
        "link_losses:fill",
    ),
    Plot(
        "link-rate",
        "Rate of links in each 0.1 s, with the paths that flows take",
        ("transmissions",),
        "link_rate:fill",
    ),
    Plot(
        "flow-send-rate",
        "Rate at which sources send data in each 0.1 s",
        ("packets",),
        "rates:fill_flows_sent",
    ),
    Plot(
        "flow-receive-rate",
        "Rate at which data arrive at their target in each 0.1 s",
        ("packets",),
        "rates:fill_flows_received",
    ),
    Plot(
        "flow-window",
        "Congestion window and slow-start threshold, timeouts, fast retransmits",
        ("cwnd",),
        "flow_window:fill",
    ),
    Plot(
        "flow-rtt",
        "Round-trip times as senders measure them",
        ("rtt",),
        "flow_rtt:fill",
    ),
    Plot(
        "flow-flight",
        "Data sent and not yet acknowledged, beside the congestion window",
        ("packets",),
        "flow_sender:fill_flight",
    ),
    Plot(
        "flow-timer",
        "Samples of the round-trip time, their smoothed value, and the retransmission timeout",
        ("rtt",),
        "flow_sender:fill_timer",
        options=("together",),
        apart=True,
    ),
    Plot(
        "host-send-rate",
        "Rate at which hosts send data and ACKs in each 0.1 s",
        ("packets",),
        "rates:fill_hosts_sent",
    ),
    Plot(
        "host-receive-rate",
        "Rate at which hosts receive data and ACKs in each 0.1 s",
        ("packets",),
        "rates:fill_hosts_received",
    ),
    Plot(
        "sequence",
        "Sequence numbers over time: sent, sent again, spurious, dropped, acknowledged",
        ("packets",),
        "sequence:fill",
        options=("modulo", "together"),
        apart=True,
    ),
    Plot(
        "receiver-rate",
        "Rate at which data arrive in short bins, and bytes that have arrived",
        ("packets",),
        panels=("receiver-bins", "receiver-bytes"),
        options=("together",),
    ),
    Plot(
        "receiver-bins",
        "Rate at which data arrive in short bins; with --sliding, over the last second as well",
        ("packets",),
        "receiver_rate:fill_bins",
        options=("sliding", "bin_s", "together"),
    ),
    Plot(
        "receiver-bytes",
        "Bytes that have arrived at the targets of flows, each byte once",
        ("packets",),
        "receiver_rate:fill_bytes",
        options=("together",),
    ),
    Plot(
        "queue-drops",
        "Packets waiting at each link, its limit, and the packets dropped there",
        ("queue",),
        "queue_drops:draw_links",
        "figure",
        options=("from_s", "to_s"),
    ),
    Plot(
        "cwnd-events",
        "Congestion window and slow-start threshold with the events that changed them",
        ("cwnd",),
        "flow_window:fill_events",
        options=("together",),
        apart=True,
    ),
    Plot(
        "window-sweep",
        "Throughput and mean queueing delay against the window, over several runs",
        ("packets", "transmissions"),
        "window_sweep:draw",
        "runs",
    ),
    Plot(
        "windows",
        "Congestion windows by algorithm, or by run, below each other on the same scale",
        ("cwnd",),
        "windows:draw",
        "runs",
        options=("from_s", "to_s"),
    ),
    Plot(
        "fairness",
        "Goodput of each flow as bars, with Jain's index; of a run, or of each cell of a sweep",
        (),
        "fairness:draw",
        "runs",
        sweep="fairness:draw_sweep",
        options=("facets", "where"),
    ),
    Plot(
        "sweep-lines",
        "A result of a sweep, such as goodput, against an axis, with intervals over replications",
        (),
        form="sweep",
        sweep="sweep_lines:draw",
        options=("x", "lines", "facets", "value", "where"),
    ),
    Plot(
        "heat-map",
        "A result of a sweep over two axes, in colour and in numbers",
        (),
        form="sweep",
        sweep="heat_map:draw",
        options=("x", "y", "facets", "value", "where"),
    ),
    Plot(
        "routes",
        "Next hop of each router to each destination over time",
        ("routes",),
        "routes:draw",
        "figure",
        default="changing-routes",
    ),
)


def names() -> list[str]:
    """The names of all plots."""
    return [plot.name for plot in PLOTS]


def find(name: str) -> Plot:
    """The plot of this name.

    Raises:
        PlotError: there is none.
    """
    for plot in PLOTS:
        if plot.name == name:
            return plot
    raise unknown("plot", name, names())
