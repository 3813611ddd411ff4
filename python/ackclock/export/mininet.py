"""A scenario as a program for Mininet: hosts, routers, links with `TCLink`, flows by iperf3.

Source: the Mininet API (mininet.link.TCIntf, mininet.node.Node).

DEVIATION: Mininet delays packets in the queue of the transmitter, so that its limit counts what is
on the wire as well; the limit here is the sum of both.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock.export import hosts
from ackclock.export.hosts import Side
from ackclock.export.options import Options
from ackclock.packaged import filled

if TYPE_CHECKING:
    from ackclock.scenario import Scenario


def chunks(scenario: Scenario, options: Options) -> Iterator[bytes]:
    """The program as text."""
    plan = hosts.plan(scenario.model, options.flows)
    # Interfaces are named after nodes, which must be short.
    names = {node: f"n{place}" for place, node in enumerate([*plan.hosts, *plan.routers])}
    for line in (side for wire in plan.wires for side in wire.sides):
        if line.queue["kind"] != "droptail":
            plan.unsaid.append(f"queue {line.queue['kind']} of {line.node}: TCLink has none")
    links = [
        (names[one.node], names[two.node], wire.address(0), wire.address(1), _params(one),
         _params(two))
        for wire in plan.wires
        for one, two in [wire.sides]
    ]  # fmt: skip
    flows = [
        (one.name, names[one.source], names[one.target], one.port, one.start_s, hosts.client(one))
        for one in plan.streams
    ]
    routes = [(names[node], *way) for node, ways in plan.routes.items() for way in ways.items()]
    parts = {
        "name": plan.name.replace('"', "'").replace("\\", "/"),
        "unsaid": "".join(f"\n\nNOT REPEATED: {line}" for line in dict.fromkeys(plan.unsaid)),
        "nodes": repr({name: node for node, name in names.items()}),
        "routers": repr([names[node] for node in plan.routers]),
        "links": _rows(links),
        "routes": _rows(routes),
        "flows": _rows(flows),
    }
    yield filled(Path(__file__).with_suffix(".template"), parts).encode()


def _rows(rows: list[Any]) -> str:
    return "\n".join(f"    {row!r}," for row in rows)


def _params(side: Side) -> dict[str, Any]:
    made: dict[str, Any] = {"bw": side.rate_bps / 1e6, "delay": f"{side.delay_ms:g}ms"}
    made["max_queue_size"] = side.packets() + side.in_flight()
    if side.loss:
        made["loss"] = side.loss * 100
    if side.jitter_ms:
        made["jitter"] = f"{side.jitter_ms:g}ms"
    return made
