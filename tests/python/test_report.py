"""Reports: what is in the page, that it is the same each time, and what cannot be reported."""

import hashlib
import re
from pathlib import Path

import lab_runs
import numpy as np
import pytest
from report_runs import FIVE, Page, scenario
from typer.testing import CliRunner

import ackclock
from ackclock import report
from ackclock.cli.app import application
from ackclock.report import packets
from ackclock.report.cut import Grid, changes, cut, fitted
from ackclock.report.pack import Pack

FOLDER = Path(report.__file__).parent


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "five"
    return ackclock.run(scenario(8), directory=folder)


@pytest.fixture(scope="module")
def page(run, tmp_path_factory):
    place = report.write([run], tmp_path_factory.mktemp("page") / "report.html")
    return Page(place.read_text(encoding="utf-8"))


def rows_of(table, **where):
    keep = np.ones(len(table), bool)
    for column, wanted in where.items():
        keep &= np.array(table[column].to_pylist()) == wanted
    return keep


# Cutting


def noise(rows, seed=1):
    draw = np.random.default_rng(seed)
    return np.sort(draw.random(rows) * 60), draw.normal(100, 10, rows)


@pytest.mark.parametrize("level", [0, 3, 7, 11])
def test_a_cut_keeps_first_least_greatest_and_last_of_each_bin(level):
    times, values = noise(50_000)
    grid = Grid(60.0, level)
    kept_times, kept = cut((times, values), grid)
    bins, kept_bins = grid.of(times), grid.of(kept_times)
    assert set(bins) == set(kept_bins)
    for number in np.unique(bins)[:200]:
        whole, part = values[bins == number], kept[kept_bins == number]
        assert (part.min(), part.max()) == (whole.min(), whole.max())
        assert (part[0], part[-1]) == (whole[0], whole[-1])
        assert len(part) <= 4 or len(part) == len(whole)
    assert (kept_times[0], kept_times[-1]) == (times[0], times[-1])


def test_a_cut_gives_rows_of_the_series_in_order_of_time():
    times, values = noise(20_000)
    kept_times, kept = cut((times, values), Grid(60.0, 9))
    assert (np.diff(kept_times) >= 0).all()
    assert set(zip(kept_times, kept, strict=True)) <= set(zip(times, values, strict=True))


def test_cutting_a_cut_is_cutting_the_series():
    series = noise(50_000)
    coarse = Grid(60.0, 8, (20.0, 23.0))
    twice = cut(cut(series, Grid(60.0, 4, (20.0, 23.0))), coarse)
    once = cut(series, coarse)
    assert np.array_equal(twice, once)


def test_bins_are_in_order_whatever_the_window():
    times = np.linspace(0, 60, 100_000)
    for level in range(13):
        for window in ((0.0, 0.0), (0.0, 1.3), (31.7, 33.333), (59.0, 60.0)):
            assert (np.diff(Grid(60.0, level, window).of(times)) >= 0).all()


def test_the_window_keeps_more():
    kept, grid = fitted([noise(200_000)], Grid(60.0, 0, (20.0, 23.0)), 5000)
    times = kept[0][0]
    assert len(times) <= 5000
    assert grid.level > 3
    within = ((times >= 20) & (times < 23)).sum() / 3
    assert within > 4 * ((times < 20).sum() / 20)


def test_changes_leave_out_what_stays():
    times, values = changes((np.arange(6.0), np.array([1.0, 1, 2, 2, 2, 1])))
    assert times.tolist() == [0, 2, 5]
    assert values.tolist() == [1, 2, 1]


@pytest.mark.parametrize("values", [[], [0], [5, 3, 3, 900, 0], [-1, 1 << 40, 7]])
def test_packed_whole_numbers_come_out_as_they_went_in(values):
    pack = Pack()
    pack.integers(np.array([7, 8]))
    at = pack.integers(np.array(values, np.int64))
    text = f'<script type="text/plain" id="data">{pack.written({})}</script>'
    assert Page(text).integers(at).tolist() == values


# The page


def test_curves_reach_as_high_and_as_low_as_the_records(page, run):
    flows = [flow["id"] for flow in page.document["runs"][0]["flows"]]
    for number, name in enumerate(flows):
        size = run.model["flows"][number]["tcp"]["segment_bytes"]
        table = run.table("cwnd")
        windows = table["cwnd_bytes"].to_numpy()[rows_of(table, flow=name)] / size
        _, shown = page.curve(0, "window", number)
        assert shown.max() == pytest.approx(windows.max(), abs=0.01)
        assert shown.min() == pytest.approx(windows.min(), abs=0.01)
        rtt = run.table("rtt")["rtt_s"].to_numpy()[rows_of(run.table("rtt"), flow=name)]
        _, shown = page.curve(0, "rtt", number)
        assert shown.max() == pytest.approx(rtt.max(), rel=1e-4)
        assert shown.min() == pytest.approx(rtt.min(), rel=1e-3)


