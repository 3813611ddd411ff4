"""Holds Ackclock against the real ns-2.35 on random networks.

``python tests/peers/ns2.py --senders vegas --cases 100 --seed 1`` draws networks, runs each with
both programs, and compares all that ns-2 counts of each flow: packets and bytes sent, packets sent
again, timeouts, bytes delivered, the time of the last ACK, and each drop to the microsecond. With
``--files`` flows send a number of packets and end; they are counted up to their last ACK. (After
it ns-2's Vegas may send packets that were never written; in how many networks is said, too.) Cases
that differ are listed. The networks of a seed are always the same.

Without ns-2 there is nothing to do, and a message says so.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import fields
from itertools import zip_longest

import ns2_program
from ns2_networks import SENDERS, Network, document, random_network
from ns2_program import Counted, Counts

from ackclock import Scenario, run

CLOSE_US = 2
"""ns-2 writes times as rounded real numbers."""


def ours(network: Network) -> list[Counts]:
    """What Ackclock counts, as ns-2 counts it."""
    results = run(Scenario.from_dict(document(network)))
    counts = {flow.name: Counts() for flow in network.flows}
    highest = dict.fromkeys(counts, -1)
    by_name = {flow.name: flow for flow in network.flows}

    def number(name: str, kind: str, seq: int) -> int:
        """Numbers of ns-2, which counts the segment of a handshake as packet 0."""
        flow = by_name[name]
        return seq // flow.packet_bytes + flow.opens if kind == "data" else 0

    for row in results.table("packets").to_pylist():
        name = row["flow"]
        if row["event"] != "sent" or row["host"] != f"s{name[1:]}":
            continue
        if row["time_s"] >= network.seconds:
            # ns-2 ends before anything else that happens in that moment.
            continue
        packet = number(name, row["kind"], row["seq"])
        counts[name].sent += 1
        counts[name].again += packet <= highest[name]
        highest[name] = max(highest[name], packet)
        # ns-2 counts bytes without headers; a packet 0 that is a handshake has none.
        counts[name].sent_bytes += 0 if row["kind"] != "data" else by_name[name].packet_bytes
    for row in results.table("drops").to_pylist():
        name = row["flow"]
        time_us = round(row["time_s"] * 1e6)
        counts[name].drops.append((time_us, number(name, row["kind"], row["seq"])))
    for name, found in results.summary["flows"].items():
        counts[name].timeouts = found["timeouts"]
        counts[name].delivered = found["bytes_delivered"]
        if by_name[name].packets is not None and found["finish_ack_s"] is not None:
            counts[name].finished_us = round(found["finish_ack_s"] * 1e6)
    return list(counts.values())


def differences(theirs: Counts, found: Counts) -> list[str]:
    """The figures of a flow that are not equal."""
    differ = []
    for field in fields(Counts):
        name = field.name
        one, other = getattr(theirs, name), getattr(found, name)
        if name == "drops":
            pairs = zip_longest(one, other, fillvalue=(-1, -1))
            first = next((pair for pair in pairs if not _same_drop(*pair)), None)
            if first is not None:
                differ.append(f"drops {len(one)} and {len(other)}, first {first[0]} and {first[1]}")
        elif name == "finished_us" and None not in (one, other):
            if abs(one - other) > CLOSE_US:
                differ.append(f"{name} {one} and {other}")
        elif one != other:
            differ.append(f"{name} {one} and {other}")
    return differ


def _same_drop(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[1] == other[1] and abs(one[0] - other[0]) <= CLOSE_US


def compare(network: Network, theirs: list[Counted] | None = None) -> list[str]:
    """Sentences about what differs in one network; none if both programs agree."""
    theirs = theirs or ns2_program.run(network)
    found = ours(network)
    return [
        f"{flow.name} ({flow.sender}): {text}"
        for flow, one, other in zip(network.flows, theirs, found, strict=True)
        for text in differences(one, other)
    ]


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--senders", nargs="+", choices=list(SENDERS), default=["vegas"])
    parser.add_argument("--files", action="store_true", help="flows that end")
    parser.add_argument("--cases", type=int, default=20, help="networks (default 20)")
    parser.add_argument("--seed", type=int, default=1, help="first seed (default 1)")
    parser.add_argument("--least", type=float, default=0.0, help="fail below this share")
    options = parser.parse_args()
    if not ns2_program.is_installed():
        print("Skipped: there is no program `ns` that is ns-2.35.", file=sys.stderr)
        return 0
    equal = beyond = 0
    for seed in range(options.seed, options.seed + options.cases):
        network = random_network(seed, options.senders, options.files)
        theirs = ns2_program.run(network)
        differ = compare(network, theirs)
        equal += not differ
        beyond += not differ and any(flow.beyond for flow in theirs)
        for text in differ:
            print(f"{seed}: {text}")
    print(f"{equal} of {options.cases} networks are equal in all figures", end="")
    print(f"; in {beyond} of them ns-2 sent more after the end of a file" if options.files else "")
    return 0 if equal >= options.least * options.cases else 1


if __name__ == "__main__":
    sys.exit(main())
