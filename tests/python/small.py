"""A scenario that runs in milliseconds."""

import copy

DOCUMENT = {
    "name": "tests/small",
    "title": "Two flows over one link",
    "question": "Does it run?",
    "hosts": ["A", "B"],
    "links": [
        {
            "id": "L1",
            "between": ["A", "B"],
            "rate": "10 Mbps",
            "delay": "5 ms",
            "queue": {"kind": "droptail", "limit": "64 KiB"},
        }
    ],
    "flows": [
        {
            "id": f"F{number}",
            "from": "A",
            "to": "B",
            "send": "200 KB",
            "tcp": {"sender": "selective-repeat", "cc": cc},
        }
        for number, cc in ((1, "reno"), (2, "fast"))
    ],
    "stop": {"when": "flows-complete", "at_latest": "20 s"},
    "seed": 1,
    "record": "all",
}


def document():
    """Return a document of one's own."""
    return copy.deepcopy(DOCUMENT)