def test_the_load_of_a_link_is_of_what_it_could_carry_then(tmp_path):
    steps = [["0 s", "20 Mbps"], ["1.0003 s", "1 Mbps"]]
    rate = {"kind": "table", "steps": steps, "repeat": "2 s"}
    links = [{"id": "L", "between": ["A", "B"], "delay": "10 ms", "forward": {"rate": rate},
              "backward": {"rate": "20 Mbps"}}]  # fmt: skip
    source = {"source": {"kind": "cbr", "rate": "40 Mbps"}}
    run = ackclock.run(
        ackclock.Scenario.from_dict(
            {
                "name": "steps",
                "hosts": ["A", "B"],
                "links": links,
                "flows": [{"id": "F", "from": "A", "to": "B", "udp": source}],
                "stop": {"when": "time", "at_latest": "3 s"},
            }
        )
    )
    page = Page(report.write(run, tmp_path / "page.html").read_text(encoding="utf-8"))
    told = page.document["runs"][0]
    assert [lane["rate"] for lane in told["lanes"]] == [20_000_000]
    (capacity,) = told["curves"]["capacity"]
    (load,) = told["curves"]["load"]
    offered, sent = page.integers(capacity["bytes"]), page.integers(load["bytes"])
    assert offered.sum() == pytest.approx((2.0003 * 20e6 + 0.9997 * 1e6) / 8, abs=2)
    # From the first packet on it is always full, in each window.
    assert np.abs(offered - sent)[1:].max() <= 1


@pytest.mark.slow
def test_bytes_in_windows_are_those_that_arrived(page, run):
    told = page.document["runs"][0]
    for entry in told["curves"]["rate"]:
        counts = page.integers(entry["bytes"])
        table = run.table("packets")
        name = told["flows"][entry["of"]]["id"]
        mine = rows_of(table, flow=name, event="received", kind="data")
        assert counts.sum() == table["bytes"].to_numpy()[mine].sum()
        assert len(counts) == pytest.approx(told["end"] / told["width"])


def test_a_loss_says_its_rule_and_source(page):
    moments = page.document["runs"][0]["moments"]
    cut = next(m for m in moments if m["kind"] == "recovery" and m["of"] == 0)
    assert cut["why"] == [
        "Loss: recovery starts with ssthresh from CUBIC. RFC 6675 section 5. "
        "CUBIC: decrease 0.7. RFC 9438 4.6"
    ]
    assert cut["ssthresh"][1] == pytest.approx(0.7 * cut["cwnd"][0], abs=1)


@pytest.mark.slow
def test_the_timeout_of_a_syn_is_an_event_without_a_rule(tmp_path):
    loss = {"forward": {"loss": {"kind": "packets", "numbers": [1], "at": "entry"}}}
    run = lab_runs.run(lab_runs.scenario(1, "10 kB", {"sender": "modern", "cc": "reno"}, loss))
    page = Page(report.write([run], tmp_path / "syn.html").read_text(encoding="utf-8"))
    (moment,) = page.document["runs"][0]["moments"]
    assert (moment["kind"], moment["why"]) == ("timeout", [])
    assert moment["text"] == ["Timeout: the SYN is presumed lost"]


def test_packets_in_motion_are_those_of_the_records(page, run):
    packets = page.document["runs"][0]["packets"]
    table = run.table("transmissions")
    entered, arrival = table["entered_s"].to_numpy(), table["arrival_s"].to_numpy()
    sent = ((entered <= packets["to"]) & (arrival >= packets["from"])).sum()
    dropped = run.table("drops")
    at, came = dropped["time_s"].to_numpy(), dropped["entered_s"].to_numpy()
    lost = ((at >= packets["from"]) & (came <= packets["to"])).sum()
    gone = page.integers(packets["columns"]["gone"])
    assert (gone >= 0).sum() == lost > 0
    assert len(gone) == sent + lost + (0 if packets["to"] < 8 else len(run.table("waiting")))
    assert packets["from"] <= at.min() <= packets["to"]


