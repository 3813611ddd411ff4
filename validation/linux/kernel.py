"""Two network namespaces, the emulated link between them, and real TCP through it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from form import Scenario

HERE = Path(__file__).parent
BUFFERS = 16 * 1024 * 1024
"""Of sender and receiver: never the limit (runs in which they are count as invalid)."""

_FIRST_SEED = 1000
_SETTINGS = {
    "net.ipv6.conf.all.disable_ipv6": "1",
    "net.ipv6.conf.default.disable_ipv6": "1",
    "net.ipv4.tcp_no_metrics_save": "1",
    "net.ipv4.tcp_rmem": "4096 131072 33554432",
    "net.ipv4.tcp_wmem": "4096 16384 33554432",
    "net.ipv4.tcp_ecn": "0",
}
_ADDRESSES = (("10.77.1.1", "10.77.2.0/24"), ("10.77.2.1", "10.77.1.0/24"))


@dataclass(frozen=True)
class Programs:
    """The compiled emulator, and the source and sink of flows."""

    emulator: Path
    flow: Path

    @classmethod
    def build(cls, folder: Path) -> Programs:
        """Compile them into a folder."""
        emulator, flow = folder / "emulator", folder / "flow"
        for made, source in ((emulator, "emulator.c"), (flow, "flow.c")):
            compiler = ["gcc", "-O2", "-o", str(made), str(HERE / source), "-lm"]
            subprocess.run(compiler, check=True)
        return cls(emulator, flow)


@dataclass(frozen=True)
class Raw:
    """What a repetition left.

    When it began, the emulator's log and statistics, and of each flow the file of samples, what the
    source said at the end, and what the sink said.
    """

    began_ns: int
    log: bytes
    emulator: dict[str, Any]
    samples: list[str]
    sources: list[dict[str, Any]]
    sinks: list[dict[str, Any]]


def run(*command: str, check: bool = True) -> None:
    """Run a command of the system."""
    subprocess.run(command, check=check, capture_output=True, text=True)


@contextlib.contextmanager
def namespaces() -> Iterator[tuple[str, str]]:
    """Make two network namespaces of our own, and remove them."""
    names = (f"kor{os.getpid()}a", f"kor{os.getpid()}b")
    try:
        for name in names:
            run("ip", "netns", "add", name)
            for key, value in _SETTINGS.items():
                set_kernel(name, key, value)
        yield names
    finally:
        for name in names:
            run("ip", "netns", "del", name, check=False)


def set_kernel(namespace: str, key: str, value: str) -> None:
    """Set a kernel parameter of a namespace."""
    run("ip", "netns", "exec", namespace, "sysctl", "-qw", f"{key}={value}")


def connect(names: tuple[str, str], mtu: int, gso_segs: int, quickack: bool) -> None:
    """Give both ends of the emulated link their addresses and routes."""
    for name, (address, peer) in zip(names, _ADDRESSES, strict=True):
        run("ip", "-n", name, "addr", "add", f"{address}/32", "dev", "tun0")
        run("ip", "-n", name, "link", "set", "tun0", "mtu", str(mtu), "txqueuelen", "20000")
        if gso_segs:
            run("ip", "-n", name, "link", "set", "tun0", "gso_max_segs", str(gso_segs))
        run("ip", "-n", name, "link", "set", "tun0", "up")
        every = ["quickack", "1"] if quickack and name == names[1] else []
        run("ip", "-n", name, "route", "add", peer, "dev", "tun0", *every)


def measure(scenario: Scenario, repetition: int, programs: Programs, work: Path) -> Raw:
    """Run a scenario once on this machine's kernel."""
    folder = Path(tempfile.mkdtemp(prefix="kor_", dir=work))
    try:
        with namespaces() as names, contextlib.ExitStack() as running:
            return _measured(scenario, repetition, programs, folder, names, running)
    finally:
        shutil.rmtree(folder)


