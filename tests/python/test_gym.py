"""The environment for learning agents: Gymnasium's checks, what it measures, one that learns."""

import copy
import pickle
import runpy
from operator import itemgetter
from pathlib import Path

import numpy as np
import pytest

import ackclock
from ackclock import InputError, Scenario

gymnasium = pytest.importorskip("gymnasium")

import ackclock.gym  # noqa: E402

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "learn_window.py"


def short(seconds=4, **more):
    scenario = Scenario.load("own/aimd").set("stop.at_latest", f"{seconds} s")
    return gymnasium.make("ackclock/Congestion-v0", scenario=scenario, **more).unwrapped


def play(env, actions, seed=1):
    """Return observations, rewards and how the episode ended."""
    seen, _ = env.reset(seed=seed)
    rows, rewards, ends = [seen], [], (False, False)
    for action in actions:
        seen, reward, *ends, _ = env.step(action)
        rows.append(seen)
        rewards.append(reward)
        if any(ends):
            break
    return np.array(rows), rewards, tuple(ends)


@pytest.mark.parametrize(
    "more", [{}, {"actions": (0.5, 1, 2)}, {"step": "20 ms", "flow": "F2"}], ids=str
)
def test_gymnasium_finds_nothing_wrong(more):
    from gymnasium.utils.env_checker import check_env

    check_env(short(**more), skip_render_check=True)


def test_the_same_actions_give_the_same_episode():
    random = np.random.default_rng(5)
    actions = random.uniform(-1, 1, (40, 1)).astype(np.float32)
    first, second = (play(short(), actions) for _ in range(2))
    assert np.array_equal(first[0], second[0]) and first[1] == second[1]
    assert not np.array_equal(first[0], play(short(), -actions)[0])


def test_a_window_of_one_bandwidth_delay_product_is_worth_most():
    # 10 Mbps and 40 ms hold 33 segments; the other flow starts at 2 s.
    def worth(window):
        env = short(2)
        env.reset(seed=1)
        rewards = []
        over = False
        while not over:
            change = np.clip(np.log2(window / env._window), -1, 1)
            _, reward, terminated, truncated, info = env.step(np.array([change], np.float32))
            rewards.append(reward)
            over = terminated or truncated
        assert info["step"].window == pytest.approx(window)
        return np.mean(rewards[5:]), info["step"]

    small, right, large = (worth(window) for window in (8, 34, 70))
    assert right[0] > 0.9 > small[0] and right[0] > large[0]
    # Rate = window / RTT, and what is above the product waits.
    step = large[1]
    assert step.rate_bps == pytest.approx(70 * 1448 * 8 / step.rtt_s, rel=0.05)
    assert step.rtt_s > 1.8 * step.min_rtt_s
    assert small[1].rate_bps == pytest.approx(8 * 1448 * 8 / small[1].rtt_s, rel=0.3)


def test_a_complete_flow_ends_the_episode():
    scenario = Scenario.load("own/aimd").set("flows.F1.send", "200 KB")
    env = gymnasium.make("ackclock/Congestion-v0", scenario=scenario)
    _, _, ends = play(env, [np.array([0.5], np.float32)] * 200)
    assert ends == (True, False)
    assert play(short(1), [np.zeros(1, np.float32)] * 200)[2] == (False, True)


def test_values_vary_between_episodes():
    def vary(random):
        return {"links.bottleneck.rate": f"{random.integers(2, 50)} Mbps"}

    env = short(2, vary=vary, reward=lambda step: step.capacity_bps / 1e6)
    rates = []
    for seed in (1, None, None, 1):
        env.reset(seed=seed)
        rates.append(env.step(np.zeros(1, np.float32))[1])
    assert len(set(rates[:3])) == 3 and rates[3] == rates[0]
    env.reset(seed=1, options={"links.bottleneck.rate": "7 Mbps"})
    assert env.step(np.zeros(1, np.float32))[1] == 7.0


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"flow": "F9"}, "unknown TCP flow 'F9'"),
        ({"step": "soon"}, "a time such as '10 ms'"),
        ({"step": "3 Mbps"}, "a time such as '10 ms'"),
        ({"actions": (0, 1)}, "each above 0"),
        ({"actions": 5}, "`actions` is 5; needed is a list of factors"),
        ({"step": 5}, "`step` is 5; needed is 'rtt', or a time"),
        ({"reward": 5}, "`reward` is 5; needed is a function"),
        ({"scenario": "caltech/test-case-0-reno"}, "needs delivery-rate samples"),
    ],
)
def test_bad_arguments_are_refused(more, words):
    with pytest.raises(InputError, match=words):
        ackclock.gym.CongestionEnv(**more)


