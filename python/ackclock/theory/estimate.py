"""What a model of averages over a long run says."""

from typing import Any, NamedTuple

_MOST_NAMED = 4
"""Of more flows together only the first ones are named."""


def rounded(value: float) -> str:
    """Return a value with three significant digits, without an exponent."""
    return f"{value:.3g}" if abs(value) < 999.5 else f"{value:.0f}"


class Estimate(NamedTuple):
    """An average over a long run, as a range.

    Attributes:
        quantity: `rate` (payload of the flows together, bit/s), `window` (mean, packets) or `queue`
            (mean number of data packets that wait at the link).
        flows: Names of the flows.
        link: Name of the link, and `forward` or `backward`.
        low: Least value that the model allows; where it gives one value alone, that value.
        high: Greatest value.
        accuracy: How far a run may be outside the range, as a share of the nearer end; none if the
            model does not claim an accuracy here, and the figure is shown, not judged.
        grain: How far it may be outside at least, in the unit of the quantity.
    """

    quantity: str
    flows: tuple[str, ...]
    link: tuple[str, str]
    low: float
    high: float
    accuracy: float | None
    grain: float = 0.0

    @property
    def subject(self) -> str:
        """The flows of a rate or window, the link of a queue."""
        return self.link[0] if self.quantity == "queue" else " + ".join(self.flows)

    def named(self, count: int) -> str:
        """The same for people, who know that the run has `count` flows."""
        if self.quantity == "queue" or len(self.flows) <= _MOST_NAMED:
            return self.subject
        if len(self.flows) == count:
            return f"all {count} flows"
        more = len(self.flows) - _MOST_NAMED + 1
        return f"{' + '.join(self.flows[: _MOST_NAMED - 1])} and {more} more"

    def holds(self, measured: float) -> bool | None:
        """Whether a measured average is in the range; none if nothing is claimed."""
        if self.accuracy is None:
            return None
        below = max(self.grain, self.low * self.accuracy)
        above = max(self.grain, self.high * self.accuracy)
        return self.low - below <= measured <= self.high + above

    def error(self, measured: float) -> float | None:
        """Nearest value of the range less the measured one, as a share of that."""
        nearest = min(max(measured, self.low), self.high)
        return (nearest - measured) / measured if measured else None

    def to_json(self) -> dict[str, Any]:
        """The estimate as a document."""
        kept = ("quantity", "low", "high", "accuracy", "grain")
        return {
            "subject": self.subject,
            "flows": list(self.flows),
            "link": list(self.link),
            **{name: getattr(self, name) for name in kept},
        }


class Model(NamedTuple):
    """A model of averages.

    Attributes:
        name: Its name in tables.
        says: One sentence on what it says.
        source: Where it is from.
        holds_for: Where it holds, in words.
    """

    name: str
    says: str
    source: str
    holds_for: str


class Outcome(NamedTuple):
    """What a model gives for flows that share queues.

    Attributes:
        estimates: The estimates.
        least_s: Over how much time a run has to be averaged to be judged, seconds.
        remark: More about these flows, in words.
        repeat_s: Seconds; of a window that swings, losses no further apart are of one swing.
    """

    estimates: list[Estimate]
    least_s: float
    remark: str | None = None
    repeat_s: float | None = None


class Averages(NamedTuple):
    """Estimates of flows that share queues.

    Attributes:
        model: The model that they are from.
        flows: Names of the flows.
        estimates: The estimates.
        least_s: Over how much time a run has to be averaged to be judged, seconds.
        repeat_s: Seconds; of a window that swings, losses no further apart are of one swing.
    """

    model: Model
    flows: tuple[str, ...]
    estimates: tuple[Estimate, ...]
    least_s: float
    repeat_s: float | None = None

    def to_json(self) -> dict[str, Any]:
        """The estimates as a document."""
        return {
            "model": self.model.name,
            "source": self.model.source,
            "flows": list(self.flows),
            "least_s": self.least_s,
            "estimates": [estimate.to_json() for estimate in self.estimates],
        }
