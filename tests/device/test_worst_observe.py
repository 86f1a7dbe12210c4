"""The worst observe of a million steps, and the worst act, in instructions of an emulated Cortex-M0."""

from __future__ import annotations

import numpy as np
import pytest

from adamb.firmware_model import _spec
from adamb.host_sim.registry import make_problem
from adamb.host_sim.runner import simulate
from adamb.tools.device.latency.heaviest import WatchedAgent, price, replay, watch
from adamb.tools.device.latency.meters import DeepestAct
from adamb.tools.device.settings import DeviceSettings
from support.campaigns import few

for _package in ("ziglang", "unicorn", "capstone"):
    pytest.importorskip(_package, reason="pip install adamb[device]")

OBSERVE_MAX, OBSERVE_MEAN, ACT_MAX, ACT_MAX_2D = 20_000, 3_000, 200, 300


def gate(problem: str, steps: int, keep: int, instances: int) -> WatchedAgent:
    settings, agent = watch(problem, steps=steps, keep=keep, instances=instances)
    worst = price(settings, agent)
    print(f"{problem}: seeds 0..{instances - 1}: {worst}")
    assert worst.steps == steps and worst.replayed == keep
    assert agent.heaviest.blocks.shape == (keep, 2048)
    assert worst.observe_max <= OBSERVE_MAX
    # A small sample has a wide interval; a thousand calls must have their mean itself below the limit.
    slack = worst.observe_mean.ci95 or 0 if keep < 1000 else 0
    assert worst.observe_mean.mean - slack <= OBSERVE_MEAN
    return agent


@pytest.mark.parametrize("problem", few(["oil-laplace", "oil-noisy"]))
def test_the_worst_of_a_hundred_thousand_observe_calls_is_bounded(problem: str) -> None:
    gate(problem, 100_000, 200, 10)


@pytest.mark.parametrize("problem", few(["oil-laplace", "oil-noisy"]))
def test_the_worst_of_a_million_observe_calls_is_bounded_in_runs_of_2000_episodes(problem: str) -> None:
    gate(problem, 1_000_000, 1000, 100)


@pytest.mark.parametrize(
    "problem",
    ["oil-laplace", "oil-noisy"],
)
def test_the_worst_of_a_million_observe_calls_is_bounded_in_runs_of_10000_episodes(problem: str) -> None:
    gate(problem, 1_000_000, 1000, 20)


def test_long_noisy_runs_fill_the_pool_so_that_reclaiming_is_measured_too() -> None:
    _, agent = watch("oil-noisy", steps=1_000_000, keep=10, instances=20)
    assert (agent.stats()["reclaims"] > 0).any()


def test_counted_work_finds_the_observe_call_that_costs_most_instructions() -> None:
    seeds, episodes = [1, 2], 150
    made = make_problem("oil-noisy", seeds, episodes=episodes)
    agent = WatchedAgent(made.shape, budget_bytes=4096, keep=2 * 5 * episodes)
    simulate(made, agent, episodes=episodes)
    every = replay(agent.heaviest, DeviceSettings(1, 1, 5))
    assert len(every) == agent.calls_n
    by_work = np.argsort(agent.heaviest.keys)[::-1]
    assert every[by_work[: len(every) // 100]].max() == every.max()


def test_only_the_heaviest_are_kept_and_the_sample_is_uniform() -> None:
    _, few = watch("oil-laplace", steps=5000, keep=50, instances=10)
    _, all_of_them = watch("oil-laplace", steps=5000, keep=5000, instances=10)
    assert len(few.heaviest) == 50 and len(all_of_them.heaviest) == 5000
    most = np.sort(all_of_them.heaviest.keys)[-50:]
    assert np.sort(few.heaviest.keys).tolist() == most.tolist()
    assert few.blocks.tobytes() == all_of_them.blocks.tobytes()
    # The sample depends on the number of a call only, so every step of the horizon has its share.
    assert np.bincount(few.sample.steps, minlength=5).min() > 0


def test_watching_changes_nothing() -> None:
    from adamb.host_sim.agents import make_agent

    made = make_problem("oil-laplace", [0, 1], episodes=60)
    plain = make_agent("adamb", made, budget_bytes=4096, core="c")
    simulate(made, plain, episodes=60)
    _, watched = watch("oil-laplace", steps=600, keep=5, instances=2)
    assert watched.blocks.tobytes() == plain.blocks.tobytes()


def value_depth(block: np.ndarray, h: int) -> int:
    """Binary levels of the deepest value cell of step h."""
    slots = [(int(block[_spec.H_STEPS_AT]) + h * _spec.S_WORDS + _spec.S_V_SLOT, 0)]
    deepest = 0
    while slots:
        slot, depth = slots.pop()
        deepest = max(deepest, depth)
        if not block[slot] & _spec.TAG:
            below = int(block[slot]) << 2
            slots += [(below, depth + 1), (below + 1, depth + 1)]
    return deepest


def test_no_act_with_one_state_and_one_action_exceeds_200_instructions() -> None:
    deepest = DeepestAct(DeviceSettings(1, 1, 5).config(), "cortex-m0")
    assert deepest.instructions(deepest.deepest) <= ACT_MAX


def test_no_act_with_two_states_and_two_actions_exceeds_300_instructions() -> None:
    deepest = DeepestAct(DeviceSettings(2, 2, 5).config(), "cortex-m0")
    assert deepest.instructions(deepest.deepest) <= ACT_MAX_2D


def test_a_two_dimensional_run_reaches_the_deepest_value_cells() -> None:
    settings, agent = watch("oil-2d", steps=200_000, keep=200, instances=4, budget_bytes=16384)
    assert (settings.d_s, settings.d_a) == (2, 2)
    blocks = [*agent.sample.blocks, *agent.heaviest.blocks, *agent.blocks]
    found = max(value_depth(block, h) for block in blocks for h in range(settings.horizon))
    assert found == DeepestAct(settings.config(), "cortex-m0").deepest, "else the bound of act is not tight"
