"""A scenario as a program for Mininet: hosts, routers, links with `TCLink`, flows by iperf3.

Source: the Mininet API (mininet.link.TCIntf, mininet.node.Node).

DEVIATION: Mininet delays packets in the queue of the transmitter, so that its limit counts what is
on the wire as well; the limit here is the sum of both.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ackclock.export import hosts
from ackclock.export.hosts import Side
from ackclock.export.options import Options

if TYPE_CHECKING:
    from ackclock.scenario import Scenario

_PROGRAM = '''\
#!/usr/bin/env python3
"""{name} in Mininet. Run as root: sudo python3 SCRIPT [FOLDER]

FOLDER (default: measured) gets a report of iperf3 and samples of ss for each flow.{unsaid}
"""

import os
import sys
import time

from mininet.link import TCLink
from mininet.log import setLogLevel
from mininet.net import Mininet

NODES = {nodes!r}  # name in Mininet: name in the scenario
ROUTERS = {routers!r}
LINKS = [  # ends, their addresses, and options of each direction
{links}
]
ROUTES = [  # node, network, next hop
{routes}
]
FLOWS = [  # name, from, to, port, start in seconds, command
{flows}
]


def main(out):
    os.makedirs(out, exist_ok=True)
    setLogLevel("info")
    net = Mininet(controller=None)
    node = {{name: net.addHost(name, ip=None) for name in NODES}}
    for name in ROUTERS:
        node[name].cmd("sysctl -qw net.ipv4.ip_forward=1")
    for number, (one, two, here, there, forward, backward) in enumerate(LINKS):
        net.addLink(
            node[one], node[two], cls=TCLink,
            intfName1=f"l{{number}}s0", intfName2=f"l{{number}}s1",
            params1={{**forward, "ip": here + "/24"}}, params2={{**backward, "ip": there + "/24"}},
        )
    net.build()
    for name, network, gateway in ROUTES:
        node[name].cmd(f"ip route add {{network}} via {{gateway}}")
    try:
        for name, source, target, port, start, command in FLOWS:
            node[target].cmd(f"iperf3 -s -1 -p {{port}} >/dev/null 2>&1 &")
        time.sleep(1)
        jobs = []
        for name, source, target, port, start, command in FLOWS:
            report = os.path.join(out, name.replace("/", "_"))
            jobs.append(node[source].popen(
                f"sleep {{start}}; {{command}} >'{{report}}.json'", shell=True))
            node[source].popen(
                "while sleep 0.1; do date +'# %s.%N'; "
                f"ss -tinH 'dport = :{{port}}'; done >'{{report}}.ss'", shell=True)
        for job in jobs:
            job.wait()
    finally:
        net.stop()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "measured")
'''


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
    routes = [(names[node], *way) for node, ways in plan.routes.items() for way in ways]
    yield _PROGRAM.format(
        name=plan.name.replace('"', "'").replace("\\", "/"),
        unsaid="".join(f"\n\nNOT REPEATED: {line}" for line in dict.fromkeys(plan.unsaid)),
        nodes={name: node for node, name in names.items()},
        routers=[names[node] for node in plan.routers],
        links=_rows(links),
        routes=_rows(routes),
        flows=_rows(flows),
    ).encode()


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
