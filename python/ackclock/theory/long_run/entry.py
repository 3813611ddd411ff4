"""What a file of this folder registers."""

from collections.abc import Callable
from dataclasses import dataclass

from ackclock.theory.estimate import Estimate, Model
from ackclock.theory.long_run.shared import Shared


@dataclass(frozen=True)
class Entry:
    """A model and how it is worked out.

    Attributes:
        model: What is said of it.
        estimates: Makes estimates of flows at a bottleneck; none where the model does not apply.
        remark: Says more about such flows in words; none if there is nothing to say.
        least_s: How long a run must be averaged to be judged, seconds.
    """

    model: Model
    estimates: Callable[[Shared], list[Estimate] | None]
    remark: Callable[[Shared], str | None]
    least_s: Callable[[Shared], float]
