"""`ackclock demo`."""

from __future__ import annotations

from pathlib import Path

from ackclock.cli.terminal import console

_SCENARIO = "teach/sawtooth"


def demo(out: Path = Path("runs/demo")) -> None:
    """Run a first experiment, show its sawtooth, and suggest what to try next.

    One TCP flow uses a 10 Mbps link for 40 s. Its window grows until the buffer overflows, is
    halved, and grows again.
    """
    from ackclock import run
    from ackclock.cli.glance import print_glance
    from ackclock.cli.summary import print_summary
    from ackclock.scenario import Scenario

    scenario = Scenario.load(_SCENARIO)
    results = run(scenario, directory=out, other_settings=True)
    screen = console()
    print_summary(screen, results.summary, scenario.model, None, None)
    print_glance(screen, results)
    screen.print(
        "\nThe window grows by a packet each round trip, until the queue is full and a packet is "
        "dropped (x); then it is halved. That is the sawtooth of TCP."
    )
    screen.print(f"\n[bold]Written[/bold] to {out}/", soft_wrap=True)
    screen.print("\n[bold]Next[/bold]")
    for command, why in (
        (f"ackclock report {out} -o demo.html", "the same to zoom into, with packets in motion"),
        (f"ackclock step {_SCENARIO}", "one round trip at a time, with the reasons"),
        ("ackclock run teach/cubic-bbr", "CUBIC against BBR"),
        ("ackclock list scenario", "all experiments"),
    ):
        screen.print(f"  [cyan]{command}[/cyan]\n      {why}", soft_wrap=True)
