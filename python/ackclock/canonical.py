"""Writes a scenario document as YAML that people read."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Sequence
from typing import Any

_WIDTH = 100


def to_yaml(document: dict[str, Any], header: Sequence[str] = ()) -> str:
    """Return a document as YAML, under `header` as comment lines.

    Mappings and lists that fit on a line are written on one, as in the scenarios of the package.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.comments import CommentedMap

    yaml = YAML()
    yaml.width = _WIDTH
    yaml.indent(mapping=2, sequence=4, offset=2)
    lines = [part for text in header for part in textwrap.wrap(" ".join(text.split()), _WIDTH - 2)]
    stream = io.StringIO()
    stream.writelines(f"# {line}\n" for line in lines)
    styled = CommentedMap((key, _styled(value, len(key) + 2)) for key, value in document.items())
    yaml.dump(styled, stream)
    return stream.getvalue()


def _styled(value: Any, indent: int) -> Any:
    """Return the value with one-line style where it fits into the line after `indent` columns."""
    from ruamel.yaml.comments import CommentedMap, CommentedSeq

    if isinstance(value, dict):
        styled = CommentedMap(
            (key, _styled(inner, indent + 2 + len(key))) for key, inner in value.items()
        )
    elif isinstance(value, list):
        styled = CommentedSeq(_styled(inner, indent + 4) for inner in value)
    else:
        return value
    if not value or _flow_width(value) + indent <= _WIDTH:
        styled.fa.set_flow_style()
    return styled


def _flow_width(value: Any) -> int:
    """Return about how many columns a value takes on one line."""
    if isinstance(value, dict):
        return 2 + sum(len(key) + 4 + _flow_width(inner) for key, inner in value.items())
    if isinstance(value, list):
        return 2 + sum(2 + _flow_width(inner) for inner in value)
    return len(str(value))
