"""Topologies of the Caltech CS/EE 143 simulator (lakshbhasin/network_simulator, 2015).

Its files hold the live objects of a Python program before the run, written by jsonpickle: links,
hosts, routers and flows of class FlowReno, FlowFast or FlowDummy. Times are seconds, rates bits
per second, sizes bits. The rules of that simulator are our profile ``caltech2015``; what the file
says and what its flow classes do is written out in the scenario.

Beyond the meaning of each value this module keeps the checks that the original makes on loading:
addresses are unique, no two links join the same pair of devices, a host has one link at most, a
flow runs between two hosts.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

from ackclock.convert import jsonfile, pickled, quantities
from ackclock.convert.base import Complaints, Conversion
from ackclock.convert.pickled import CLASS_KEY, EMPTY_SET, Shape, number, read_object, text
from ackclock.errors import ScenarioError

_PACKAGE = "network_simulator"
_TOPOLOGY = f"{_PACKAGE}.network_topology.NetworkTopology"
_LINK = f"{_PACKAGE}.link.Link"
_BUFFER = f"{_PACKAGE}.link.LinkBuffer"
_HOST = f"{_PACKAGE}.host.Host"
_ROUTER = f"{_PACKAGE}.router.Router"
_RENO = f"{_PACKAGE}.flow.FlowReno"
_FAST = f"{_PACKAGE}.flow.FlowFast"
_DUMMY = f"{_PACKAGE}.flow.FlowDummy"

PACKET_BYTES = 1024
"""Payload of each data packet; the original has packets of this one size only."""

_PACKET_BITS = 8 * PACKET_BYTES
_FLOW_DATA = {
    "flow_id": text,
    "source_addr": text,
    "dest_addr": text,
    "data_size_bits": number(least=0),
    "start_time_sec": number(least=0),
}
_FLOW_STATE = {
    "source": (None,),
    "dest": (None,),
    "packets_in_transit": (EMPTY_SET,),
    "packet_rtts": ([],),
    "max_packet_id_sent": (-1,),
    "gap_retrans_packets": (EMPTY_SET,),
    "num_timeouts_pending": ({},),
}
# On loading the original sets every window to one packet, whatever the file says.
_FLOW_IGNORED = frozenset({"window_size_packets"})

_FLOWS = {
    _RENO: Shape(
        {**_FLOW_DATA, "ss_thresh": number(above=0)},
        {**_FLOW_STATE, "flow_state": (0,), "packet_id_to_ack_gaps": ({},)},
        _FLOW_IGNORED,
    ),
    _FAST: Shape(
        {
            **_FLOW_DATA,
            "alpha": number(above=0),
            "gamma": number(above=0),
            "num_packets_ave_for_rtt": number(least=1, whole=True),
        },
        {**_FLOW_STATE, "base_rtt": (None,)},
        _FLOW_IGNORED,
    ),
    _DUMMY: Shape(_FLOW_DATA, _FLOW_STATE, _FLOW_IGNORED),
}
_BUFFERS = {
    _BUFFER: Shape(
        {"max_buffer_size_bits": number(above=0)},
        {"queue": (None,), "queuing_delays": (None,), "curr_buffer_size_bits": (0,)},
    )
}
_LINKS = {
    _LINK: Shape(
        {
            "name": text,
            "end_1_addr": text,
            "end_2_addr": text,
            "static_delay_sec": number(least=0),
            "capacity_bps": number(above=0),
            "link_buffer": partial(read_object, shapes=_BUFFERS),
        },
        {"end_1_device": (None,), "end_2_device": (None,), "busy": (False,)},
    )
}
_HOSTS = {
    _HOST: Shape(
        {"address": text}, {"flows": (None,), "flow_packets_received": ({},), "link": (None,)}
    )
}
_TABLES = (
    "new_routing_table",
    "neighb_to_host_dists",
    "self_to_host_dists",
    "self_to_neighb_dists",
)
_ROUTER_STATE = {
    **dict.fromkeys(("links", "stable_routing_table"), (None,)),
    **dict.fromkeys(_TABLES, ({},)),
    "neighbors": ([],),
    "last_table_update_timestamp": (0,),
}
_ROUTERS = {_ROUTER: Shape({"address": text}, _ROUTER_STATE)}
_TOPOLOGIES = {
    _TOPOLOGY: Shape(
        {
            "links": pickled.list_of(_LINKS),
            "hosts": pickled.list_of(_HOSTS),
            "routers": pickled.list_of(_ROUTERS, may_be_null=True),
            "flows": pickled.list_of(_FLOWS),
        }
    )
}

_SOURCE = (
    "A topology file of lakshbhasin/network_simulator, the program of Bhasin, Luo, Su, Yang: "
    "Configurable Network Simulation for TCP Reno and FAST Flows (Caltech CS/EE 143, "
    "December 2015)."
)
_RESEND_ALWAYS = (
    "ack_duplicates is 'always'. The original never acknowledges a packet that arrives twice; "
    "once the only ACK of a packet is lost, the packet is resent every 0.5 s for ever. With "
    "several Reno flows this happens in many orders of simultaneous events. To have the "
    "original's rule: --set 'flows.*.tcp.ack_duplicates=never'"
)


def recognizes(top: Any) -> bool:
    """Whether the parsed top level of a file is a topology of this project."""
    name = pickled.class_of(top)
    return name is not None and name.startswith(f"{_PACKAGE}.")


def convert(path: Path) -> Conversion:
    """Read one topology file as a scenario.

    Sizes of flows are cut to whole packets, as the original does. Raises
    :class:`ackclock.errors.ScenarioError` with everything that is wrong with the file, each
    fault with its place and value, when it holds anything that is not known or not usable.
    """
    top = jsonfile.load(path)
    complaints = jsonfile.complaints(path)
    topology = read_object(top, (), complaints, _TOPOLOGIES)
    # Checks between objects need whole objects: with one half read they would blame the wrong one.
    if topology is not None and not complaints.found:
        _check(topology, complaints)
    if topology is None or complaints.found:
        raise ScenarioError(complaints.found)
    return _scenario(topology, path.stem)


def _check(topology: dict[str, Any], complaints: Complaints) -> None:
    """Complain about objects that do not fit together."""
    hosts = [host["address"] for host in topology["hosts"]]
    routers = [router["address"] for router in topology["routers"]]
    keys = {"routers": "address", "hosts": "address", "links": "name", "flows": "flow_id"}
    for what, key in keys.items():
        seen = set(routers) if what == "hosts" else set[str]()
        for i, entry in enumerate(topology[what]):
            name = entry[key]
            if name in seen:
                complaints.add((what, i, key), name, "this name is taken", allowed="unique names")
            seen.add(name)
    _check_links(topology["links"], hosts, routers, complaints)
    for i, flow in enumerate(topology["flows"]):
        _check_flow(flow, i, hosts, complaints)
    if not topology["flows"]:
        complaints.add(("flows",), [], "no flow", hint="the original does not run without one")


def _check_links(
    links: list[dict[str, Any]], hosts: list[str], routers: list[str], complaints: Complaints
) -> None:
    pairs: set[frozenset[str]] = set()
    attached: set[str] = set()
    devices = [*hosts, *routers]
    for i, link in enumerate(links):
        here = ("links", i)
        ends = [link["end_1_addr"], link["end_2_addr"]]
        for key, end in zip(("end_1_addr", "end_2_addr"), ends, strict=True):
            if end not in devices:
                known = ", ".join(devices)
                complaints.add((*here, key), end, "no such device", allowed=known)
            elif end in hosts and end in attached:
                complaints.add((*here, key), end, "this host has a link already")
            attached.add(end)
        if ends[0] == ends[1]:
            complaints.add((*here, "end_2_addr"), ends[1], "both ends are the same device")
        elif frozenset(ends) in pairs:
            complaints.add(here, " - ".join(ends), "these two devices have a link already")
        pairs.add(frozenset(ends))
        if (rate := link["capacity_bps"]) != int(rate):
            complaints.add((*here, "capacity_bps"), rate, "not a whole number of bits per second")


def _check_flow(flow: dict[str, Any], i: int, hosts: list[str], complaints: Complaints) -> None:
    def fault(key: str, message: str, **more: str) -> None:
        complaints.add(("flows", i, key), flow[key], message, **more)

    for key in ("source_addr", "dest_addr"):
        if flow[key] not in hosts:
            fault(key, "not the address of a host", allowed=", ".join(hosts))
    if flow["source_addr"] == flow["dest_addr"]:
        fault("dest_addr", "the flow ends where it starts")
    if flow["data_size_bits"] < _PACKET_BITS:
        hint = "the original sends whole packets only, and a flow without one never completes"
        fault("data_size_bits", f"less than one packet of {_PACKET_BITS} bit", hint=hint)


def _scenario(topology: dict[str, Any], stem: str) -> Conversion:
    notes: list[str] = []
    flows, routers = topology["flows"], [router["address"] for router in topology["routers"]]
    document: dict[str, Any] = {
        "name": re.sub(r"[^A-Za-z0-9.]+", "-", stem).strip("-") or "converted",
        "title": f"{stem} of the Caltech simulator",
        "source": _SOURCE,
        "profile": "caltech2015",
    }
    if sum(flow[CLASS_KEY] == _RENO for flow in flows) > 1:
        document["defaults"] = {"tcp": {"ack_duplicates": "always"}}
        notes.append(_RESEND_ALWAYS)
    document["hosts"] = [host["address"] for host in topology["hosts"]]
    if routers:
        document["routers"] = routers
    document["links"] = [_link(link, notes) for link in topology["links"]]
    document["flows"] = [_flow(flow, notes) for flow in flows]
    if routers:
        document["routing"] = {"kind": "distance-vector", "period": "5 s", "settling": "0.15 s"}
    document["stop"] = {"when": "flows-complete", "at_latest": _time_limit(topology)}
    return Conversion(document, tuple(notes))


def _link(link: dict[str, Any], notes: list[str]) -> dict[str, Any]:
    bits = link["link_buffer"]["max_buffer_size_bits"]
    limit = math.ceil(bits / 8)
    if limit * 8 != bits:
        # Packets are whole bytes and must be smaller than the free room, so this changes nothing.
        notes.append(
            f"The buffer of {link['name']} ({bits} bit) is rounded up to whole bytes; it takes the "
            "same packets."
        )
    return {
        "id": link["name"],
        "between": [link["end_1_addr"], link["end_2_addr"]],
        "rate": quantities.rate(int(link["capacity_bps"])),
        "delay": _time(link["static_delay_sec"], f"The delay of {link['name']}", notes),
        "duplex": "half",
        "queue": {"kind": "droptail", "limit": quantities.size(limit)},
    }


def _flow(flow: dict[str, Any], notes: list[str]) -> dict[str, Any]:
    name, bits = flow["flow_id"], flow["data_size_bits"]
    packets = int(bits // _PACKET_BITS)
    if packets * _PACKET_BITS != bits:
        notes.append(
            f"Flow {name} sends {packets} whole packets; the original never sends the remaining "
            f"{bits - packets * _PACKET_BITS} bit either."
        )
    return {
        "id": name,
        "from": flow["source_addr"],
        "to": flow["dest_addr"],
        "start": _time(flow["start_time_sec"], f"The start of flow {name}", notes),
        "send": quantities.size(packets * PACKET_BYTES),
        "tcp": _TCP[flow[CLASS_KEY]](flow),
    }


def _reno(flow: dict[str, Any]) -> dict[str, Any]:
    how = {"reduction": "per-packet", "inflation": "gapless", "growth": "gapless", "resend": "once"}
    return {
        "cc": "reno",
        "initial_ssthresh": quantities.plain(flow["ss_thresh"]),
        "recovery": {"kind": "selective-repeat", "threshold": 3, **how},
        "rto": {"kind": "fixed", "timeout": "0.5 s"},
    }


def _fast(flow: dict[str, Any]) -> dict[str, Any]:
    gains = {name: quantities.plain(flow[name]) for name in ("alpha", "gamma")}
    samples = int(flow["num_packets_ave_for_rtt"])
    clock = {"update": "period", "period": "50 ms", "averaging": "samples", "samples": samples}
    return {
        "cc": {"kind": "fast", **gains, **clock},
        "recovery": {"kind": "selective-repeat", "threshold": 1, "resend": "once"},
    }


def _dummy(_flow: dict[str, Any]) -> dict[str, Any]:
    return {
        "cc": {"kind": "fixed", "window": 1},
        "recovery": {"kind": "selective-repeat", "threshold": 1, "resend": "every-report"},
    }


_TCP = {_RENO: _reno, _FAST: _fast, _DUMMY: _dummy}


def _time(seconds: Decimal, what: str, notes: list[str]) -> str:
    nanoseconds = int((seconds * 10**9).to_integral_value())
    if nanoseconds != seconds * 10**9:
        notes.append(f"{what} ({seconds} s) is rounded to whole nanoseconds.")
    return quantities.time(nanoseconds)


def _time_limit(topology: dict[str, Any]) -> str:
    """Return a limit no sound run reaches; the original has none.

    Two hours where a window of one packet makes runs long. Otherwise twice the time in which the
    slowest link carries all data, in steps of 100 s, and 200 s at least.
    """
    flows = topology["flows"]
    if any(flow[CLASS_KEY] == _DUMMY for flow in flows):
        return "2 h"
    slowest = min(link["capacity_bps"] for link in topology["links"])
    start = max(flow["start_time_sec"] for flow in flows)
    seconds = start + 2 * sum(flow["data_size_bits"] for flow in flows) / slowest
    return f"{max(200, math.ceil(seconds / 100) * 100)} s"
