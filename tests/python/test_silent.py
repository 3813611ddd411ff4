"""Settings that can have no effect are refused, and where they can, they have one."""

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
