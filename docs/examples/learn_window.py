"""An agent learns to set a congestion window, by the cross-entropy method (Rubinstein 1999).

A policy is a line through what the agent sees: the relative wait in queues, the share of the link,
and the loss. Each generation draws policies around the best ones of the last. It takes seconds:

    python docs/examples/learn_window.py
"""

import gymnasium
import numpy as np

import ackclock.gym

SEEN = [0, 2, 3]  # rtt_ratio, rate_share, loss_share
NETWORKS = ["5 Mbps", "20 Mbps"]  # of the bottleneck; one policy for both


def scenario():
    """Return one flow over a bottleneck with a large buffer, for 5 s."""
    return ackclock.Scenario.from_dict(
        {
            "name": "learn/window",
            "topology": {
                "kind": "dumbbell",
                "leaves": 1,
                "access": {"rate": "1 Gbps", "delay": "1 ms"},
                "bottleneck": {"rate": "10 Mbps", "delay": "18 ms", "queue": {"limit": "4 BDP"}},
            },
            "flows": [{"id": "F1", "from": "S1", "to": "D1"}],
            "stop": {"when": "time", "at_latest": "5 s"},
        }
    )


def episode(env, policy, rate):
    """Return the mean reward of a policy over an episode."""
    seen, _ = env.reset(seed=1, options={"topology.bottleneck.rate": rate})
    rewards, over = [], False
    while not over:
        action = np.tanh(policy[:-1] @ seen[SEEN] + policy[-1])
        seen, reward, terminated, truncated, _ = env.step(np.array([action], np.float32))
        rewards.append(reward)
        over = terminated or truncated
    return float(np.mean(rewards))


def worth(env, policy):
    """Return the mean reward of a policy over all networks."""
    return float(np.mean([episode(env, policy, rate) for rate in NETWORKS]))


def learn(generations=6, population=16, best=4, seed=1):
    """Return the policy found, and the mean worth of each generation."""
    env = gymnasium.make("ackclock/Congestion-v0", scenario=scenario())
    random = np.random.default_rng(seed)
    mean, spread = np.zeros(len(SEEN) + 1), np.full(len(SEEN) + 1, 2.0)
    history = []
    for _ in range(generations):
        policies = mean + spread * random.standard_normal((population, len(mean)))
        worths = np.array([worth(env, policy) for policy in policies])
        elite = policies[np.argsort(worths)[-best:]]
        mean, spread = elite.mean(axis=0), elite.std(axis=0) + 0.05
        history.append(float(worths.mean()))
    return mean, history, worth(env, mean)


if __name__ == "__main__":
    policy, history, final = learn()
    for number, value in enumerate(history, 1):
        print(f"generation {number}: mean reward {value:.3f}")
    print(f"policy found: mean reward {final:.3f}, weights {np.round(policy, 2)}")
