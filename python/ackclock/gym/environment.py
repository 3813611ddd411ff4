"""The environment: an agent sets the window of one flow, a step at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

import gymnasium
import numpy as np

from ackclock import _core
from ackclock.arrays import NDArray
from ackclock.errors import InputError, function_of, mapping_of, one_of, refuse, whole_number
from ackclock.gym.agent import Agent
from ackclock.scenario import Scenario
from ackclock.theory.network import Network

Floats = NDArray[np.float32]

OBSERVATIONS: tuple[tuple[str, float, str], ...] = (
    ("rtt_ratio", 100.0, "Mean round-trip time over the least one, less 1"),
    ("min_rtt_s", 10.0, "Minimum round-trip time, seconds"),
    ("rate_share", 2.0, "Rate of acknowledged data over that of the slowest link of the path"),
    ("loss_share", 1.0, "Segments counted as lost over all that were lost or acknowledged"),
    ("log2_window", 30.0, "Binary logarithm of the window in segments"),
    ("flight_share", 10.0, "Data in flight over the window"),
)
"""What an agent sees of the last step: name, greatest value, meaning. The least value is 0."""

_HIGH = np.array([most for _, most, _ in OBSERVATIONS], np.float32)
_LEAST_STEP_S = 0.001
_MOST_SEGMENTS = 1e6
_MOST_SEED = 2**64 - 1
_VALUES = "a mapping of paths to values, such as {'links.L1.rate': '5 Mbps'}"


@dataclass(frozen=True)
class Measured:
    """What happened in a step, for rewards of one's own.

    Attributes:
        seconds: Simulated time that it took.
        rate_bps: Rate of acknowledged payload.
        capacity_bps: Rate of the slowest link of the path.
        rtt_s: Mean round-trip time; that of the last step without a sample.
        min_rtt_s: Minimum round-trip time so far.
        lost: Segments counted as lost.
        acked: Segments acknowledged.
        window: Window after the action, segments.
    """

    seconds: float
    rate_bps: float
    capacity_bps: float
    rtt_s: float
    min_rtt_s: float
    lost: float
    acked: float
    window: float


def default_reward(step: Measured) -> float:
    """Return the share of the capacity, less half the relative wait, less ten times the loss.

    Of a full link without queue and loss it is the payload's part of a packet, 1448/1500.
    """
    wait = step.rtt_s / step.min_rtt_s - 1.0 if step.min_rtt_s else 0.0
    loss = step.lost / (step.lost + step.acked) if step.lost + step.acked else 0.0
    return step.rate_bps / step.capacity_bps - 0.5 * min(wait, 10.0) - 10.0 * loss


class CongestionEnv(gymnasium.Env[Floats, Any]):
    """The congestion window of one flow, set by an agent at each step.

    The action is the binary logarithm of the factor by which the window changes, a `Box` from -1
    (half) to 1 (double), or with `actions` the place of a factor, `Discrete`. The observation is a
    `Box` of the figures in `OBSERVATIONS`. An episode ends as `terminated` when the flow is
    complete, as `truncated` at the end of the scenario. Recovery and timers are the sender's.

    Args:
        scenario: A scenario, the name or file of one.
        flow: The flow that the agent steers; default the first with TCP. Its sender is `modern`.
        step: Length of a step: `rtt` for the last round-trip time, or a time such as `10 ms`.
        actions: Factors of the window to choose from, such as `(0.5, 0.9, 1, 1.1, 2)`.
        reward: What a step is worth; default `default_reward`.
        vary: Values to set before each episode, drawn from a generator: `{path: value}`.

    Raises:
        InputError: there is no such flow or time, or the flow cannot be steered.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}  # pyrefly: ignore[bad-override]

    def __init__(
        self,
        scenario: Scenario | str | Path = "own/aimd",
        flow: str | None = None,
        step: str = "rtt",
        actions: Sequence[float] | None = None,
        reward: Callable[[Measured], float] | None = None,
        vary: Callable[[np.random.Generator], Mapping[str, Any]] | None = None,
    ) -> None:
        chosen = scenario if isinstance(scenario, Scenario) else Scenario.load(scenario)
        over_tcp = [one["id"] for one in chosen.model["flows"] if one["tcp"]]
        if flow is not None:
            one_of("TCP flow", flow, over_tcp)
        if not over_tcp:
            raise InputError(f"no flow of '{chosen.name}' uses TCP")
        self.flow = over_tcp[0] if flow is None else flow
        self.scenario = chosen.set(f"flows.{self.flow}.tcp.cc", Agent).set("record", "none")
        self._control = _tcp_of(self.scenario, self.flow)["cc"]
        self._step_s = _time(step)
        self._reward = reward or default_reward
        self._vary = vary
        function_of("reward", reward)
        function_of("vary", vary)
        try:
            self._factors = None if actions is None else np.asarray(list(actions), np.float64)
        except (TypeError, ValueError):
            refuse("actions", actions, "a list of factors, such as (0.5, 1, 2)")
        if self._factors is None:
            self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)
        elif self._factors.size and np.all(np.isfinite(self._factors) & (self._factors > 0)):
            self.action_space = gymnasium.spaces.Discrete(len(self._factors))
        else:
            raise InputError(f"actions = {actions}: factors of the window, each above 0")
        low = np.zeros_like(_HIGH)
        self.observation_space = gymnasium.spaces.Box(low, _HIGH, dtype=np.float32)
        self._episodes = 0
        self._simulation: _core.Simulation | None = None
        self._agent: Any = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Begin an episode: the scenario with this seed, or another one for each episode.

        Args:
            seed: Seed of the run and of what `vary` draws. None: the scenario's seed in the first
                episode, then seeds that are drawn.
            options: Values to set in this episode, `{path: value}`.

        Raises:
            InputError: a seed or value that makes no sense, or the agent would not steer the flow.
        """
        if seed is not None and not 0 <= (seed := whole_number("seed", seed)) <= _MOST_SEED:
            refuse("seed", seed, f"a whole number from 0 to {_MOST_SEED}")
        options = mapping_of("options", options, _VALUES)
        super().reset(seed=seed)
        if seed is None:
            first = self._episodes == 0
            seed = self.scenario.seed if first else int(self.np_random.integers(2**31))
        self._episodes += 1
        scenario = self.scenario
        varied = None if self._vary is None else self._vary(self.np_random)
        varied = mapping_of("vary(random)", varied, _VALUES)
        for path, value in {**varied, **options}.items():
            scenario = scenario.set(path, value)
        tcp = _tcp_of(scenario, self.flow)
        if tcp.get("cc") != self._control:
            raise InputError(
                f"the values for this episode leave the agent no flow '{self.flow}' to steer; "
                "keep its name and its congestion control"
            )
        self._segment_bits = 8.0 * tcp["segment_bytes"]
        self._capacity_bps = _capacity_bps(scenario, self.flow)
        self._simulation = _core.Simulation(scenario.handle, seed)
        self._agent = cast(Any, self._simulation.controller(self.flow))
        # Until the flow has started there is nothing to act on.
        over = False
        while not over and self._agent.last_rtt is None:
            over = self._simulation.advance(1.0, until_s=self._simulation.now_s + 0.01)
        self._window = self._agent.cwnd / self._agent.segment
        measured = self._measure(0.0)
        return self._observation(measured), self._info(measured)

    def step(self, action: Any) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Change the window, and simulate one step.

        Args:
            action: As in `action_space`; what is outside of a `Box` counts as its nearest value.

        Returns:
            Observation, reward, whether the flow is complete, whether the scenario has ended
            before, and `{"time_s": seconds, "step": Measured}`.

        Raises:
            InputError: the action is not a number, or not one of the choices; or the reward is not
                a number.
            ResetNeeded: no episode has begun.
        """
        if self._simulation is None:
            raise gymnasium.error.ResetNeeded("call reset() before the first step()")
        self._window = min(max(self._window * self._factor(action), 1.0), _MOST_SEGMENTS)
        self._agent.wanted = self._window * self._agent.segment
        begin = self._simulation.now_s
        length = self._step_s or max(self._agent.last_rtt or 0.0, _LEAST_STEP_S)
        over = False
        while not over and self._simulation.now_s < begin + length:
            over = self._simulation.advance(1.0, until_s=begin + length)
        measured = self._measure(self._simulation.now_s - begin)
        complete = self._simulation.is_complete(self.flow)
        truncated = over and not complete
        reward = self._reward(measured)
        given = np.asarray(reward)
        if given.ndim or given.dtype.kind not in "biuf" or np.isnan(given):
            refuse("reward(step)", reward, "a number")
        return (
            self._observation(measured),
            float(reward),
            complete,
            truncated,
            self._info(measured),
        )

    def _factor(self, action: Any) -> float:
        """The factor that an action stands for; a `Box` is clipped, as agents explore beyond it."""
        given = np.asarray(action)
        number = float(given.flat[0]) if given.size == 1 and given.dtype.kind in "iuf" else math.nan
        if self._factors is None:
            if not math.isnan(number):
                return 2.0 ** min(max(number, -1.0), 1.0)
        elif number in range(len(self._factors)):
            return float(self._factors[int(number)])
        raise InputError(f"action = {action!r}: not in {self.action_space}")

    def close(self) -> None:
        """Release the run."""
        self._simulation = self._agent = None

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy is made of: all but a run.

        Raises:
            InputError: an episode is in progress.
        """
        if self._simulation is not None:
            raise InputError(
                "an environment cannot be copied during an episode, since its run cannot be; "
                "copy it before `reset` or after `close`"
            )
        return dict(vars(self))

    def _measure(self, seconds: float) -> Measured:
        agent = self._agent
        count = agent.rtt_count
        rtt = agent.rtt_sum / count if count else agent.last_rtt or 0.0
        acked = agent.acked / agent.segment
        measured = Measured(
            seconds,
            acked * self._segment_bits / seconds if seconds else 0.0,
            self._capacity_bps,
            rtt,
            agent.least_rtt or 0.0,
            float(agent.lost),
            acked,
            self._window,
        )
        agent.begin()
        return measured

    def _observation(self, step: Measured) -> Floats:
        total = step.lost + step.acked
        seen = (
            step.rtt_s / step.min_rtt_s - 1.0 if step.min_rtt_s else 0.0,
            step.min_rtt_s,
            step.rate_bps / step.capacity_bps,
            step.lost / total if total else 0.0,
            np.log2(step.window),
            self._agent.in_flight / self._agent.segment / step.window,
        )
        return np.clip(np.array(seen, np.float32), np.float32(0), _HIGH)

    def _info(self, step: Measured) -> dict[str, Any]:
        assert self._simulation is not None
        return {"time_s": self._simulation.now_s, "step": step}


def _time(step: str) -> float | None:
    """Return the length of a step in seconds; None for a round-trip time."""
    if not isinstance(step, str):
        refuse("step", step, "'rtt', or a time such as '10 ms'")
    if step == "rtt":
        return None
    kind, amount = _core.quantity(step) or (None, 0)
    if kind != "time" or amount <= 0:
        raise InputError(f"step = '{step}': 'rtt', or a time such as '10 ms'")
    return amount / 1e9


def _tcp_of(scenario: Scenario, flow: str) -> dict[str, Any]:
    """Return how a flow uses TCP, as the model has it; empty if it does not, or is not there."""
    return next((one["tcp"] or {} for one in scenario.model["flows"] if one["id"] == flow), {})


def _capacity_bps(scenario: Scenario, flow: str) -> float:
    """Return the rate of the slowest link of a flow's path, at the start of the run."""
    network = Network(scenario.model)
    (path,) = (one for one in network.flows if one.id == flow)
    return float(min(network.stations[place].rate_bps for place in path.data_visits))
