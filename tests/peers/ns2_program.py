"""Runs a network with the real ns-2: writes its script, and reads what it counted."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from ns2_networks import ACK_BYTES, HEADER_BYTES, SENDERS, Flow, Network

PROGRAM = "ns"


@dataclass
class Counts:
    """What a flow did."""

    sent: int = 0
    sent_bytes: int = 0
    again: int = 0
    timeouts: int = 0
    delivered: int = 0
    """Bytes in order at the receiver."""
    finished_us: int | None = None
    """When the sender had the last ACK of a flow that ends."""
    drops: list[tuple[int, int]] = field(default_factory=list)
    """Time in microseconds, and the packet's number."""


@dataclass
class Counted(Counts):
    """The same of a flow of ns-2: of a file up to its last ACK."""

    beyond: int = 0
    """Packets that were sent after it, which were never written."""


def is_installed() -> bool:
    """Whether there is a program ``ns`` that is ns-2."""
    program = shutil.which(PROGRAM)
    if program is None:
        return False
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "version.tcl"
        script.write_text("puts [ns-version]\n")
        done = subprocess.run([program, script], capture_output=True, text=True, check=False)
    return done.returncode == 0 and done.stdout.strip().startswith("2.35")


def script(network: Network, drops: Path) -> str:
    """The Tcl script of a network. It prints a line of phases and one line a flow."""
    lines = [
        "set ns [new Simulator]",
        f"set dropped [open {{{drops}}} w]",
        "array set finished {}",
        "array set at_end {}",
        "proc counts {tcp sink} {",
        "    foreach name {ndatapack_ ndatabytes_ nrexmitpack_ nrexmit_} {",
        "        lappend found [$tcp set $name]",
        "    }",
        "    lappend found [$sink set bytes_]",
        "}",
        "Agent/TCP instproc done {} {",
        "    global ns finished at_end sink_of",
        "    set finished($self) [$ns now]",
        "    set at_end($self) [counts $self $sink_of($self)]",
        "}",
    ]
    nodes = sorted({node for link in network.links for node in link.ends})
    lines += [f"set {node} [$ns node]" for node in nodes]
    for link in network.links:
        left, right = (f"${end}" for end in link.ends)
        lines += [
            f"$ns duplex-link {left} {right} {link.kbps}kb {link.delay_us / 1e6!r} DropTail",
            f"$ns queue-limit {left} {right} {link.limit}",
            f"$ns queue-limit {right} {left} 100001",
            f"$ns trace-queue {left} {right} $dropped",
        ]
    for index, flow in enumerate(network.flows):
        lines += _flow(index, flow)
    # An agent draws the phase of its clock when it is reset: which one, has to be known.
    count, seed = len(network.flows), network.seed + 1
    lines += [
        "proc draw {} {",
        f"    global defaultRNG {' '.join(f'tcp{index}' for index in range(count))}",
        f"    $defaultRNG seed {seed}",
        "    set drawn {}",
        *["    lappend drawn [$defaultRNG uniform 0 1]"] * count,
        '    puts "phases $drawn"',
        f"    $defaultRNG seed {seed}",
        *(f"    $tcp{index} reset" for index in range(count)),
        "}",
        "$ns at 0 draw",
    ]
    lines += ["proc finish {} {", "    global ns dropped finished at_end"]
    for index in range(len(network.flows)):
        lines += [
            f"    global tcp{index} sink{index}",
            f"    set now [counts $tcp{index} $sink{index}]",
            "    set until $now; set done -1",
            f"    if {{[info exists finished($tcp{index})]}} {{",
            f"        set done $finished($tcp{index})",
            f"        set until $at_end($tcp{index})",
            "    }",
            '    puts "flow $until [format %.9f $done] [lindex $now 0]"',
        ]
    lines += ["    close $dropped", "    exit 0", "}"]
    lines += [f"$ns at {network.seconds} finish", "$ns run"]
    return "\n".join(lines) + "\n"


def _flow(index: int, flow: Flow) -> list[str]:
    number = flow.name[1:]
    sink = "TCPSink/DelAck" if flow.delayed_acks else "TCPSink"
    start = f"{flow.start_us / 1e6!r}"
    lines = [
        f"set tcp{index} [new Agent/{SENDERS[flow.sender]}]",
        f"$tcp{index} set fid_ {index}",
        f"$tcp{index} set window_ {flow.window}",
        f"$tcp{index} set packetSize_ {flow.packet_bytes}",
        f"set sink{index} [new Agent/{sink}]",
        f"$sink{index} set bytes_ 0",
        f"set sink_of($tcp{index}) $sink{index}",
        f"$sink{index} set packetSize_ {ACK_BYTES}",
        f"$ns attach-agent $s{number} $tcp{index}",
        f"$ns attach-agent $d{number} $sink{index}",
        f"$ns connect $tcp{index} $sink{index}",
        f"set ftp{index} [new Application/FTP]",
        f"$ftp{index} attach-agent $tcp{index}",
    ]
    if flow.sender == "vegas":
        names = ("v_alpha_", "v_beta_", "v_gamma_")
        lines += [
            f"$tcp{index} set {name} {value}" for name, value in zip(names, flow.kept, strict=True)
        ]
    what = "start" if flow.packets is None else f"send {flow.packets * flow.packet_bytes}"
    return [*lines, f'$ns at {start} "$ftp{index} {what}"']


def run(network: Network) -> list[Counted]:
    """What ns-2 counts; the phases of the clocks that it drew are written into the flows."""
    with tempfile.TemporaryDirectory() as folder:
        program, drops = Path(folder) / "network.tcl", Path(folder) / "drops"
        program.write_text(script(network, drops))
        command = [PROGRAM, str(program)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        counts = _read(network, done.stdout.splitlines())
        for line in drops.read_text().splitlines():
            if not line.startswith("d "):
                continue
            words = line.split()
            time_us, flow, number = round(float(words[1]) * 1e6), int(words[7]), int(words[10])
            if not network.flows[flow].was_never_written(number):
                counts[flow].drops.append((time_us, number))
    return counts


def _read(network: Network, lines: list[str]) -> list[Counted]:
    drawn = [float(word) for word in lines[0].split()[1:]]
    for flow, phase in zip(network.flows, drawn, strict=True):
        flow.phase = phase
    counts = []
    rows = [line.split()[1:] for line in lines if line.startswith("flow ")]
    for flow, row in zip(network.flows, rows, strict=True):
        sent, sent_bytes, again, timeouts, arrived = (int(word) for word in row[:5])
        if flow.opens and arrived:
            # The receiver counts headers, and packet 0, which is one.
            whole = flow.packet_bytes + HEADER_BYTES
            arrived = (arrived - HEADER_BYTES) * flow.packet_bytes // whole
        finished = round(float(row[5]) * 1e6) if flow.packets is not None else -1
        counts.append(
            Counted(
                beyond=int(row[6]) - sent,
                sent=sent,
                sent_bytes=sent_bytes,
                again=again,
                timeouts=timeouts,
                delivered=arrived,
                finished_us=finished if finished >= 0 else None,
            )
        )
    return counts
