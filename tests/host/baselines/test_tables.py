"""Baselines with tables of a fixed size do what their papers say."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from adamb.host_sim.baselines.action_zoom import ActionZooming
from adamb.host_sim.baselines.bandit import ArmBandit
from adamb.host_sim.baselines.cmac import TileSarsa
from adamb.host_sim.baselines.grid import NetQLearning
from adamb.host_sim.baselines.model import GridUCBVI, KernelUCBVI
from support.baselines import H, build, play


def test_epsql_updates_the_cell_it_played():
    agent = build(NetQLearning, size=4, bonus=0.3)
    q = np.empty((H, 4, 4))
    q[:] = (H - np.arange(H))[:, None, None]
    n = np.zeros_like(q)
    for h, states, actions, rewards, following in play(agent, 200):
        s, a, s2 = int(states[0, 0] * 4), int(actions[0, 0] * 4), int(following[0, 0] * 4)
        assert actions[0, 0] == (a + 0.5) / 4 and q[h, s, a] == pytest.approx(q[h, s].max(), abs=1e-9)
        n[h, s, a] += 1
        rate = (H + 1) / (H + n[h, s, a])
        value = min(H - h - 1, q[h + 1, s2].max()) if h + 1 < H else 0
        q[h, s, a] += rate * (rewards[0] + 0.3 / math.sqrt(n[h, s, a]) + value - q[h, s, a])
        expected = (q[h, s, a], n[h, s, a])
        if h == H - 1:
            last = expected
    assert agent.played(0, H - 1) == (pytest.approx(last[0]), last[1])


@pytest.mark.parametrize("kind", [NetQLearning, GridUCBVI])
def test_a_net_of_multiples_is_the_grid_of_centres_half_a_cell_to_the_left(kind):
    """A state stands for the nearest point, so the net for x is the grid for x + 1/8; 1 is no point."""
    net, grid = build(kind, size=4, net="multiples"), build(kind, size=4)
    generator = np.random.default_rng(2)
    for _ in range(100):
        for h in range(H):
            state = generator.random((net.n, net.d_s)) * 0.875
            played = net.act(h, state)
            assert played * 4 == pytest.approx(np.round(played * 4)) and played.max() < 0.8
            assert grid.act(h, state + 0.125) == pytest.approx(played + 0.125)
            reward, following = generator.random(net.n), generator.random((net.n, net.d_s)) * 0.875
            net.observe(h, reward, following)
            grid.observe(h, reward, following + 0.125)
        net.end_episode()
        grid.end_episode()
    assert net.played(0, 0)[0] < H, "it has learned"


class DenseUCBVI:
    """UCBVI on a grid with dense arrays, planned by the book."""

    def __init__(self, size: int, c: float, monotone: bool) -> None:
        self.size, self.c, self.monotone = size, c, monotone
        self.q = np.empty((H + 1, size, size))
        self.q[:] = (H - np.arange(H + 1))[:, None, None]
        self.n = np.zeros((H, size, size))
        self.reward = np.zeros((H, size, size))
        self.next = np.zeros((H, size, size, size))

    def plan(self, h, s):
        v = self.q[h + 1].max(axis=1)
        for a in np.flatnonzero(self.n[h, s]):
            n = self.n[h, s, a]
            estimate = min(H - h, (self.reward[h, s, a] + self.next[h, s, a] @ v) / n + self.c / math.sqrt(n))
            self.q[h, s, a] = min(self.q[h, s, a], estimate) if self.monotone else estimate

    def plan_all(self):
        for h, s in itertools.product(reversed(range(H)), range(self.size)):
            self.plan(h, s)

    def learn(self, h, s, a, reward, s2):
        self.n[h, s, a] += 1
        self.reward[h, s, a] += reward
        self.next[h, s, a, s2] += 1


@pytest.mark.parametrize("counts", ["dense", "sparse"])
@pytest.mark.parametrize("monotone", ["on", "off"])
@pytest.mark.parametrize("planning", ["one-step", "full"])
def test_epsmb_plans_as_ucbvi_on_its_grid(planning, monotone, counts):
    agent = build(GridUCBVI, size=3, bonus=0.3, planning=planning, monotone=monotone, counts=counts)
    book = DenseUCBVI(3, 0.3, monotone == "on")
    for h, states, actions, rewards, following in play(agent, 100):
        s, a, s2 = (int(v[0, 0] * 3) for v in (states, actions, following))
        if planning == "one-step":
            book.plan(h, s)
        elif h == 0:
            book.plan_all()
        assert book.q[h, s, a] == pytest.approx(book.q[h, s].max(), abs=1e-9)
        assert agent.played(0, h)[0] == pytest.approx(book.q[h, s, a], abs=1e-9)
        book.learn(h, s, a, rewards[0], s2)


def test_epsmb_sends_a_next_state_without_room_to_the_nearest_entry():
    shape = {"size": 4, "actions": 1, "counts": "sparse", "horizon": 2, "bonus": 0.0, "monotone": "off"}
    table = build(GridUCBVI, **shape).table_bytes(4)
    for room, expected in ((0, 0.1), (1, (0.1 + 2 * 0.3) / 3), (2, (0.1 + 0.3 + 0.9) / 3)):
        agent = build(GridUCBVI, budget=table + 4 * room, **shape)
        for following in (0.1, 0.3, 0.9):
            agent.act(0, np.array([[0.6]]))
            agent.observe(0, np.array([0.0]), np.array([[following]]))
            agent.act(1, np.array([[following]]))
            agent.observe(1, np.array([following]), np.array([[0.5]]))
        for following in (0.1, 0.3, 0.9):
            agent.act(1, np.array([[following]]))
        agent.act(0, np.array([[0.6]]))
        assert agent.stats()["entries"][0] == 1 + room
        assert agent.played(0, 0)[0] == pytest.approx(expected)
        assert agent.bytes_peak()[0] == table + 4 * room


def test_full_count_bytes_halve_their_row_and_keep_its_proportions():
    agent = build(GridUCBVI, size=2, actions=1, horizon=2, bonus=0.0, planning="full", monotone="off")
    for k in range(1200):
        following = np.array([[0.25 if k % 4 else 0.75]])
        agent.act(0, np.array([[0.2]]))
        agent.observe(0, np.array([0.0]), following)
        agent.act(1, following)
        agent.observe(1, np.array([following[0, 0]]), following)
        agent.end_episode()
    agent.act(0, np.array([[0.2]]))
    assert agent.stats()["saturations"][0] >= 2
    assert agent.played(0, 0)[0] == pytest.approx(0.75 * 0.25 + 0.25 * 0.75, abs=0.01)


def test_kernel_ucbvi_weighs_neighbours_by_hand():
    agent = build(KernelUCBVI, size=10, actions=1, horizon=1, bonus=0.3, bandwidth=0.4)
    for state, reward in ((0.2, 0.6), (0.2, 0.4), (0.4, 1.0), (0.9, 0.0)):
        agent.act(0, np.array([[state]]))
        agent.observe(0, np.array([reward]), np.array([[state]]))
    agent.act(0, np.array([[0.2]]))
    near = 1 - (0.2 / 0.4) ** 2
    weight = 0.01 + 2 + near
    mean = (0.01 * 1 + 2 * 0.5 + near * 1.0) / weight
    assert agent.played(0, 0)[0] == pytest.approx(min(1, mean + 0.3 / math.sqrt(weight)))
    assert agent.stats()["states"][0] == 3


def test_cmac_learns_by_sarsa_on_the_action_really_taken():
    agent = build(TileSarsa, horizon=2, tilings=1, size=2, actions=2, rate=0.5, bonus=1.0, epsilon=0.0)
    first = agent.act(0, np.array([[0.1]]))[0]
    agent.observe(0, np.array([0.2]), np.array([[0.9]]))
    assert agent.value(0, 0, np.array([0.1]), first) == 2.0, "nothing is learned before the next action"
    second = agent.act(1, np.array([[0.9]]))[0]
    assert agent.value(0, 0, np.array([0.1]), first) == pytest.approx(2 + 0.5 * (0.2 + 1 - 2))
    agent.observe(1, np.array([0.4]), np.array([[0.9]]))
    assert agent.value(0, 1, np.array([0.9]), second) == pytest.approx(1 + 0.5 * (0.4 - 1))
    assert agent.value(0, 1, np.array([0.9]), 1 - second) == 1.0


def test_cmac_without_steps_bootstraps_beyond_the_episode():
    agent = build(TileSarsa, horizon=1, share="on", discount=0.5, tilings=1, size=2, actions=2, rate=0.5, epsilon=0.0)
    action = agent.act(0, np.array([[0.1]]))[0]
    first = agent.value(0, 0, np.array([0.1]), action)
    assert first == pytest.approx(0.7 * 2), "the default optimism of a return of 1/(1-discount)"
    agent.observe(0, np.array([0.2]), np.array([[0.9]]))
    assert agent.value(0, 0, np.array([0.1]), action) == pytest.approx(first + 0.5 * (0.2 + 0.5 * first - first))


def test_bandit_plays_mean_plus_bonus_and_credits_the_return():
    agent = build(ArmBandit, horizon=2, size=2, bonus=0.5)
    returns = {0.25: (0.2, 0.4), 0.75: (0.9, 0.7)}
    state = np.array([[0.5]])
    for _ in range(2):
        arm = float(agent.act(0, state)[0, 0])
        agent.observe(0, np.array([returns[arm][0]]), state)
        assert agent.act(1, state)[0, 0] == arm, "one arm for the whole episode"
        agent.observe(1, np.array([returns[arm][1]]), state)
        agent.end_episode()
    assert agent.mean[0, 0] == pytest.approx([0.3, 0.8])
    assert agent.count[0, 0].tolist() == [1, 1]
    assert agent.act(0, state)[0, 0] == 0.75


def test_bandit_zoom_holds_an_action_and_divides_the_best_cell():
    agent = build(ActionZooming, horizon=2, bonus=0.0)
    state = np.array([[0.5]])
    means = []
    for rewards in ((0.2, 0.4), (0.6, 1.0)):
        action = agent.act(0, state)[0, 0]
        agent.observe(0, np.array([rewards[0]]), state)
        assert agent.act(1, state)[0, 0] == action
        agent.observe(1, np.array([rewards[1]]), state)
        agent.end_episode()
        means.append(agent.played(0))
    # The root's mean .3 counts as the first sample of its children; level 1 divides at 4 samples.
    assert means == [(pytest.approx(0.3), 1, 0), (pytest.approx((0.3 + 0.8) / 2), 2, 1)]
    assert agent.act(0, state)[0, 0] == action


def test_cmac_tilings_share_an_update_by_distance():
    agent = build(TileSarsa, horizon=1, tilings=4, size=4, rate=1.0, bonus=0.0, actions=1, epsilon=0.0)
    agent.act(0, np.array([[0.5]]))
    agent.observe(0, np.array([1.0]), np.array([[0.5]]))
    values = [agent.value(0, 0, np.array([x]), np.array([0.5])) for x in (0.5, 0.6, 0.8, 0.99)]
    assert values[0] == pytest.approx(1.0)
    assert 0 < values[1] < 1 and values[3] == 0
    assert values == sorted(values, reverse=True)
