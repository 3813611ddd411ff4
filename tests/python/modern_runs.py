"""Runs of modern senders over a bottleneck, for tests of what is recorded of them."""

from ackclock import Scenario, run

ECN = {"kind": "threshold", "limit": "200 packets", "mark_from": "15 packets"}
"""A queue that marks."""


def document(*, tcp=None, queue=None, loss=None, back=False, send="3 MB", late=False, **more):
    """`loss` is that of the way there, or of the way back."""
    forward, backward = {"queue": queue or {"limit": "25 packets"}}, {}
    if loss:
        (backward if back else forward)["loss"] = loss
    link = {"id": "L", "between": ["R", "B"], "rate": "10 Mbps", "delay": "20 ms"}
    if late:
        link["changes"] = [{"at": "0.2 s", "delay": "600 ms"}]
    return {
        "name": "tests/modern",
        "hosts": ["A", "B"],
        "routers": ["R"],
        "links": [
            {"id": "In", "between": ["A", "R"], "rate": "100 Mbps", "delay": "1 ms"},
            {**link, "forward": forward, "backward": backward},
        ],
        "flows": [
            {
                "id": "F",
                "from": "A",
                "to": "B",
                "send": send,
                "tcp": {
                    "sender": "modern",
                    "cc": {"kind": "cubic", "hystart": "none"},
                    "segment": "1448 B",
                    "rto": {"kind": "linux"},
                    **(tcp or {}),
                },
            }
        ],
        "stop": {"when": "flows-complete", "at_latest": "60 s"},
        **more,
    }


def simulated(**options):
    return run(Scenario.from_dict(document(**options)))
