"""Random documents, good and bad, through the whole program: `python tests/python/fuzz.py`.

Documents are made from the engine's own tables, so that a new model is tested from its first day.
Whatever a document holds, it is refused with a message, or simulated; and what comes out is
possible. Each case runs in a process of its own kind, which may crash or hang. A case that fails is
made smaller and shown; `--case SEED` runs one again.

What is asked of a case is in `check`.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import math
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from random_documents import Doc, Maker, places_of

from ackclock import Scenario, ScenarioError, _core
from ackclock.canonical import to_yaml
from ackclock.document import Document

TURN_S = 0.02
LONGEST_TURN_S = 1.0  # of CPU; Ctrl-C is looked for between two turns
RUN_S = 0.4  # of CPU; what takes longer is ended as by Ctrl-C
HANG_S = 60.0
WAYS = ("forward", "backward")
ENDS = {"flows-complete": "flows complete", "time": "time up"}
SMALL = 1 + 1e-9  # rounding of floating-point figures


# What is asked of each.


class WrongError(AssertionError):
    """Something that must not be."""


class SlowError(WrongError):
    """What took too long, which may be the fault of other programs on this machine."""


def check(document: Doc, seed: int) -> str:
    """Run a case; return what became of it.

    Raises:
        WrongError: what came out is not possible, or took too long.
        Exception: whatever the program did not expect.
    """
    draw = random.Random(f"check {seed}")
    if draw.random() < 0.05:
        return _as_command(document, draw)
    text = _text(document, draw)
    try:
        scenario = Scenario(Document.parse(text, file="fuzz.yaml"))
    except ScenarioError as error:
        if not error.problems or not str(error):
            raise WrongError("refused without a word") from None
        return "refused"
    canonical = scenario.canonical
    again = Scenario(Document.parse(to_yaml(canonical))).canonical
    if again != canonical:
        raise WrongError("the resolved document resolves to another one")
    first = _simulate(scenario)
    if first is None:
        return "interrupted twice"
    summary, tables = first
    _possible(summary, tables, scenario.model)
    if draw.random() < 0.1:
        again = _simulate(scenario.set("record", draw.choice(("none", "all"))))
        other = again[0] if again else {"finished": False}
        if summary["finished"] and other["finished"] and other["digest"] != summary["digest"]:
            raise WrongError("recording changes the run")
    # A run ends when its flows are complete, or when its time is up; all else cuts it short.
    return ENDS.get(summary["stop_reason"], "cut short")


def _text(document: Doc, draw: random.Random) -> str:
    """Return the document as text, rarely with a character too few or too many."""
    text = json.dumps(document, ensure_ascii=draw.random() < 0.5, indent=draw.choice((None, 1)))
    if draw.random() < 0.03:
        at = draw.randrange(len(text))
        text = text[:at] + draw.choice(("", "\n", ",", ":", "\t", '"', "{", "&a ")) + text[at + 1 :]
    return text


def _simulate(scenario: Scenario) -> tuple[Doc, Doc] | None:
    """Run a scenario for a while; return summary and tables, or None after a second Ctrl-C."""
    simulation = _core.Simulation(scenario.handle)
    started = time.process_time()
    done = False
    while not done and time.process_time() - started < RUN_S:
        before = time.process_time()
        done = simulation.advance(TURN_S)
        if (turn := time.process_time() - before) > LONGEST_TURN_S:
            raise SlowError(f"Ctrl-C waits for {turn:.1f} s")
    before = time.process_time()
    try:
        with _ctrl_c_after(RUN_S):
            output = simulation.finish()
    except KeyboardInterrupt:
        return None
    finally:
        if (turn := time.process_time() - before) > RUN_S + LONGEST_TURN_S:
            raise SlowError(f"a second Ctrl-C waits for {turn - RUN_S:.1f} s")
    summary = json.loads(output.summary)
    summary["finished"] = summary["finished"] and done
    return summary, output.tables()


@contextlib.contextmanager
def _ctrl_c_after(seconds: float) -> Iterator[None]:
    """Press Ctrl-C when this takes for so long, and again each time it goes on for as long."""
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _possible(summary: Doc, tables: Doc, model: Doc) -> None:
    for path, value in _leaves(summary):
        if isinstance(value, float) and not math.isfinite(value):
            raise WrongError(f"{path} is {value}")
        if isinstance(value, int | float) and value < 0:
            raise WrongError(f"{path} is negative: {value}")
        if path.endswith(".utilization") and value > 1:
            raise WrongError(f"{path} is above 1: {value}")
    for path, figure in _means(summary):
        if figure["max"] is not None and figure["mean"] is not None:
            if figure["mean"] > figure["max"] * SMALL:
                raise WrongError(f"{path}: mean {figure['mean']} above max {figure['max']}")
            if figure.get("min", 0) > figure["mean"] * SMALL:
                raise WrongError(f"{path}: mean {figure['mean']} below min {figure['min']}")
    dropped = sum(summary["packets_dropped"].values())
    if summary["packets_delivered"] + dropped > summary["packets_created"]:
        raise WrongError("more packets delivered and dropped than created")
    sides = [link.get(way) or {} for link in model.get("links", ()) for way in WAYS]
    copies = any(side.get("duplication") for side in sides)
    for name, flow in summary["flows"].items():
        offered, delivered = flow.get("bytes_offered"), flow["bytes_delivered"]
        settings = next(f["tcp"] for f in model["flows"] if f["id"] == name)
        # Datagrams that a link duplicates arrive twice; a stream has each byte once.
        more = settings["writes"] == "whole-segments" if settings else copies
        if offered is not None and delivered > offered and not more:
            raise WrongError(f"{name} delivered {delivered} of {offered} bytes")
    if "cwnd" in tables:
        rows = tables["cwnd"]
        segments = [flow["tcp"]["segment_bytes"] if flow["tcp"] else 0 for flow in model["flows"]]
        for number, window in zip(rows["flow"], rows["cwnd_bytes"], strict=True):
            if not window * SMALL >= segments[number]:
                flow = model["flows"][number]["id"]
                raise WrongError(
                    f"{flow}: a window of {window} B, segments have {segments[number]} B"
                )


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(inner, f"{path}.{key}")
    else:
        yield path, value


def _means(value: Any, path: str = "") -> Iterator[tuple[str, Doc]]:
    if isinstance(value, dict):
        if {"mean", "max"} <= value.keys():
            yield path, value
        for key, inner in value.items():
            yield from _means(inner, f"{path}.{key}")


def _as_command(document: Doc, draw: random.Random) -> str:
    """Run the case as a user does, with records, summary and theory."""
    from ackclock.cli.app import main

    command = draw.choice(
        (["run", "--no-plots"], ["run", "--no-plots", "--json"], ["validate", "--expand"],
         ["validate", "--json"], ["theory"])
    )  # fmt: skip
    out, err = io.StringIO(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / draw.choice(("x.yaml", "x.json"))
        path.write_text(_text(document, draw), encoding="utf-8")
        arguments = [command[0], str(path), *command[1:]]
        if command[0] == "run":
            arguments += ["--out", str(Path(folder) / "out")]
        before = sys.argv
        sys.argv = ["ackclock", *arguments]
        try:
            # A run may be long.
            with (
                contextlib.redirect_stdout(out),
                contextlib.redirect_stderr(err),
                _ctrl_c_after(2 * RUN_S),
            ):
                main()
            code: Any = 0
        except SystemExit as leaving:
            code = leaving.code or 0
        finally:
            sys.argv = before
    if code not in (0, 1, 2, 130):
        raise WrongError(f"exit status {code}")
    if code == 2 and not (out.getvalue() + err.getvalue()).strip():
        raise WrongError("refused without a word")
    if "--json" in command and code != 130:
        json.loads(out.getvalue())
    return f"command ended with {code}"


# Running many.


def outcome(document: Doc, seed: int) -> tuple[str, str | None]:
    """Return what became of a case, and what is wrong with it. Slow is what is so each time."""
    try:
        for _ in range(2):
            with contextlib.suppress(SlowError):
                return check(document, seed), None
        return check(document, seed), None
    except WrongError as wrong:
        return "WRONG", str(wrong)
    except BaseException as error:  # not all panics are Exceptions
        if isinstance(error, KeyboardInterrupt):
            raise
        last = traceback.extract_tb(error.__traceback__)[-1]
        text = f"{type(error).__name__}: {error}"[:200]
        return "WRONG", f"{text} at {Path(last.filename).name}:{last.lineno}"


def _work(seeds: range, now: Any, said: Any) -> None:
    os.environ["COLUMNS"] = "110"
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what a panic prints
    for seed in seeds:
        now[0], now[1] = seed, time.monotonic()
        said.put((seed, *outcome(Maker(seed).document(), seed)))
    said.put((None, "", None))


def alone(document: Doc, seed: int) -> str | None:
    """Return what is wrong with a case that may crash or hang."""
    context = multiprocessing.get_context("fork")
    said = context.SimpleQueue()

    def work() -> None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        said.put(outcome(document, seed)[1])

    process = context.Process(target=work)
    process.start()
    deadline = time.monotonic() + HANG_S
    while process.is_alive() and said.empty() and time.monotonic() < deadline:
        time.sleep(0.002)
    wrong = said.get() if not said.empty() else "it hangs" if process.is_alive() else "a crash"
    process.kill()
    process.join()
    return wrong


def smaller(document: Doc, fails: Callable[[Doc], bool], most: int = 200) -> Doc:
    """Leave out what the failure does not need, the largest parts first."""
    at = 0
    for _ in range(most):
        tried = json.loads(json.dumps(document))
        places = sorted(places_of(tried), key=lambda p: -len(json.dumps(p[0][p[1]])))
        if at >= len(places):
            break
        holder, key = places[at]
        del holder[key]
        if fails(tried):
            document = tried
        else:
            at += 1
    return document


def run(seeds: range, report: Callable[[int, str], None]) -> dict[str, int]:
    """Run cases one after the other; `report` is called with each that fails."""
    context = multiprocessing.get_context("fork")
    counts: dict[str, int] = {}
    while seeds:
        now, said = context.Array("d", [seeds.start, time.monotonic()]), context.Queue()
        process = context.Process(target=_work, args=(seeds, now, said), daemon=True)
        process.start()
        seeds, left = range(0), seeds
        while True:
            try:
                seed, what, wrong = said.get(timeout=0.5)
            except Exception:  # nothing said for a while
                hangs = time.monotonic() - now[1] > HANG_S
                if process.is_alive() and not hangs:
                    continue
                seed = int(now[0])
                what, wrong = "WRONG", "it hangs" if hangs else f"a crash ({process.exitcode})"
                process.kill()
                seeds = range(seed + 1, left.stop)
            if seed is None:
                break
            counts[what] = counts.get(what, 0) + 1
            if wrong:
                report(seed, wrong)
            if seeds:
                break
        process.join()
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1, help="number of the first case")
    parser.add_argument("--case", type=int, help="run this one only, in this process")
    parser.add_argument("--show", action="store_true", help="print documents that fail")
    options = parser.parse_args()
    if options.case is not None:
        document = Maker(options.case).document()
        print(to_yaml(document))
        print(check(document, options.case))
        return 0
    found: dict[str, list[int]] = {}

    def report(seed: int, wrong: str) -> None:
        kind = "".join(c for c in wrong if not c.isdigit())
        found.setdefault(kind, []).append(seed)
        if len(found[kind]) <= 3:
            print(f"case {seed}: {wrong}", flush=True)

    started = time.monotonic()
    counts = run(range(options.seed, options.seed + options.cases), report)
    for kind, seeds in found.items():
        print(f"\n{len(seeds)} cases, such as {seeds[0]}: {kind}")
        if options.show:
            same = lambda d, kind=kind, seed=seeds[0]: _kind(alone(d, seed)) == kind  # noqa: E731
            print(to_yaml(smaller(Maker(seeds[0]).document(), same)))
    print(f"{sum(counts.values())} cases in {time.monotonic() - started:.0f} s: {counts}")
    return int(bool(found))


def _kind(wrong: str | None) -> str:
    return "".join(c for c in wrong or "" if not c.isdigit())


if __name__ == "__main__":
    sys.exit(main())
