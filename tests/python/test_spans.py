"""Tables of a span of a run, shares, harm, and differences seed by seed."""

import json
import math

import numpy as np
import pytest

from ackclock import Scenario, metrics, run
from ackclock.columns import Column
from ackclock.errors import InputError
from ackclock.tables import ResultTable, of_records, paired


def _network(flows, seconds=20, **bottleneck):
    """A dumbbell of 10 Mbps; the second flow, where there is one, starts at 8 s."""
    return Scenario.from_dict(
        {
            "name": "tests/span",
            "topology": {
                "kind": "dumbbell",
                "leaves": len(flows),
                "access": {"rate": "100 Mbps", "delay": "1 ms"},
                "bottleneck": {"rate": "10 Mbps", "delay": "10 ms", **bottleneck},
            },
            "flows": [
                {"id": f"F{i}", "from": f"S{i}", "to": f"D{i}", "start": f"{8 * i - 8} s", **flow}
                for i, flow in enumerate(flows, 1)
            ],
            "stop": {"when": "time", "at_latest": f"{seconds} s"},
        }
    )


_CBR = {"udp": {"source": {"kind": "cbr", "rate": "1 Mbps", "write": "1000 B"}}}


@pytest.fixture(scope="module")
def shared():
    return run(_network([{"tcp": {"cc": "reno"}}, {"tcp": {"cc": "reno"}}]))


def test_a_source_of_constant_rate_has_constant_delay_and_no_jitter():
    """1000 B over an idle path: transmissions and propagation, nothing else."""
    row = of_records({"": run(_network([_CBR]))}, "steady", 2.0, 12.0).rows()[0]
    bits = 8 * 1000
    assert row["delay_s_mean"] == pytest.approx(0.012 + 2 * bits / 100e6 + bits / 10e6, abs=2e-9)
    assert row["delay_s_max"] - row["delay_s_min"] <= 1e-9
    assert row["jitter_s_max"] <= 1e-9
    assert row["packets_received"] == row["packets_sent"] == 1250
    assert row["goodput_variation"] == pytest.approx(0, abs=1e-9)
    assert row["loss_share"] == 0


def test_a_warm_up_is_cut_off(shared):
    """Before the second flow starts the first shares the link with nobody."""
    before = of_records({"": shared}, "sharing", 2.0, 8.0).rows()[0]
    after = of_records({"": shared}, "sharing", 14.0, 20.0).rows()[0]
    assert (before["flows"], after["flows"]) == (1, 2)
    assert before["fairness_jain"] == before["least_to_largest"] == 1
    assert after["fairness_jain"] > 0.8
    assert after["least_to_largest"] < 1
    assert before["harmonic_mean_bps"] == pytest.approx(before["goodput_bps"])
    assert after["geometric_mean_bps"] <= after["goodput_bps"] / 2
    assert after["harmonic_mean_bps"] <= after["geometric_mean_bps"]


def test_the_span_of_a_whole_run_has_the_figures_of_the_summary(shared):
    rows = {row["flow"]: row for row in of_records({"": shared}, "steady").rows()}
    for name, flow in shared.summary["flows"].items():
        assert rows[name]["packets_sent"] == flow["segments_sent"]
        assert rows[name]["packets_lost"] == flow["segments_dropped"]
        assert rows[name]["rtt_s_mean"] == pytest.approx(flow["rtt_s"]["mean"], rel=1e-6)
        seconds = shared.summary["end_s"]
        arrived = rows[name]["goodput_bps"] * seconds / 8
        # Bytes behind a hole have arrived and are not in order.
        assert 0 <= arrived - flow["bytes_delivered"] < 200 * 1448


def _link(flows, seconds=10.0, **link):
    """One link of 10 Mbps between A and B, over which all flows go."""
    return run(
        Scenario.from_dict(
            {
                "name": "tests/link",
                "hosts": ["A", "B"],
                "links": [
                    {"id": "L", "between": ["A", "B"], "rate": "10 Mbps", "delay": "10 ms", **link}
                ],
                "flows": [
                    {"id": f"F{i}", "from": "A", "to": "B", **flow} for i, flow in enumerate(flows)
                ],
                "stop": {"when": "time", "at_latest": f"{seconds} s"},
            }
        )
    )


def _steady(results, column, *span):
    return of_records({"": results}, "steady", *span).values(column)


