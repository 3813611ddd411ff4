"""Measure scenarios on this machine's kernel. Needs root, gcc, iproute2 and /dev/net/tun.

    python validation/linux/measure.py --out FOLDER [--only REGEX] [--reps 3] [--scenarios FILE]

Touches only network namespaces of its own (names begin with `kor`). What is measured is kept in
FOLDER/results.jsonl, so that an interrupted measurement goes on; traces of the first repetition go
to FOLDER/traces. `summarise.py FOLDER` makes of it what `ackclock reproduce linux --oracle` reads.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import analysis
import form
import kernel

Key = tuple[str, int]


def main() -> int:
    """Measure what is asked for and not yet there; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="folder of results and traces")
    parser.add_argument("--only", default=".", help="regular expression that names match")
    parser.add_argument("--reps", type=int, default=3, help="repetitions of each scenario")
    parser.add_argument("--retries", type=int, default=2, help="of a repetition that was disturbed")
    parser.add_argument(
        "--scenarios",
        type=Path,
        default=Path(__file__).with_name("scenarios.py"),
        help="a Python file with a list ALL, or JSON; default: those that come with Ackclock",
    )
    given = parser.parse_args()
    (given.out / "traces").mkdir(parents=True, exist_ok=True)
    chosen = [one for one in form.load(given.scenarios) if re.search(given.only, one["name"])]
    kept = _Results(given.out / "results.jsonl")
    todo = [
        (one, rep) for rep in range(given.reps) for one in chosen if (one["name"], rep) not in kept
    ]
    failed = 0
    with tempfile.TemporaryDirectory(prefix="kor_") as folder:
        work = Path(folder)
        programs = kernel.Programs.build(work)
        for number, (one, rep) in enumerate(todo, 1):
            try:
                result = _valid_one(one, rep, given, programs, work)
            except (OSError, RuntimeError, ValueError) as error:
                print(
                    f"[{number}/{len(todo)}] {one['name']} {rep} FAILED: {error}", file=sys.stderr
                )
                failed += 1
                continue
            kept.add(result)
            print(f"[{number}/{len(todo)}] {_line(result)}", flush=True)
    return 1 if failed else 0


def _valid_one(
    one: form.Scenario, rep: int, given: argparse.Namespace, programs: kernel.Programs, work: Path
) -> dict[str, Any]:
    """Measure a repetition, again if it was disturbed; the last try is kept in any case."""
    result: dict[str, Any] = {}
    for attempt in range(given.retries + 1):
        raw = kernel.measure(one, rep, programs, work)
        result = {**analysis.analyse(one, rep, raw), "attempt": attempt}
        if result["valid"] or attempt == given.retries:
            if rep == 0:
                _write_traces(one, raw, given.out / "traces")
            break
    return result


def _write_traces(one: form.Scenario, raw: kernel.Raw, folder: Path) -> None:
    if one["kind"] == "bulk":
        for number in range(len(one["flows"])):
            rows = analysis.window_trace(one, raw, number)
            _write(folder / f"{one['name']}.f{number}.csv", rows)
    else:
        _write(folder / f"{one['name']}.csv", analysis.packet_trace(one, raw))
        _write(folder / f"{one['name']}.cwnd.csv", analysis.window_trace(one, raw, 0))


def _write(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


class _Results:
    """Results by scenario and repetition, in a file with one line each."""

    def __init__(self, path: Path) -> None:
        self.path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        self.keys = {(line["name"], line["rep"]) for line in map(json.loads, lines)}

    def __contains__(self, key: Key) -> bool:
        return key in self.keys

    def add(self, result: dict[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(result) + "\n")
        self.keys.add((result["name"], result["rep"]))


def _line(result: dict[str, Any]) -> str:
    flows = " ".join(
        f"{flow['cc']} {flow['goodput_mbps_window']} Mbit/s"
        + (f" {flow['fct_ms']} ms" if "fct_ms" in flow else "")
        for flow in result["flows"]
    )
    late = result["emu"]["late_us"]
    verdict = "valid" if result["valid"] else "DISTURBED"
    return f"{result['name']} {result['rep']} {verdict}, latest {late['max']} us: {flows}"


if __name__ == "__main__":
    sys.exit(main())
