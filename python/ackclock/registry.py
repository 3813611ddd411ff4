"""What a scenario can name, as the engine describes it: read once."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from ackclock import _core


@cache
def registry() -> dict[str, list[dict[str, Any]]]:
    """Return the entries of each kind, such as `cc`: name, label, summary, references, params."""
    return json.loads(_core.registry())


def entry(kind: str, name: str) -> dict[str, Any]:
    """Return an entry of a kind.

    Raises:
        KeyError: there is none of this name.
    """
    for known in registry()[kind]:
        if known["name"] == name:
            return known
    raise KeyError(name)
