"""`ackclock schema`."""

from __future__ import annotations

import json
from pathlib import Path

import typer


def schema(out: Path | None = None) -> None:
    """Print the JSON Schema of scenario files, for completion and checks in an editor.

    Editors with the YAML language server use it when a scenario starts with

    [cyan]# yaml-language-server: $schema=ackclock.schema.json[/cyan]

    [bold]Example[/bold]

    [cyan]ackclock schema --out ackclock.schema.json[/cyan]
    """
    from ackclock import _core
    from ackclock.files import write_text
    from ackclock.files_transfer import extended_schema

    document = extended_schema(json.loads(_core.schema()))
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    if out is None:
        typer.echo(text, nl=False)
    else:
        write_text(out, text)
