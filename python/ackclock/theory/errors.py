"""Errors of the theory."""

from ackclock.errors import AckclockError


class TheoryError(AckclockError):
    """The theory has no answer for this network; the message says why."""
