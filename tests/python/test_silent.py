"""Settings that can have no effect are refused; those that have none here are reported."""

from typing import Any

import pytest

from ackclock import Scenario, ScenarioError, run


def scenario(tcp: dict[str, Any], **link: Any) -> Scenario:
    path = {"id": "L", "between": ["A", "B"], "rate": "5 Mbps", "delay": "10 ms", **link}
    return Scenario.from_dict(
        {
            "name": "tests/silent",
            "hosts": ["A", "B"],
            "links": [path],
            "flows": [{"id": "F", "from": "A", "to": "B", "tcp": tcp}],
            "stop": {"when": "time", "at_latest": "5 s"},
            "record": "none",
        }
    )


@pytest.mark.parametrize(
    ("tcp", "place", "needs"),
    [
        ({"reads": "1 Mbps"}, "reads", "`receive_buffer`"),
        ({"receive_buffer": "20 kB"}, "receive_buffer", "`reads`"),
        ({"cc": {"kind": "fast", "period": "150 ms"}}, "cc.period", "`update: period`"),
        ({"cc": {"kind": "fast", "samples": 10}}, "cc.samples", "`averaging: samples`"),
    ],
)
def test_a_setting_that_needs_another_one_is_refused_without_it(
    tcp: dict[str, Any], place: str, needs: str
):
    with pytest.raises(ScenarioError) as caught:
        scenario(tcp)
    (problem,) = caught.value.problems
    name = place.split(".")[-1]
    assert problem.path == f"flows.F.tcp.{place}"
    assert problem.message == f"`{name}` has no effect without {needs}"


@pytest.mark.parametrize(
    ("with_it", "changed"),
    [
        ({"receive_buffer": "20 kB", "reads": "1 Mbps"}, {"reads": "2 Mbps"}),
        ({"cc": {"kind": "fast", "update": "period"}}, {"cc": {"period": "150 ms"}}),
        ({"cc": {"kind": "fast", "averaging": "samples"}}, {"cc": {"samples": 10}}),
    ],
)
def test_with_it_the_setting_changes_the_run(with_it: dict[str, Any], changed: dict[str, Any]):
    merged = {
        key: {**with_it.get(key, {}), **value} if isinstance(value, dict) else value
        for key, value in (with_it | changed).items()
    }
    first, second = (run(scenario(tcp)).summary["digest"] for tcp in (with_it, merged))
    assert first != second


LOSSES = {"loss": {"kind": "bernoulli", "p": 0.01}, "queue": {"limit": "15 packets"}}


@pytest.mark.parametrize(
    ("tcp", "link", "path"),
    [
        ({"pacing_burst": 4}, {}, "tcp.pacing_burst"),
        ({"cc": "bbr", "pacing": "window"}, {}, "tcp.pacing"),
        ({"cc": "vivace", "reduce": "pipe"}, {}, "tcp.reduce"),
        *(
            ({"cc": cc, "initial_ssthresh": 4}, {}, "tcp.initial_ssthresh")
            for cc in ({"kind": "fixed", "window": 30}, "fast", "bbr", "bbr3", "copa", "vivace")
        ),
        (
            {"sender": "classic", "initial_ssthresh_limit": "receive-window"},
            {},
            "tcp.initial_ssthresh_limit",
        ),
        *(
            ({"sender": sender, "rto": {"kind": "rfc6298", key: value}}, {}, f"tcp.rto.{key}")
            for sender in ("modern", "selective-repeat")
            for key, value in (
                ("sampling", "karn"),
                ("timestamp_tick", "10 ms"),
                ("backoff_ends", "on-ack"),
            )
        ),
        ({}, {"queue": {"kind": "codel", "ecn": True}}, "queue.ecn"),
        ({}, {"queue": {"kind": "codel", "ce_threshold": "1 ms"}}, "queue.ce_threshold"),
        ({}, {"queue": {"kind": "dualpi2", "step": "3 ms"}}, "queue.step"),
    ],
)
def test_what_is_reported_as_without_effect_can_be_left_out(
    tcp: dict[str, Any], link: dict[str, Any], path: str
):
    said = scenario(tcp, **(LOSSES | link))
    (warning,) = said.warnings
    assert warning.path == ("flows.F." if path.startswith("tcp") else "links.L.") + path
    key = path.split(".")[-1]
    assert warning.message.startswith(f"`{key}` has no effect: ")
    for place in (tcp, tcp.get("rto", {}), link.get("queue", {})):
        place.pop(key, None)
    left_out = scenario(tcp, **(LOSSES | link))
    assert left_out.warnings == ()
    first, second = (run(one).summary["digest"] for one in (said, left_out))
    assert first == second


def test_a_run_reports_what_has_no_effect(caplog: pytest.LogCaptureFixture):
    results = run(scenario({"ecn": True}))
    why = "nothing is marked: no queue on the path of the data marks packets"
    assert f"flows.F.tcp.ecn: {why}" in caplog.text
    assert f"warning: flows.F.tcp.ecn: {why}" in results.log
