"""Check the emulator by bursts of UDP whose outcome is known exactly.

    python validation/linux/calibrate.py

A burst of full packets arrives back to back: one in transmission and `buffer` waiting ones survive,
and packet k is delivered after the delay and k + 1 transmissions. The same seed loses the same
packets. Prints what was found as JSON; exit status 1 if a check fails. Needs what `measure.py`
needs.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import kernel
from analysis import ARRIVED, DELIVERED, DROP_RANDOM, DROP_TAIL, Event, events

_SEND = r"""
import socket, struct, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8 << 20)
count, gap, start = int(sys.argv[1]), float(sys.argv[2]), time.monotonic()
for i in range(count):
    while gap and time.monotonic() < start + i * gap:
        pass
    s.sendto(struct.pack(">I", i) + bytes(1468), ("10.77.2.1", 5001))
"""
_RATE, _DELAY_US, _BUFFER, _BURST = 10e6, 20_000, 20, 60
_PACKET_US = 1500 * 8e6 / _RATE


def burst(
    programs: kernel.Programs, work: Path, count: int, gap_s: float, **given: float
) -> tuple[dict[str, Any], list[Event]]:
    """Send packets through the emulator; give its statistics and what it saw of the data path."""
    log = work / "calibration.bin"
    with kernel.namespaces() as names:
        arguments = [f"{key}={value}" for key, value in given.items()]
        ends = [f"nsA={names[0]}", f"nsB={names[1]}", f"log={log}", "dur=30"]
        command = [str(programs.emulator), *ends, *arguments]
        emulator = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert emulator.stdout is not None
            emulator.stdout.readline()
            kernel.connect(names, 1500, 0, quickack=False)
            sender = ["ip", "netns", "exec", names[0], sys.executable, "-c", _SEND]
            subprocess.run([*sender, str(count), str(gap_s)], check=True)
            time.sleep(1.0)
            emulator.terminate()
            statistics = json.loads(emulator.communicate()[0].strip().splitlines()[-1])
        finally:
            emulator.kill()
            emulator.wait()
    return statistics, [event for event in events(log.read_bytes()) if event.forward]


def main() -> int:
    """Run all checks; return the exit status."""
    found: dict[str, Any] = {}
    checks: list[bool] = []
    with tempfile.TemporaryDirectory(prefix="kor_") as folder:
        work = Path(folder)
        programs = kernel.Programs.build(work)

        limits = {"rate": _RATE, "delay_us": _DELAY_US, "qpkts": _BUFFER}
        _, seen = burst(programs, work, _BURST, 0.0, **limits)
        arrived = [event.time for event in seen if event.kind == ARRIVED]
        dropped = [event.time for event in seen if event.kind == DROP_TAIL]
        span_us = (max(arrived + dropped) - arrived[0]) / 1e3
        expected = 1 + _BUFFER + int(span_us / _PACKET_US)
        found["burst"] = {"accepted": len(arrived), "expected": expected, "us": round(span_us, 1)}
        checks.append(abs(len(arrived) - expected) <= 1 and len(arrived) + len(dropped) == _BURST)

        delivered = [event.time for event in seen if event.kind == DELIVERED]
        late = sorted(
            (time - arrived[0]) / 1e3 - (_DELAY_US + (k + 1) * _PACKET_US)
            for k, time in enumerate(delivered)
        )
        middle = late[len(late) // 2]
        found["delivered_late_us"] = [round(value, 2) for value in (late[0], middle, late[-1])]
        checks.append(late[0] > -1.0 and middle < 200)

        lost = []
        for _ in range(2):
            settings = {"rate": 0, "delay_us": 1000, "loss": 0.02, "seed": 7}
            _, seen = burst(programs, work, 3000, 0.0003, **settings)
            lost.append([event.seq for event in seen if event.kind == DROP_RANDOM])
        found["lost_of_3000"] = [len(one) for one in lost]
        checks.append(lost[0] == lost[1] and 30 <= len(lost[0]) <= 90)

        statistics, seen = burst(programs, work, 2000, 0.001, rate=20e6, delay_us=5000, qpkts=100)
        found["paced_late_us"] = statistics["late_us"]
        checks.append(sum(event.kind == DELIVERED for event in seen) == 2000)
    found["ok"] = all(checks)
    print(json.dumps(found, indent=1))
    return 0 if found["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
