"""The error of this package."""

from __future__ import annotations

from collections.abc import Iterable

from ackclock import errors


class PlotError(errors.InputError):
    """A plot that cannot be drawn as asked: an unknown name, or a record that the run did not keep.

    The message is one line for people and says what to do instead. A `ValueError` like all
    errors about input.
    """


def unknown(kind: str, name: str, known: Iterable[str]) -> PlotError:
    """The error for a `name` that is not among the `known` names of a `kind` (such as "flow")."""
    return PlotError(errors.unknown(kind, name, known))
