"""DualPI2 and Prague: the low-latency queue beside the classic one (RFC 9332)."""

import pytest
from test_congestion_laws import one_link

import ackclock

RECORD = ("transmissions", "marks", "drops")


def share(first, second, *, rate="40 Mbps", delay="4 ms", **queue):
    """Run two flows over DualPI2; return their rates, and mean and 99 % of their waits in ms."""
    link = {"rate": rate, "delay": delay, "queue": {"kind": "dualpi2", **queue}}
    document = {
        "topology": {
            "kind": "dumbbell",
            "leaves": 2,
            "access": {"rate": "1 Gbps", "delay": "0.5 ms"},
            "bottleneck": link,
        },
        "flows": [
            {"id": f"F{i}", "from": f"S{i}", "to": f"D{i}", "tcp": tcp}
            for i, tcp in ((1, first), (2, second))
        ],
        "stop": {"when": "time", "at_latest": "30 s"},
        "record": dict.fromkeys(RECORD, "changes"),
    }
    results = ackclock.run(ackclock.Scenario.from_dict(document))
    table = results.table("transmissions").to_pandas()
    mine = table[(table.link == "bottleneck") & (table.direction == "forward") & (table.time_s > 5)]
    found = []
    for flow in ("F1", "F2"):
        sent = mine[mine.flow == flow]
        waits = (sent.time_s - sent.entered_s) * 1e3
        found.append((sent.bytes.sum() * 8 / 25e6, waits.mean(), waits.quantile(0.99)))
    return results, *found


@pytest.mark.slow
@pytest.mark.parametrize("classic", ["linux-cubic", "linux-reno"])
@pytest.mark.parametrize("ecn", [False, True])
def test_prague_waits_for_less_than_a_millisecond_at_the_rate_of_its_neighbour(classic, ecn):
    """RFC 9332 section 1.4: delay below 1 ms in L, and rates that are about equal."""
    results, prague, other = share("prague", {"preset": classic, "ecn": ecn})
    # Windows are as 2 / (k p') to 1.22 / p'; C waits for 15 ms more, so that Prague has at most
    # (10 + 15) / 10 · 0.82 = 2 times the rate.
    assert 0.7 < prague[0] / other[0] < 2.1
    assert prague[0] + other[0] > 0.95 * 40
    assert prague[1] < 0.5
    assert prague[2] < 1.1
    assert other[1] == pytest.approx(15, rel=0.2)
    # Nobody of L is dropped; C is marked where it can be.
    drops = results.table("drops").to_pandas()
    assert set(drops.flow) == (set() if ecn else {"F2"})
    marks = results.table("marks").to_pandas()
    assert set(marks.flow) == ({"F1", "F2"} if ecn else {"F1"})


def test_marks_of_low_are_the_coupled_root_of_drops_of_classic():
    """p_C = (p_L / k)²: RFC 9332 equation (1), over a run, of which the step has no part."""
    results, _, _ = share("prague", "linux-reno", rate="20 Mbps", step="50 ms")
    # The steady part: from 5 s on.
    sent = results.table("transmissions").to_pandas()
    sent = sent[(sent.link == "bottleneck") & (sent.direction == "forward") & (sent.time_s > 5)]
    counts = sent.groupby("flow").size()
    marks = results.table("marks").to_pandas()
    drops = results.table("drops").to_pandas()
    marked = (marks[marks.time_s > 5].flow == "F1").sum() / counts["F1"]
    dropped = (drops[drops.time_s > 5].flow == "F2").sum() / counts["F2"]
    # The mean of a square is above the square of the mean.
    assert (marked / 2) ** 2 < 1.2 * dropped
    assert dropped < 2.5 * (marked / 2) ** 2


def test_two_pragues_alone_are_held_by_the_step():
    results, first, second = share("prague", "prague")
    assert first[0] / second[0] == pytest.approx(1, abs=0.35)
    assert first[0] + second[0] > 0.95 * 40
    assert max(first[2], second[2]) < 1.6
    marks = results.table("marks").to_pandas()
    assert (marks.reason == "threshold").mean() > 0.95


@pytest.mark.slow
def test_classic_flows_alone_wait_for_the_target():
    _, first, second = share("linux-reno", "linux-reno", delay="9 ms")
    assert (first[1] + second[1]) / 2 == pytest.approx(15, rel=0.2)


def test_the_older_head_goes_first_with_the_shifted_fifo():
    _, prague, other = share("prague", "linux-cubic", scheduler="shifted-fifo")
    assert prague[2] < 1.5
    assert 0.7 < prague[0] / other[0] < 2.1


@pytest.mark.slow
def test_below_25_ms_rates_do_not_depend_on_round_trip_times():
    """Growth is scaled with the square of the round-trip time: 5 and 20 ms get about the same."""
    ratios = []
    for after in (0, 1_000_000):
        cc = {"kind": "prague", "independent_after": after}
        document = {
            "hosts": ["A", "B", "C", "D"],
            "routers": ["R", "T"],
            "defaults": {"link": {"rate": "1 Gbps", "queue": {"limit": "unlimited"}}},
            "links": [
                {"id": "a", "between": ["A", "R"], "delay": "0.5 ms"},
                {"id": "b", "between": ["B", "R"], "delay": "8 ms"},
                {
                    "id": "L",
                    "between": ["R", "T"],
                    "rate": "40 Mbps",
                    "delay": "1 ms",
                    "forward": {"queue": {"kind": "dualpi2"}},
                },
                {"id": "c", "between": ["T", "C"], "delay": "1 ms"},
                {"id": "d", "between": ["T", "D"], "delay": "1 ms"},
            ],
            "flows": [
                {"id": "near", "from": "A", "to": "C", "tcp": {"preset": "prague", "cc": cc}},
                {"id": "far", "from": "B", "to": "D", "tcp": {"preset": "prague", "cc": cc}},
            ],
            "stop": {"when": "time", "at_latest": "40 s"},
            "record": "none",
        }
        flows = ackclock.run(ackclock.Scenario.from_dict(document)).summary["flows"]
        ratios.append(flows["near"]["goodput_bps"] / flows["far"]["goodput_bps"])
    # By the window of 2 / p alone the near one has four times the rate.
    assert ratios[0] < 1.7 < 2.3 < ratios[1]


@pytest.mark.parametrize(
    ("setting", "word"), [({"shift": "10 ms"}, "shift"), ({"coupling": 0}, "coupling")]
)
def test_settings_without_effect_are_refused(setting, word):
    with pytest.raises(ackclock.ScenarioError, match=word):
        one_link(10, 10, "prague", queue={"kind": "dualpi2", **setting})