def test_a_long_animation_ends_where_it_would_be_too_large(run, tmp_path, monkeypatch):
    monkeypatch.setattr(packets, "MOST", 5000)
    text = report.write([run], tmp_path / "a.html", animate=(1.0, 8.0)).read_text(encoding="utf-8")
    shown = Page(text).document["runs"][0]["packets"]
    assert shown["cut"]
    assert shown["from"] == 1.0 < shown["to"] < 8.0
    assert 4500 < shown["columns"]["came"][1] <= 5000


@pytest.mark.slow
def test_the_same_records_give_the_same_bytes(run, tmp_path):
    again = ackclock.run(scenario(8), directory=tmp_path / "again" / "five")
    digests = [
        hashlib.sha256(report.write([which], tmp_path / name).read_bytes()).hexdigest()
        for which, name in (
            (run, "a.html"),
            (ackclock.Results.load(run.directory), "b.html"),
            (again, "c.html"),
        )
    ]
    assert len(set(digests)) == 1


def test_the_page_asks_nobody_for_anything(run, tmp_path):
    text = report.write([run], tmp_path / "report.html").read_text(encoding="utf-8")
    assert "default-src 'none'" in text
    outside = re.sub(r"(//|/\*!|xmlns=|SVG = )\S*.*", "", text)
    assert not re.search(r"""(src|href)=["']?https?:|@import|url\(|fetch\(""", outside)


@pytest.mark.slow
def test_runs_side_by_side_have_names_and_units_in_common(run, tmp_path):
    slow = ackclock.run(
        scenario(8).set("links.bottleneck.rate", "5 Mbps"), directory=tmp_path / "x" / "five"
    )
    text = report.write([run, slow], tmp_path / "two.html").read_text(encoding="utf-8")
    page = Page(text)
    assert [told["name"] for told in page.document["runs"]] == [
        str(run.directory),
        str(slow.directory),
    ]
    assert page.document["units"]["rate"]["name"] == "Mbps"
    assert text.count("<th") > 20
    assert str(slow.summary["digest"]) in text


def test_tables_have_the_figures_of_the_summary(run, tmp_path):
    text = report.write([run], tmp_path / "report.html").read_text(encoding="utf-8")
    for flow in run.summary["flows"].values():
        assert f">{flow['goodput_bps'] / 1e6:.3f}<" in text
        assert f">{flow['retransmissions']}<" in text


def test_theory_stands_beside_the_run(tmp_path):
    fast = ackclock.run(ackclock.Scenario.load("caltech/test-case-0-fast"))
    text = report.write([fast], tmp_path / "fast.html").read_text(encoding="utf-8")
    assert re.search(r"Theory and run agree in (\d+) of \1 figures", text)
    assert "Rate, theory (Mibps)" in text
    assert '<details class="asked"><summary>Expectation</summary>' in text


def test_vendored_files_are_what_was_published():
    folder = FOLDER / "vendor" / "uplot"
    sums = re.findall(r"^([0-9a-f]{64})  (\S+)$", (folder / "SHA256SUMS").read_text(), re.M)
    assert len(sums) == 3
    for expected, name in sums:
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == expected


@pytest.mark.slow
def test_sixty_seconds_of_five_flows_stay_below_a_megabyte(tmp_path):
    long = ackclock.run(scenario(60))
    place = report.write([long], tmp_path / "report.html")
    assert place.stat().st_size < 1_000_000


@pytest.mark.slow
def test_a_page_that_would_be_too_large_is_coarser_and_says_so(run, tmp_path, monkeypatch):
    whole = report.write([run], tmp_path / "whole.html", animate=(0.0, 8.0))
    size = whole.stat().st_size
    assert "Finer data" not in whole.read_text(encoding="utf-8")
    monkeypatch.setattr("ackclock.report.page.MOST_BYTES", size - 50_000)
    small = report.write([run], tmp_path / "small.html", animate=(0.0, 8.0))
    assert small.stat().st_size < size - 50_000
    assert "Finer data are left out" in small.read_text(encoding="utf-8")
    pages = [Page(place.read_text(encoding="utf-8")) for place in (whole, small)]
    counts = [page.document["runs"][0]["packets"]["columns"]["came"][1] for page in pages]
    assert counts[1] < 0.7 * counts[0]
    assert pages[1].document["runs"][0]["packets"]["cut"]