def test_the_span_of_a_whole_run_has_what_is_sent_at_its_start():
    flows = [{**_CBR, "send": "3000 B"}, {"tcp": {"sender": "classic"}, "send": "14600 B"}]
    results = _link(flows)
    sent = [flow["segments_sent"] for flow in results.summary["flows"].values()]
    assert sent == [3, 10]
    for span in ((), (0.0,)):
        assert _steady(results, "packets_sent", *span) == sent
        assert _steady(results, "packets_received", *span) == sent
    # A span that begins later is open there.
    first = results.table("packets").to_pylist()
    second_s = min(p["time_s"] for p in first if p["flow"] == "F0" and p["seq"] == 1)
    assert _steady(results, "packets_sent", second_s)[0] == 1


@pytest.mark.parametrize("sender", ["modern", "classic", "selective-repeat"])
def test_a_last_segment_that_is_shorter_counts_as_what_it_is(sender):
    flow = {"tcp": {"sender": sender}, "start": "1 ms"}
    results = _link([{**flow, "send": "1 B"}, {**flow, "send": "20001 B"}])
    assert _steady(results, "goodput_bps") == [8 / 10, 8 * 20001 / 10]


@pytest.mark.parametrize("sender", ["classic", "selective-repeat"])
def test_data_that_only_arrive_as_a_copy_have_arrived(sender):
    """The link duplicates each packet and damages some: of some only the copy arrives."""
    flow = {"tcp": {"sender": sender}, "send": "146 kB"}
    results = _link([flow], duplication=1, corruption=0.3)
    assert results.summary["flows"]["F0"]["bytes_delivered"] == 146000
    assert _steady(results, "goodput_bps") == [8 * 146000 / 10]


@pytest.mark.parametrize(
    "link",
    [
        {"rate": {"kind": "table", "steps": [["0 s", "1 Mbps"], ["1 s", "10 Mbps"]]}},
        {"queue": {"kind": "tbf", "rate": "5 Mbps", "burst": "3 kB"}},
        {"queue": {"kind": "policer", "rate": "5 Mbps", "burst": "30 kB"}},
        {"queue": {"kind": "cake", "rate": "5 Mbps"}},
    ],
)
def test_only_constant_rates_have_a_max_min_share(link):
    flow = {"tcp": {"cc": "reno"}}
    assert of_records({"": _link([flow], 1.0, **link)}, "sharing").values("max_min_share") == [None]
    assert of_records({"": _link([flow], 1.0)}, "sharing").values("max_min_share")[0] < 1


def test_histograms_count_each_packet_once(shared):
    made = of_records({"": shared}, "delays", 5.0, 15.0).rows()
    steady = {r["flow"]: r for r in of_records({"": shared}, "steady", 5.0, 15.0).rows()}
    for flow, row in steady.items():
        bins = [r for r in made if r["flow"] == flow and r["quantity"] == "delay"]
        assert sum(b["packets"] for b in bins) == row["packets_received"]
        assert bins[0]["from_s"] == row["delay_s_min"]
        assert bins[-1]["to_s"] == pytest.approx(row["delay_s_max"])


def test_shares_are_those_of_their_sources():
    assert metrics.alpha_mean([2.0, 8.0], 1) == pytest.approx(4.0)
    assert metrics.alpha_mean([0.0, 8.0], 2) == 0.0
    assert metrics.alpha_mean([], 1) is None
    with pytest.raises(ValueError, match="-1"):
        metrics.alpha_mean([1.0], -1)
    # A parking lot: the long flow and the short ones halve each link.
    fair = metrics.max_min({1: 10.0, 2: 10.0, 3: 4.0}, [[1, 2, 3], [1], [2], [3]])
    assert fair.tolist() == [2.0, 8.0, 8.0, 2.0]
    assert metrics.harm(0.0, 0.0, more_is_better=False) == 0.0
    assert metrics.harm(0.0, 1.0, more_is_better=True) is None
    assert metrics.harm(0.0, 0.1, more_is_better=False) == 1.0
    assert metrics.harm(8.0, 10.0, more_is_better=True) < 0


def test_convergence_is_the_end_of_the_first_even_time():
    def shares(from_s, to_s):
        late = max(0.0, to_s - max(from_s, 5.0))
        return [to_s - from_s, late]

    # Even at 2 to 1: half of the two seconds past lie after 5 s.
    assert metrics.even_after(shares, 1.0, 20.0) == pytest.approx(5.0)
    assert metrics.even_after(shares, 1.0, 5.5) is None


