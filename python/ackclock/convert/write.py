"""Write a converted scenario as YAML that reads like one written by hand."""

from __future__ import annotations

import io
import itertools
import textwrap
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.scalarstring import FoldedScalarString

from ackclock.convert.base import Conversion, Format

_WIDTH = 10_000  # what stands on one line stays there
_COMMENT_WIDTH = 100
_ONE_LINE = {"cc", "recovery", "rto", "queue", "routing", "stop", "hosts", "routers", "between"}
_SECTIONS = ("hosts", "links", "flows", "routing", "stop")


def to_yaml(conversion: Conversion, source: Path, kind: Format) -> str:
    """Return the text of a scenario file: a comment about its origin, then the document."""
    header = [
        f"Converted by `ackclock convert` from {source.name}, a file of {kind.source}.",
        *conversion.notes,
    ]
    yaml = YAML()
    yaml.width = _WIDTH
    yaml.indent(mapping=2, sequence=4, offset=2)
    stream = io.StringIO()
    yaml.dump(_styled(conversion.document), stream)
    return "\n#\n".join(_comment(line) for line in header) + "\n\n" + stream.getvalue()


def _comment(sentence: str) -> str:
    return textwrap.fill(
        sentence,
        _COMMENT_WIDTH,
        initial_indent="# ",
        subsequent_indent="# ",
        break_on_hyphens=False,
    )


def _folded(text: str) -> FoldedScalarString:
    """Return a text that is written over several short lines."""
    lines = textwrap.wrap(text, _COMMENT_WIDTH, break_on_hyphens=False)
    folded = FoldedScalarString(" ".join(lines))
    ends = itertools.accumulate(len(line) + 1 for line in lines[:-1])
    folded.fold_pos = [end - 1 for end in ends]
    return folded


def _styled(document: dict[str, Any]) -> CommentedMap:
    styled = CommentedMap()
    for key, value in document.items():
        if key == "links":
            styled[key] = CommentedSeq([_one_line(link) for link in value])
        elif key == "source":
            styled[key] = _folded(value)
        else:
            styled[key] = _block(key, value)
    for section in _SECTIONS:
        if section in styled:
            styled.yaml_set_comment_before_after_key(section, before="\n")
    return styled


def _block(key: str, value: Any) -> Any:
    if isinstance(value, dict):
        if key in _ONE_LINE:
            return _one_line(value)
        return CommentedMap((inner, _block(inner, v)) for inner, v in value.items())
    if isinstance(value, list):
        return _one_line(value) if key in _ONE_LINE else [_block("", item) for item in value]
    return value


def _one_line(value: Any) -> Any:
    if isinstance(value, dict):
        mapping = CommentedMap((key, _one_line(inner)) for key, inner in value.items())
        mapping.fa.set_flow_style()
        return mapping
    if isinstance(value, list):
        sequence = CommentedSeq(_one_line(item) for item in value)
        sequence.fa.set_flow_style()
        return sequence
    return value
