"""Congestion control as a Gymnasium environment: `pip install 'ackclock[gym]'`.

>>> import gymnasium
>>> import ackclock.gym
>>> env = gymnasium.make("ackclock/Congestion-v0", scenario="teach/cubic-bbr", flow="cubic")
>>> observation, info = env.reset(seed=1)
>>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
"""

from __future__ import annotations

from ackclock.errors import InputError

try:
    import gymnasium
except ModuleNotFoundError:
    raise InputError("gymnasium is not installed: pip install 'ackclock[gym]'") from None

from ackclock.gym.environment import OBSERVATIONS, CongestionEnv, Measured

__all__ = ["OBSERVATIONS", "CongestionEnv", "Measured"]

gymnasium.register(id="ackclock/Congestion-v0", entry_point="ackclock.gym:CongestionEnv")