@pytest.mark.parametrize(
    ("more", "action"),
    [({}, float("nan")), ({}, None), ({}, "x"), ({"actions": (0.5, 1, 2)}, -1)]
    + [({"actions": (0.5, 1, 2)}, wrong) for wrong in (3, 0.5, [0, 1], "0")],
)
def test_an_action_outside_of_the_space_is_refused(more, action):
    env = short(**more)
    env.reset(seed=1)
    with pytest.raises(InputError, match=r"^action = .*: not in (Box|Discrete)"):
        env.step(action)


@pytest.mark.parametrize(
    ("more", "given", "words"),
    [
        ({}, {"seed": 2**64}, "`seed` is 18446744073709551616; needed is a whole number from 0"),
        ({}, {"seed": -1}, "`seed` is -1; needed is a whole number from 0"),
        ({}, {"options": [1]}, "`options` is of the class `list`; needed is a mapping of paths"),
        ({"vary": lambda _: 3}, {}, r"`vary\(random\)` is 3; needed is a mapping of paths"),
        ({}, {"options": {"flows.F1.tcp.cc": "reno"}}, "leave the agent no flow 'F1' to steer"),
        ({}, {"options": {"flows.F1.tcp": "linux-reno"}}, "leave the agent no flow 'F1' to steer"),
        ({}, {"options": {"flows.F1.id": "F0"}}, "leave the agent no flow 'F1' to steer"),
    ],
)
def test_values_that_make_no_episode_are_refused(more, given, words):
    with pytest.raises(InputError, match=words):
        short(**more).reset(**given)


@pytest.mark.parametrize(
    "reward", [None, "1.5", [1.0], float("nan"), np.array([1.0]), np.array("1")]
)
def test_a_reward_is_a_number(reward):
    env = short(reward=lambda _: reward)
    env.reset(seed=1)
    with pytest.raises(InputError, match=r"`reward\(step\)` is .*; needed is a number"):
        env.step(np.zeros(1, np.float32))


def test_an_environment_can_be_copied_between_episodes_only():
    env = short()
    again = copy.deepcopy(env)
    env.reset(seed=1)
    with pytest.raises(InputError, match="cannot be copied during an episode"):
        copy.deepcopy(env)
    env.close()
    actions = np.zeros((3, 1), np.float32)
    assert play(copy.deepcopy(env), actions)[1] == play(again, actions)[1]


def test_a_step_before_a_reset_is_an_error():
    with pytest.raises(gymnasium.error.ResetNeeded):
        short().step(np.zeros(1, np.float32))


def test_scenarios_can_be_sent_to_processes():
    scenario = Scenario.load("own/aimd").set("stop.at_latest", "2 s")
    again = pickle.loads(pickle.dumps(scenario))
    assert ackclock.run(again).summary["digest"] == ackclock.run(scenario).summary["digest"]


@pytest.mark.slow
def test_the_example_learns():
    learn, scenario = itemgetter("learn", "scenario")(runpy.run_path(str(EXAMPLE)))
    # Shorter episodes than by default, fewer and smaller generations, and enough.
    learn.__globals__["scenario"] = lambda: scenario().set("stop.at_latest", "2 s")
    policy, history, final = learn(generations=3, population=12)
    assert final > history[0] + 1 and final > 0.5
    # It gives way to queues.
    assert policy[0] < 0
