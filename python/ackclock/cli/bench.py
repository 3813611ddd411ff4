"""`ackclock bench`."""

from __future__ import annotations

from typing import Annotated

import typer

from ackclock.cli.options import ThreadsOption


def bench(
    workload: Annotated[str, typer.Argument(metavar="WORKLOAD", help="dumbbell, chain or clos.")],
    size: Annotated[
        str,
        typer.Argument(
            metavar="N",
            help="Flows of the dumbbell, chains, or LEAVESxSPINESxHOSTS of the clos, with "
            "the hosts of each leaf.",
        ),
    ],
    seconds: Annotated[float, typer.Argument(metavar="T", help="Simulated seconds.")],
    sender: Annotated[
        str,
        typer.Option(
            "--sender",
            metavar="WORD",
            help="newreno (classic), cubic or bbr (modern).",
        ),
    ] = "newreno",
    queue: Annotated[
        str,
        typer.Option(
            "--queue",
            metavar="WORD",
            help="droptail, codel or fq-codel: of the bottleneck, or of all links of the clos.",
        ),
    ] = "droptail",
    record: Annotated[
        str,
        typer.Option(
            "--record",
            metavar="WORD",
            help="none, cwnd (windows and round-trip times) or all.",
        ),
    ] = "none",
    threads: ThreadsOption = 1,
    only_document: Annotated[
        bool,
        typer.Option("--document", help="Print the scenario instead of running it."),
    ] = False,
) -> None:
    """Run a benchmark of any size and print what it cost, as one line of JSON.

    The cost that compares simulators is ns_per_hop: nanoseconds of CPU for a packet that one
    link transmits. The work is the same as long as the counts of data packets (sent, acked,
    drops) are; docs/performance.md has those of other simulators. Time depends on the machine
    and on what else it does: run in turn what is to be compared.

    [bold]Examples[/bold]

    [cyan]ackclock bench dumbbell 100 6[/cyan]

    [cyan]ackclock bench dumbbell 100 6 --sender cubic --queue fq-codel --record cwnd[/cyan]

    [cyan]ackclock bench clos 8x4x8 0.02[/cyan]

    [cyan]ackclock bench clos 32x16x32 0.01 --threads 2[/cyan]
    """
    import json

    from ackclock.bench import document, measure

    made = document(workload, size, seconds, sender=sender, queue=queue, record=record)
    if only_document:
        typer.echo(json.dumps(made))
        return
    head = {"sim": "ackclock", "w": workload, "n": size, "T": seconds}
    options = {} if workload == "chain" else {"sender": sender, "queue": queue}
    typer.echo(json.dumps({**head, **options, "record": record, **measure(made, threads)}))
