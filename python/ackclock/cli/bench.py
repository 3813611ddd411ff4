"""`ackclock bench`."""

from __future__ import annotations

import json

import typer


def bench(
    workload: str,
    size: str,
    seconds: float,
    sender: str = "newreno",
    queue: str = "droptail",
    record: str = "none",
    threads: int = 1,
    only_document: bool = False,
) -> None:
    """Run a benchmark of any size and print its cost as one line of JSON.

    To compare simulators use ns_per_hop: nanoseconds of CPU time per packet transmitted by a link.
    The work is the same if the counts of data packets (sent, acked, drops) are; docs/performance.md
    has those of other simulators. Times depend on the machine and its load, so interleave the runs
    that you compare.

    [bold]Examples[/bold]

    [cyan]ackclock bench dumbbell 100 6[/cyan]

    [cyan]ackclock bench dumbbell 100 6 --sender cubic --queue fq-codel --record cwnd[/cyan]

    [cyan]ackclock bench clos 8x4x8 0.02[/cyan]

    [cyan]ackclock bench clos 32x16x32 0.01 --threads 2[/cyan]
    """
    from ackclock.bench import document, measure

    made = document(workload, size, seconds, sender=sender, queue=queue, record=record)
    if only_document:
        typer.echo(json.dumps(made))
        return
    head = {"sim": "ackclock", "w": workload, "n": size, "T": seconds}
    options = {} if workload == "chain" else {"sender": sender, "queue": queue}
    typer.echo(json.dumps({**head, **options, "record": record, **measure(made, threads)}))
