"""A scenario as a shell script for Linux: network namespaces, queues by `tc`, flows by iperf3.

Each link is three namespaces: its ends, and a bridge between them. An end sends through `tbf` with
the queue of the scenario below it; the bridge delays and loses packets with `netem`. So the limit
of the queue does not count what is on the wire. `stab` takes the header of Ethernet off the sizes
that both count, so that a packet is as long as its IP packet.

Source: manual pages tc-tbf(8), tc-netem(8), tc-stab(8), ip-netns(8).
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock.export import hosts
from ackclock.export.hosts import Plan, Side, Stream, Wire
from ackclock.export.options import Options
from ackclock.packaged import filled

if TYPE_CHECKING:
    from ackclock.scenario import Scenario

_BURST = 1600
"""Bytes that tbf may send at once: a packet."""
_SIZES = "stab overhead -14 linklayer ethernet"


def chunks(scenario: Scenario, options: Options) -> Iterator[bytes]:
    """The script as text."""
    plan = hosts.plan(scenario.model, options.flows)
    names = {node: f"n{place}" for place, node in enumerate([*plan.hosts, *plan.routers])}
    lines = {
        "unsaid": (f"# NOT REPEATED: {line}" for line in plan.unsaid),
        "needs": _needs(plan),
        "nodes": _nodes(plan, names),
        "links": (line for wire in plan.wires for line in _wire(wire, names)),
        "routes": (
            f'ip -n "$p"{names[node]} route add {network} via {gateway}'
            for node, ways in plan.routes.items()
            for network, gateway in ways.items()
        ),
        "servers": (_server(stream, names) for stream in plan.streams),
        "clients": (line for stream in plan.streams for line in _client(stream, names)),
    }
    parts = {key: "".join(f"{line}\n" for line in some) for key, some in lines.items()}
    parts["name"] = plan.name
    parts["names"] = ", ".join(f"{name} = {node}" for node, name in names.items())
    yield filled(Path(__file__).with_suffix(".template"), parts).encode()


def _nodes(plan: Plan, names: dict[str, str]) -> Iterator[str]:
    for node, name in names.items():
        yield f'ip netns add "$p"{name}; ip -n "$p"{name} link set lo up'
        if node in plan.routers:
            yield f'ip netns exec "$p"{name} sysctl -qw net.ipv4.ip_forward=1'


def _needs(plan: Plan) -> Iterator[str]:
    """Try what the script takes of the kernel, before anything is made."""
    sides = [side for wire in plan.wires for side in wire.sides]
    kinds = {"tbf": f"rate 1mbit burst {_BURST} limit 10000"}
    for side in sides:
        kind, _, options = queue(side).partition(" ")
        kinds[kind] = options
        if _on_the_wire(side):
            kinds["netem"] = ""
    yield 'ip netns add "$p"try; ip -n "$p"try link add t0 type veth peer name t1'
    for kind, options in kinds.items():
        yield f'tc -n "$p"try qdisc replace dev t0 root {kind} {options} 2>/dev/null || {{'.replace(
            "  ", " "
        )
        yield f'  echo "this kernel has no {kind}; try: modprobe sch_{kind}" >&2; exit 1; }}'


def _wire(wire: Wire, names: dict[str, str]) -> Iterator[str]:
    bridge = f'"$p"w{wire.number}'
    yield ""
    yield f"# Link {wire.name}"
    yield f"ip netns add {bridge}; ip -n {bridge} link add br0 type bridge"
    yield f"ip -n {bridge} link set br0 up"
    for place, side in enumerate(wire.sides):
        node, device, port = f'"$p"{names[side.node]}', f"l{wire.number}s{place}", f"e{place}"
        yield f"ip link add {device} netns {node} type veth peer name {port} netns {bridge}"
        yield f"ip -n {bridge} link set {port} master br0 up"
        yield f"ip -n {node} link set {device} gso_max_segs 1 up"
        yield f"ip -n {node} addr add {wire.address(place)}/24 dev {device}"
        yield (
            f"tc -n {node} qdisc add dev {device} root handle 1: {_SIZES} "
            f"tbf rate {side.rate_bps}bit burst {_BURST} limit 1000000000"
        )
        yield f"tc -n {node} qdisc add dev {device} parent 1:1 handle 10: {queue(side)}"
        # What the other end sends comes to this end through the port of this end.
        other = wire.sides[1 - place]
        if words := _on_the_wire(other):
            yield f"tc -n {bridge} qdisc add dev {port} root netem limit 1000000 {words}"


def queue(side: Side) -> str:
    """The queue of a transmitter in the words of tc."""
    asked = side.queue
    kind, limit = asked["kind"], side.packets()
    if kind == "droptail":
        if asked.get("limit_bytes") is not None and asked.get("limit_packets") is None:
            return f"bfifo limit {asked['limit_bytes']}"
        return f"pfifo limit {limit}"
    ecn = "ecn" if asked.get("ecn") else "noecn"
    if kind in ("codel", "fq-codel"):
        times = f"target {asked['target_ns'] / 1e3:g}us interval {asked['interval_ns'] / 1e3:g}us"
        more = (
            f" flows {asked['flows']} quantum {asked['quantum_bytes']}" if "flows" in asked else ""
        )
        return f"{kind.replace('-', '_')} limit {limit} {times} {ecn}{more}"
    if kind == "pie":
        times = f"target {asked['target_ns'] / 1e3:g}us tupdate {asked['update_ns'] / 1e3:g}us"
        return f"pie limit {limit} {times} {ecn}"
    low, high = asked["min_packets"] * 1500, asked["max_packets"] * 1500
    return (
        f"red limit {limit * 1500} min {low:.0f} max {high:.0f} avpkt 1500 "
        f"burst {max(1, int((2 * low + high) / 4500)) + 1} bandwidth {side.rate_bps}bit "
        f"probability {asked['max_p']}" + (" ecn" if asked.get("ecn") else "")
    )


def _on_the_wire(side: Side) -> str:
    words = []
    if side.delay_ms or side.jitter_ms:
        words.append(f"delay {side.delay_ms:g}ms")
        if side.jitter_ms:
            words[-1] += f" {side.jitter_ms:g}ms distribution normal"
    if side.loss:
        words.append(f"loss random {side.loss * 100:g}%")
    return " ".join(words)


def _server(stream: Stream, names: dict[str, str]) -> str:
    return (
        f'ip netns exec "$p"{names[stream.target]} iperf3 -s -1 -p {stream.port} >/dev/null 2>&1 &'
    )


def _client(stream: Stream, names: dict[str, str]) -> Iterator[str]:
    node, file = f'"$p"{names[stream.source]}', shlex.quote(stream.name.replace("/", "_"))
    run = hosts.client(stream)
    yield f'( sleep {stream.start_s:g}; ip netns exec {node} {run} >"$out"/{file}.json ) &'
    yield "clients+=($!)"
    if stream.udp_bps is None:
        yield (
            f"( while sleep 0.1; do date +'# %s.%N'; ip netns exec {node} ss -tinH "
            f'"dport = :{stream.port}"; done >"$out"/{file}.ss ) &'
        )