def _measured(
    scenario: Scenario,
    repetition: int,
    programs: Programs,
    folder: Path,
    names: tuple[str, str],
    running: contextlib.ExitStack,
) -> Raw:
    def start(*command: str) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True)
        running.callback(_end, process)
        return process

    near, far = names
    if scenario["ecn_threshold_pkts"]:
        for name in names:
            set_kernel(name, "net.ipv4.tcp_ecn", "1")
    log = folder / "emulator.bin"
    emulator = start(str(programs.emulator), *_arguments(scenario, repetition, names, log))
    if _line(emulator) != "READY":
        raise RuntimeError(f"emulator: {_rest(emulator)[1]}")
    every = scenario["ack"] == "every"
    connect(names, scenario["mtu"], scenario["gso_segs"], every)
    if every:
        set_kernel(far, "net.ipv4.tcp_comp_sack_nr", "0")
    sinks = []
    for number in range(len(scenario["flows"])):
        inside = ("ip", "netns", "exec", far, "chrt", "-f", "4")
        port = f"port={5001 + number}"
        sinks.append(start(*inside, str(programs.flow), "sink", port, f"rcvbuf={BUFFERS}"))
        _line(sinks[-1])
    began_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC) + 300_000_000
    samples = [folder / f"flow{number}.csv" for number in range(len(scenario["flows"]))]
    sources = []
    for number, (flow, file) in enumerate(zip(scenario["flows"], samples, strict=True)):
        inside = ("ip", "netns", "exec", near, "chrt", "-f", "5")
        given = [f"{key}={flow[key]}" for key in ("size", "writes") if flow.get(key)]
        sources.append(
            start(
                *inside, str(programs.flow), "src", "dst=10.77.2.1", f"port={5001 + number}",
                f"cc={flow['cc']}", f"t0={began_ns}", f"start={flow['start']}",
                f"stop={flow['stop']}", f"sndbuf={BUFFERS}", f"out={file}", *given,
            )
        )  # fmt: skip
    ended = [_report(source, scenario["duration_s"] + 30) for source in sources]
    time.sleep(_emptied_s(scenario))
    emulator.terminate()
    statistics = _report(emulator, 30)
    return Raw(
        began_ns,
        log.read_bytes(),
        statistics,
        [file.read_text() for file in samples],
        ended,
        [_report(sink, 10) for sink in sinks],
    )


def _emptied_s(scenario: Scenario) -> float:
    """Return how long the last packets may be on their way: sinks wait for resets."""
    queue_s = scenario["buffer_pkts"] * scenario["mtu"] * 8e-6 / scenario["rate_mbps"]
    extra_s = max(flow.get("extra_rtt_ms", 0.0) for flow in scenario["flows"]) * 1e-3
    return (
        0.3 + scenario["rtt_ms"] * 1e-3 + extra_s + (queue_s if scenario["kind"] == "bulk" else 0)
    )


def _arguments(
    scenario: Scenario, repetition: int, names: tuple[str, str], log: Path
) -> Iterator[str]:
    yield from (f"nsA={names[0]}", f"nsB={names[1]}", f"log={log}")
    yield f"rate={scenario['rate_mbps'] * 1e6}"
    yield f"delay_us={scenario['rtt_ms'] * 500}"
    yield f"qpkts={scenario['buffer_pkts']}"
    yield f"ecn={scenario['ecn_threshold_pkts']}"
    yield f"loss={scenario['loss']}"
    yield f"rloss={scenario['ack_loss']}"
    yield f"seed={_FIRST_SEED + repetition}"
    yield f"dur={scenario['duration_s'] + 20}"
    for key in ("drop", "rdrop", "adrop", "hold"):
        if scenario[key]:
            yield f"{key}={','.join(scenario[key])}"
    extra = [
        f"{number}:{int(flow['extra_rtt_ms'] * 1000)}"
        for number, flow in enumerate(scenario["flows"])
        if flow.get("extra_rtt_ms")
    ]
    if extra:
        yield f"extra={','.join(extra)}"


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def _rest(process: subprocess.Popen[str], timeout: float = 10) -> tuple[str, str]:
    return process.communicate(timeout=timeout)


def _report(process: subprocess.Popen[str], timeout: float) -> dict[str, Any]:
    """Wait for a program's end and return the JSON of its last line."""
    said, complaint = _rest(process, timeout)
    if process.returncode:
        raise RuntimeError(f"{process.args}: {complaint}")
    return json.loads(said.strip().splitlines()[-1])


def _end(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.kill()
        process.wait()