@pytest.mark.slow
def test_of_many_flows_the_busiest_are_shown_and_the_others_summed(tmp_path):
    flows = [{"id": "F", "count": 60, "from": "S*", "to": "D*"}]
    topology = {
        "kind": "dumbbell",
        "leaves": 60,
        "access": {"rate": "100 Mbps", "delay": "1 ms"},
        "bottleneck": {"rate": "10 Mbps", "delay": "5 ms", "queue": {"limit": "60 packets"}},
    }
    many = ackclock.run(scenario(1, flows=flows, topology=topology))
    text = report.write([many], tmp_path / "report.html").read_text(encoding="utf-8")
    told = Page(text).document["runs"][0]
    got = {name: flow["goodput_bps"] for name, flow in many.summary["flows"].items()}
    shown = [flow["id"] for flow in told["flows"]]
    others = [got[name] for name in got if name not in shown]
    assert len(shown) == 40 and min(got[name] for name in shown) >= max(others)
    first = [flow["id"] for flow in told["flows"] if flow["shown"]]
    assert len(first) == 12
    assert min(got[name] for name in first) >= max(got[name] for name in set(shown) - set(first))
    flows = many.summary["flows"]
    of_others = sum(flow["bytes_delivered"] for name, flow in flows.items() if name not in shown)
    share = of_others / sum(flow["bytes_delivered"] for flow in flows.values())
    said = f"40 of 60 flows are shown; there are 20 others, with {share:.0%} of the data. "
    assert told["others"] == said
    asked = report.write([many], tmp_path / "asked.html", flows=["F1", "F2"])
    told = Page(asked.read_text(encoding="utf-8")).document["runs"][0]
    assert [flow["shown"] for flow in told["flows"]] == [True, True]


# What cannot be reported


def command(*words):
    return CliRunner().invoke(application(["report"]), ["report", *map(str, words)])


def test_without_records_the_error_says_how_to_record(tmp_path):
    bare = ackclock.run(scenario(1, record="none"))
    with pytest.raises(ackclock.InputError, match=r"none of the records.*--set record=all"):
        report.write([bare], tmp_path / "report.html")
    assert not list(tmp_path.iterdir())


def test_without_packets_the_page_says_how_to_record_them(tmp_path):
    some = ackclock.run(scenario(2, record={"kind": "none", "cwnd": "changes"}))
    text = report.write([some], tmp_path / "report.html").read_text(encoding="utf-8")
    told = Page(text).document["runs"][0]
    assert "--set record.transmissions=changes" in told["withoutPackets"]
    assert told["lacking"]["rtt"] == "rtt"
    assert told["curves"]["window"]


@pytest.mark.slow
def test_another_file_is_replaced_only_when_told_to(run, tmp_path):
    place = tmp_path / "notes.html"
    place.write_text("my notes")
    with pytest.raises(
        ackclock.InputError, match=r"is not a report; `force` \(--force\) replaces it"
    ):
        report.write([run], place)
    assert place.read_text() == "my notes"
    report.write([run], place, force=True)
    report.write([run], place)
    assert "Ackclock report" in place.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--animate", "5:4"], "ends before it begins"),
        (["--animate", "5"], "write FROM:TO"),
        (["--animate", "9:10"], "the run ends at 8 s"),
        (["--flows", "F9"], "unknown flow 'F9'"),
        (["-o", "nowhere/report.html"], "there is no folder"),
    ],
)
def test_bad_input(run, words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = command(run.directory, *words)
    assert result.exit_code != 0
    assert message in f"{result.output}{result.exception}"
    assert not list(tmp_path.iterdir())


def test_the_command_writes_into_the_run_directory(run):
    result = command(run.directory, "--animate", "1:1.2", "--flows", "F1,F2")
    assert result.exit_code == 0
    page = Page((run.directory / "report.html").read_text(encoding="utf-8"))
    told = page.document["runs"][0]
    assert [flow["id"] for flow in told["flows"]] == ["F1", "F2"]
    assert (told["packets"]["from"], told["packets"]["to"]) == (1.0, 1.2)


def test_a_run_that_was_to_last_so_long_did_not_end_early(tmp_path):
    """Also if a transfer was not complete by then."""
    flows = [flow | {"send": "100 MB"} for flow in FIVE["flows"]]
    report.write([ackclock.run(scenario(2, flows=flows))], tmp_path / "time.html")
    assert "Ended early" not in (tmp_path / "time.html").read_text(encoding="utf-8")
    stop = {"when": "time", "at_latest": "2 s", "events": 999}
    report.write(
        [ackclock.run(ackclock.Scenario.from_dict(FIVE | {"stop": stop}))], tmp_path / "events.html"
    )
    assert "too-many-events" in (tmp_path / "events.html").read_text(encoding="utf-8")
