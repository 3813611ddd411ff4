"""Real files sent through the simulated network: `send: {file: PATH}`.

The simulator moves sizes, not contents, so a file goes to it as its size. What becomes of the
contents is worked out after the run (`ackclock.received_files`).
"""

from __future__ import annotations

import copy
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from ackclock import rate_files
from ackclock.errors import InputError
from ackclock.files import expanded, named

if TYPE_CHECKING:
    from ackclock.document import Document
    from ackclock.errors import Problem

MAX_BYTES = 2**32 - 1
"""The largest file: records hold sequence numbers of 32 bits, as TCP does."""


class FileToSend(NamedTuple):
    """A file that a flow sends: flow, file, its path as written in the scenario, and its size."""

    flow: str
    path: Path
    written: str
    size: int

    def read(self) -> bytes:
        """Return the content.

        Raises:
            InputError: it cannot be read any more, or its size is another than when it was checked.
        """
        try:
            content = self.path.read_bytes()
        except OSError as error:
            raise InputError(f"cannot read '{self.path}': {error.strerror or error}") from None
        if len(content) != self.size:
            raise InputError(
                f"'{self.path}' has changed: it had {self.size} bytes when the scenario was "
                f"checked and has {len(content)} now"
            )
        return content

    @property
    def place(self) -> str:
        """Where the received copy stands below `received/` in the run directory."""
        # A name of a flow may hold a slash; the name of a folder may not.
        return f"{quote(self.flow, safe='+')}/{self.path.name}"


class Prepared(NamedTuple):
    """A document that the simulator understands, the files of its flows, what is wrong with them.

    Attributes:
        document: with the size of each file in its place, packets recorded; as written, if it
            names no files and no programs.
        files: the files, in the order of the flows.
        problems: one for each file that cannot be sent.
        warnings: what is allowed but probably not meant.
    """

    document: Document
    files: tuple[FileToSend, ...] = ()
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()


def prepare(document: Document, folder: Path) -> Prepared:
    """Put sizes in the place of files.

    Args:
        document: the scenario as written. It is not changed.
        folder: where relative paths start; those set from outside start in the current folder.
    """
    if not document.mentions("file", "python"):
        return Prepared(document)
    data, problems = rate_files.with_contents(document, folder)
    warnings: list[Problem] = []
    if _has_controller(data):
        # Not at the top: few scenarios need it.
        from ackclock.controllers import sources

        data, more, warnings = sources.resolve(data, document, folder)
        problems += more
    found = [(index, flow) for index, flow in enumerate(_flows(data)) if _names_file(flow)]
    if not found:
        return Prepared(_with(data, document), (), tuple(problems), tuple(warnings))
    if data is document.data:
        data = copy.deepcopy(data)
    files: list[FileToSend] = []
    for index, flow in found:
        place = ("flows", index, "send")
        outside = document.is_from_outside(place)
        if outside:
            # `--set flows.F1.send.file=PATH` on a size, which counts as a word with a parameter.
            flow = {**flow, "send": {"file": flow["send"]["file"]}}
        written = flow["send"]["file"]
        try:
            files.append(_file(flow, Path() if outside else folder))
            data["flows"][index]["send"] = f"{files[-1].size} B"
        except ValueError as error:
            # With a size in its place, the rest of the document can be checked as well.
            data["flows"][index]["send"] = "1 B"
            problems.append(
                document.problem(
                    (*place, "file"),
                    str(error),
                    value=written,
                    allowed="send: {file: PATH}; relative to the file that names it, with "
                    "--set to the current folder",
                )
            )
    # Without these records nothing can be put together.
    data["record"] = _with_packets(data.get("record"))
    return Prepared(_with(data, document), tuple(files), tuple(problems), tuple(warnings))


def _with(data: dict[str, Any], document: Document) -> Document:
    """Return the document with these data."""
    if data is document.data:
        return document
    document = copy.copy(document)
    document.data = data
    return document


def extended_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of scenario files with files: to send, and of rates."""
    schema = copy.deepcopy(schema)
    for kind in ("table", "mahimahi"):
        schema["definitions"][f"rate.{kind}"]["properties"]["file"] = {
            "type": "string",
            "description": "Path of a file that holds the values.",
        }
    for program in (schema["definitions"][name] for name in ("cc.python", "queue.python")):
        program["properties"] |= {
            "file": {"type": "string", "description": "Path of the program, a Python file."},
            "plugin": {"type": "string", "description": "Name of one of an installed package."},
            "parameters": {
                "type": ["object", "string"],
                "description": "Parameters of the class.",
            },
        }
        program["required"] = ["kind"]
    schema["definitions"]["flow"]["properties"]["send"]["anyOf"].append(
        {
            "type": "object",
            "properties": {"file": {"type": "string", "description": "Path of a file to send."}},
            "required": ["file"],
            "additionalProperties": False,
        }
    )
    return schema


def _has_controller(value: Any) -> bool:
    """Return whether a document names a congestion control in Python."""
    inner = value
    if isinstance(value, dict):
        if value.get("kind") == "python":
            return True
        inner = value.values()
    return any(_has_controller(one) for one in inner if isinstance(one, dict | list))


def _flows(data: dict[str, Any]) -> list[Any]:
    flows = data.get("flows")
    return flows if isinstance(flows, list) else []


def _names_file(flow: Any) -> bool:
    send = flow.get("send") if isinstance(flow, dict) else None
    return isinstance(send, dict) and "file" in send


def _file(flow: dict[str, Any], folder: Path) -> FileToSend:
    """Return the file of a flow.

    Raises:
        ValueError: it cannot be sent.
    """
    written = flow["send"]["file"]
    if extra := sorted(set(flow["send"]) - {"file"}):
        raise ValueError(f"'{extra[0]}' has no effect with 'file'")
    if "count" in flow:
        raise ValueError("a file is sent by one flow: leave 'count' out")
    if "udp" in flow:
        raise ValueError("a file needs tcp: udp does not retransmit")
    with named(written, folder) as stream:
        size = os.fstat(stream.fileno()).st_size
    if size == 0:
        raise ValueError("the file is empty: there is nothing to send")
    if size > MAX_BYTES:
        raise ValueError("larger than 4 GiB, beyond sequence numbers of 32 bits")
    return FileToSend(str(flow.get("id", "")), folder / expanded(written), written, size)


def _with_packets(record: Any) -> Any:
    if record is None or record == "all":
        return "all"
    if isinstance(record, str):
        return {"kind": record, "packets": "changes"}
    return {**record, "packets": "changes"} if isinstance(record, dict) else record