def test_a_flow_that_never_started_has_no_harm(ackclock):
    document = ("--set", "flows.bbr.start=5 s", "--set", "stop.at_latest=1 s")
    done = ackclock("table", "teach/cubic-bbr", *document, "--what", "harm", "--json")
    rows = {row["flow"]: row for row in json.loads(done.out)["rows"]}
    assert rows["cubic"]["goodput_bps_harm"] == 0
    assert not {name for name, value in rows["bbr"].items() if value is not None} - {
        "flow",
        "label",
    }


def test_harm_is_measured_against_each_flow_alone(ackclock):
    short = ("--set", "stop.at_latest=20 s")
    done = ackclock("table", "teach/cubic-bbr", *short, "--what", "harm", "--json")
    rows = {row["flow"]: row for row in json.loads(done.out)["rows"]}
    cubic = rows["cubic"]
    assert cubic["goodput_bps_harm"] == pytest.approx(
        1 - cubic["goodput_bps_beside"] / cubic["goodput_bps_alone"]
    )
    assert cubic["goodput_bps_harm"] > 0.3
    assert rows["bbr"]["rtt_s_harm"] > 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--from", "3"], "--what steady"),
        (["--what", "harm", "--from", "3"], "whole runs"),
        (["--what", "steady", "--from", "900"], "it lasts 1 s"),
        (["--what", "flows", "--against", "cc=reno"], "--against needs --by"),
    ],
)
def test_refusals_say_what_to_do(arguments, words, ackclock):
    done = ackclock("table", "teach/sawtooth", "--set", "stop.at_latest=1 s", *arguments)
    assert done.code == 2
    assert words in done.err


def test_a_run_without_packets_is_refused():
    results = run(_network([_CBR], seconds=1).set("record", "none"))
    with pytest.raises(InputError, match="record 'packets'"):
        of_records({"": results}, "steady")


def _runs(**cells):
    kinds = {str: "word", int: "count", float: "real"}
    columns = tuple(Column(n, n, kinds[type(v[0])]) for n, v in cells.items())
    return ResultTable(columns, cells)


def test_differences_are_taken_seed_by_seed():
    """Noise that is common to both settings leaves no trace in the interval."""
    noise = [0.0, 50.0, -20.0, 7.0]
    made = _runs(
        cc=["a"] * 4 + ["b"] * 4,
        seed=[1, 2, 3, 4] * 2,
        goodput_bps=[100.0 + n for n in noise] + [103.0 + n for n in noise],
    )
    (row,) = paired(made, ["cc"], ["goodput_bps"], ("cc", "a")).rows()
    assert (row["cc"], row["pairs"], row["goodput_bps_difference"]) == ("b", 4, 3.0)
    assert row["goodput_bps_difference_low"] == row["goodput_bps_difference_high"] == 3.0
    assert math.isclose(np.mean(noise), 9.25)


def test_differences_over_a_sample_are_taken_point_by_point():
    rates = ["1 Mbps", "7 Mbps", "3 Mbps"]
    made = _runs(
        cc=["a"] * 3 + ["b"] * 3,
        rate=rates + rates[::-1],
        seed=[1] * 6,
        goodput_bps=[10.0, 70.0, 30.0, 32.0, 72.0, 12.0],
    )
    (row,) = paired(made, ["cc"], ["goodput_bps"], ("cc", "a"), ["rate"]).rows()
    assert (row["pairs"], row["goodput_bps_difference"]) == (3, 2.0)
    assert row["goodput_bps_difference_low"] == row["goodput_bps_difference_high"] == 2.0
    # Named, the points are rows of their own.
    each = paired(made, ["cc", "rate"], ["goodput_bps"], ("cc", "a"), ["rate"])
    assert [row["goodput_bps_difference"] for row in each.rows()] == [2.0, 2.0, 2.0]


def test_what_is_not_a_pair_is_refused():
    made = _runs(cc=["a", "a", "b"], seed=[1, 1, 1], goodput_bps=[1.0, 2.0, 3.0])
    with pytest.raises(InputError, match="several runs have the seed 1"):
        paired(made, ["cc"], ["goodput_bps"], ("cc", "a"))
    with pytest.raises(InputError, match="--by has to name"):
        paired(made, ["seed"], ["goodput_bps"], ("cc", "a"))
