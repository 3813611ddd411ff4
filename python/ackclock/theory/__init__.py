"""Theory: equilibria of flows on any network, and how they compare with a run.

`predict` takes the numeric model of a scenario, `compare` sets a prediction next to a run. Theories
of congestion controls are in `laws`.
"""

from ackclock.theory.assumptions import OURS, PAPER, PAPER_WITH_ACKS, Assumptions
from ackclock.theory.comparison import ComparedPeriod, Comparison, Figure, compare
from ackclock.theory.errors import TheoryError
from ackclock.theory.predict import predict
from ackclock.theory.prediction import (
    FlowFacts,
    FlowState,
    Period,
    Prediction,
    QueueState,
)

__all__ = [
    "OURS",
    "PAPER",
    "PAPER_WITH_ACKS",
    "Assumptions",
    "ComparedPeriod",
    "Comparison",
    "Figure",
    "FlowFacts",
    "FlowState",
    "Period",
    "Prediction",
    "QueueState",
    "TheoryError",
    "compare",
    "predict",
]
