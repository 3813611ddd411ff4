"""What can be chosen about an export."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from ackclock.errors import InputError, names_of, refuse, whole_number


@dataclass(frozen=True)
class Options:
    """What to export. None means: what the format does by itself.

    Attributes:
        flows: Ids of flows; default all.
        links: Ids of links. `ns2`, `csv`: only these. `pcapng`: capture on these links.
        hosts: `pcapng`: capture at these hosts. Default: at the sender of each flow.
        tables: `csv`: tables of records; default all that were recorded.
        snaplen: `pcapng`: most bytes of a packet that are written, 40 to 65535; default 128, which
            holds all headers. The payload is zeros.
        first_fid: `ns2`: flow id of the first flow, 0 or above; default 0.

    Raises:
        InputError: an option is not of its kind, or out of its range.
    """

    flows: list[str] | None = None
    links: list[str] | None = None
    hosts: list[str] | None = None
    tables: list[str] | None = None
    snaplen: int | None = None
    first_fid: int | None = None

    def __post_init__(self) -> None:
        for name in ("flows", "links", "hosts", "tables"):
            if (given := getattr(self, name)) is not None:
                object.__setattr__(self, name, names_of(name, given, f"{name[0].upper()}1"))
        for name, least, most in (("snaplen", 40, 65535), ("first_fid", 0, 2**31 - 1)):
            if (given := getattr(self, name)) is not None:
                if not least <= (number := whole_number(name, given)) <= most:
                    refuse(name, given, f"a whole number from {least} to {most}")
                object.__setattr__(self, name, number)

    def with_tcp(self, model: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The flows of a model that are asked for and have a window."""
        wanted = self.flows
        flows = (flow for flow in model["flows"] if flow["tcp"] is not None)
        return [flow for flow in flows if wanted is None or flow["id"] in wanted]

    def require_packets(self, count: int) -> None:
        """Check that packets are left where only some were asked for.

        Raises:
            InputError: there is none.
        """
        asked = [(name, getattr(self, name)) for name in ("flows", "links", "hosts")]
        if count == 0 and (said := [f"--{name} {','.join(v)}" for name, v in asked if v]):
            raise InputError(f"no packet of this run is left with {' '.join(said)}")

    def given(self) -> list[str]:
        """Names of the options that were given."""
        return [field.name for field in fields(self) if getattr(self, field.name) is not None]
