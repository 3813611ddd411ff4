"""What congestion control in Python costs: `python benches/controllers.py`."""

import time

import ackclock
from ackclock import Scenario, _core


class Nothing(ackclock.CongestionControl):
    """A controller that is called for each ACK and does nothing."""

    def on_ack(self, ack):
        pass


def wall_s(scenario):
    """Return the least time of some runs."""
    return min(ackclock.run(scenario).summary["wall_s"] for _ in range(9))


def overhead_us():
    """Return microseconds that a call takes, the call of an empty method included."""
    base = Scenario.load("own/aimd").set("record", "none")
    base = base.set("defaults.tcp.initial_window", 30)
    fixed = base.set("defaults.tcp.cc", {"kind": "fixed", "window": 30})
    nothing = base.set("defaults.tcp.cc", Nothing)
    flows = ackclock.run(nothing).summary["flows"].values()
    calls = sum(flow["segments_sent"] for flow in flows)
    return 1e6 * (wall_s(nothing) - wall_s(fixed)) / calls


def cpu_s(*scenarios):
    """Return the least processor time of some runs of each scenario, compilation apart.

    In turns: what else the machine does for a while slows all of them down.
    """
    found = [[] for _ in scenarios]
    for _ in range(30):
        for times, scenario in zip(found, scenarios, strict=True):
            simulation = _core.Simulation(scenario.handle)
            started = time.process_time()
            while not simulation.advance(10.0):
                pass
            times.append(time.process_time() - started)
    return map(min, found)


def times_of_engine(*, compiled):
    """Return the run time of AIMD in Python as a multiple of that of the engine's AIMD."""
    python = Scenario.load("own/aimd").set("record", "none")
    engine = python.set("defaults.tcp.cc", "aimd")
    if compiled:
        python = python.set("defaults.tcp.cc.compile", True)
    of_python, of_engine = cpu_s(python, engine)
    return of_python / of_engine


def main():
    """Print what was measured."""
    print(f"a call: {overhead_us():.2f} us above the engine's own algorithms")
    print(f"AIMD:   {times_of_engine(compiled=False):.1f} times the run time of the engine's")
    print(f"  compiled: {times_of_engine(compiled=True):.1f} times")


if __name__ == "__main__":
    main()
