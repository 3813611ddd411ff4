"""Benchmark workloads: the same work as other simulators do, whatever sends, queues and records."""

import json

import pytest

from ackclock import Scenario, run
from ackclock.bench import document, measure
from ackclock.bench.workloads import COUNTS, MOST_DIFFERENCE, clos
from ackclock.cli.app import main


def command(monkeypatch, capsys, *arguments):
    monkeypatch.setattr("sys.argv", ["ackclock", "bench", *map(str, arguments)])
    with pytest.raises(SystemExit) as done:
        main()
    captured = capsys.readouterr()
    return done.value.code or 0, captured.out, captured.err


@pytest.mark.slow
@pytest.mark.parametrize(("workload", "size", "seconds"), COUNTS)
def test_the_work_is_that_of_other_simulators(workload, size, seconds):
    sent = measure(document(workload, size, seconds))["sent"]
    for simulator, count in COUNTS[workload, size, seconds].items():
        assert sent == pytest.approx(count, rel=MOST_DIFFERENCE), simulator


def test_a_chain_second_has_its_packets():
    figures = measure(document("chain", "2", 0.02))
    # What is under way at the end has not crossed all links.
    assert figures["sent"] == pytest.approx(2 * 750_000 * 0.02, rel=1e-3)
    assert figures["pkt_hops"] == pytest.approx(20 * 750_000 * 0.02, rel=5e-3)
    assert figures["drops"] == 0


def test_one_line_of_json_says_what_a_run_cost(monkeypatch, capsys):
    options = ["--sender", "cubic", "--queue", "fq-codel", "--record", "cwnd"]
    code, out, _ = command(monkeypatch, capsys, "dumbbell", 3, 2, *options)
    assert code == 0
    assert out.count("\n") == 1
    figures = json.loads(out)
    assert [figures[key] for key in ("sim", "w", "n", "T")] == ["ackclock", "dumbbell", "3", 2.0]
    assert figures["sender"] == "cubic"
    assert figures["sent"] >= figures["acked"] > 3000
    assert figures["cpu_s"] > 0
    assert figures["ns_per_hop"] == pytest.approx(
        1e9 * figures["cpu_s"] / figures["pkt_hops"], abs=0.1
    )


def test_the_document_of_a_workload_is_a_scenario(monkeypatch, capsys):
    code, out, _ = command(monkeypatch, capsys, "clos", "2x2x2", 0.001, "--document")
    assert code == 0
    assert len(Scenario.from_dict(json.loads(out)).flows) == 4


@pytest.mark.slow
@pytest.mark.parametrize("workload", ["dumbbell", "clos"])
def test_records_change_no_count(workload):
    size, seconds = {"dumbbell": ("3", 3), "clos": ("2x2x4", 0.004)}[workload]
    for sender, queue in (("newreno", "droptail"), ("bbr", "codel")):
        made = [
            document(workload, size, seconds, sender=sender, queue=queue, record=record)
            for record in ("none", "cwnd", "all")
        ]
        assert len({measure(each)["digest"] for each in made}) == 1, (sender, queue)


def test_where_nothing_happens_a_packet_has_no_cost():
    cost = measure(document("dumbbell", "3", 1e-9))
    assert (cost["pkt_hops"], cost["ns_per_hop"]) == (0, None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("dumbel", 1, 1), "did you mean 'dumbbell'"),
        (("dumbbell", 0, 1), "a whole number from 1"),
        (("clos", 64, 1), "LEAVESxSPINESxHOSTS"),
        (("clos", "1x1x1", 1), "LEAVESxSPINESxHOSTS"),
        (("dumbbell", 100_001, 1), "a whole number from 1 to 100000"),
        (("chain", "9" * 5000, 1), "a whole number from 1 to 100000"),
        (("clos", "1000x2x1000", 1), "3 to 100000 hosts"),
        (("clos", "2x100000x2", 1), "`100000` is too large"),
        (("dumbbell", 1, 0), "too short; allowed: 1 ns to"),
        (("dumbbell", 1, "inf"), "too long; allowed: 1 ns to"),
        (("chain", 1, 1, "--sender", "bbr"), "sources without feedback"),
        (("dumbbell", 1, 1, "--queue", "codell"), "did you mean 'codel'"),
    ],
)
def test_bad_input_is_reported(monkeypatch, capsys, arguments, message):
    code, out, error = command(monkeypatch, capsys, *arguments)
    assert (code, out) == (2, "")
    assert message in " ".join(error.split())


def test_the_paths_of_a_clos_are_those_of_its_hash():
    made = clos(2, 2, 2, 0.001)
    # mix(0) = 0xE220A8397B1DCDAF is odd, mix(4) = 0xF88BB8A8724C81EC even (SplitMix64 from 0).
    first = made["flows"][0]
    assert (first["to"], first["path"]) == ("H4", ["leaf1", "spine2", "leaf2"])
    result = run(Scenario.from_dict({**made, "record": "all"}))
    links = result.table("transmissions").to_pandas()
    data = links[(links["flow"] == "F1") & (links["kind"] == "data")]
    # Uplinks are numbered from leaf 1 to each spine, then from leaf 2.
    assert set(data["link"].astype(str)) == {"access1", "uplink2", "uplink4", "access4"}


@pytest.mark.slow
def test_large_networks_record_samples_unless_they_say_otherwise():
    made = document("dumbbell", "1001", 0.1)
    del made["record"]
    scenario = Scenario.from_dict(made)
    record = scenario.canonical["record"]
    assert record["kind"] == "sampled"
    assert (record["cwnd"], record["events"]) == ("every 500 us", "changes")
    assert record["packets"] == record["transmissions"] == "off"
    (warning,) = scenario.warnings
    assert "samples of 1001 flows are recorded, every 500 us" in warning.message
    # What is written out says so itself.
    assert Scenario.from_dict(scenario.canonical).warnings == ()
    everything = Scenario.from_dict({**made, "record": "all"})
    assert everything.warnings == ()
    assert everything.canonical["record"]["packets"] == "changes"
    smaller = document("dumbbell", "1000", 0.1)
    del smaller["record"]
    assert Scenario.from_dict(smaller).canonical["record"]["kind"] == "all"
    # A table that is named is added to the samples.
    more = Scenario.from_dict({**made, "record": {"drops": "changes"}})
    assert more.canonical["record"]["kind"] == "sampled"
    assert more.canonical["record"]["drops"] == "changes"
    assert len(more.warnings) == 1
