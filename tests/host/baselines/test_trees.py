"""Baselines that divide cells do what their papers say."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from adamb.host_sim.baselines.tree import AdaptiveQLearning, ContextualZooming
from support.baselines import H, build, play


class Balls:
    """Adaptive Q-learning as printed: a list of balls per step, each a cube with its own Q and n."""

    def __init__(self, d_s: int, d_a: int, horizon: int, c: float, share: bool) -> None:
        self.d_s, self.d, self.horizon, self.c, self.share = d_s, d_s + d_a, horizon, c, share
        values = [float(horizon - h) for h in range(horizon)]
        self.trees = [[self.ball((0,) * self.d, 0, values, 0)] for _ in range(1 if share else horizon)]

    @staticmethod
    def ball(cell, level, q, n):
        return {"cell": cell, "level": level, "q": list(q), "n": n}

    def relevant(self, h, x):
        tree = self.trees[0 if self.share else h]
        return [b for b in tree if all(int(v * 2 ** b["level"]) == k for v, k in zip(x, b["cell"], strict=False))]

    def value(self, h, x):
        if h == self.horizon:
            return 0.0
        return min(self.horizon - h, max(b["q"][h] for b in self.relevant(h, x)))

    def played(self, h, x, action):
        """The relevant ball whose action centre was played; it must be one of the best."""
        balls = self.relevant(h, x)
        centre = {tuple((k + 0.5) / 2 ** b["level"] for k in b["cell"][self.d_s :]): b for b in balls}
        assert len(centre) == len(balls)
        ball = centre[tuple(action)]
        assert ball["q"][h] == pytest.approx(max(b["q"][h] for b in balls), abs=1e-9)
        return ball

    def learn(self, h, ball, reward, following):
        ball["n"] += 1
        t = ball["n"]
        rate = (self.horizon + 1) / (self.horizon + t)
        for step in range(self.horizon) if self.share else [h]:
            target = reward + self.c / math.sqrt(t) + self.value(step + 1, following)
            ball["q"][step] = (1 - rate) * ball["q"][step] + rate * target
        q, n = ball["q"][h], t
        if t >= 4 ** ball["level"]:
            tree = self.trees[0 if self.share else h]
            tree.remove(ball)
            for digit in itertools.product((0, 1), repeat=self.d):
                cell = tuple(2 * k + bit for k, bit in zip(ball["cell"], digit, strict=True))
                tree.append(self.ball(cell, ball["level"] + 1, ball["q"], t))
        return q, n


@pytest.mark.parametrize(
    ("d_s", "d_a", "options"),
    [
        (1, 1, {}),
        (1, 1, {"layout": "lazy"}),
        (1, 2, {"layout": "eager"}),
        (2, 1, {}),
        (2, 2, {}),
        (1, 1, {"share": "on"}),
        (2, 1, {"share": "on"}),
    ],
)
def test_adaql_plays_and_learns_as_the_paper_prints_it(d_s, d_a, options):
    agent = build(AdaptiveQLearning, d_s=d_s, d_a=d_a, bonus=0.4, **options)
    paper = Balls(d_s, d_a, H, 0.4, options.get("share") == "on")
    pending = None
    for h, states, actions, rewards, following in play(agent, 150):
        if pending is not None:
            step, q, n = pending
            assert agent.played(0, step)[:2] == (pytest.approx(q, abs=1e-9), n)
        ball = paper.played(h, states[0], actions[0])
        pending = (h, *paper.learn(h, ball, rewards[0], following[0]))
    if options.get("layout") == "eager" or (d_s + d_a == 2 and "layout" not in options):
        assert agent.stats()["leaves"][0] == sum(len(tree) for tree in paper.trees)


def test_stepless_adaql_discounts_a_return_without_end():
    agent = build(AdaptiveQLearning, horizon=2, bonus=0.0, share="stepless", discount=0.75)
    state = np.array([[0.5]])
    agent.act(0, state)
    agent.observe(0, np.array([0.3]), state)
    assert agent.played(0, 0) == (pytest.approx(0.3 + 0.75 * 4), 1, 0)
    agent.act(1, state)
    agent.observe(1, np.array([0.5]), state)
    # Rate 3/4, and the last step looks ahead like any other: its children all hold 3.3.
    assert agent.played(0, 1) == (pytest.approx(0.25 * 3.3 + 0.75 * (0.5 + 0.75 * 3.3)), 2, 1)
    assert agent.bytes_used()[0] == 16 + 4 * 5


def test_zoom_keeps_the_mean_of_the_immediate_reward():
    agent = build(ContextualZooming, bonus=0.5, phi=100)
    total, rounds = 0.0, 0
    for _h, _states, actions, rewards, _following in play(agent, 30):
        assert actions[0] == 0.5
        total, rounds = total + rewards[0], rounds + 1
    q, n, level = agent.played(0, H - 1)
    assert (q, n, level) == (pytest.approx(total / rounds), 3 * 30, 0)


def test_zoom_prefers_the_largest_mean_plus_confidence():
    agent = build(ContextualZooming, horizon=1, bonus=0.2)
    state = np.array([[0.3]])
    for reward in (0.5, 0.9, 0.1):
        agent.act(0, state)
        agent.observe(0, np.array([reward]), state)
    # Root: mean .5 and n=1, inherited by its children a and b. One got .9 (mean .7), and still has the
    # larger index (.7 + .2/sqrt(2) against .5 + .2), so it was played again: mean .5, n=3.
    assert agent.played(0, 0) == (pytest.approx(0.5), 3, 1)
    before = agent.act(0, state)
    assert agent.played(0, 0)[:2] == (pytest.approx(0.5), 1), "now the sibling's confidence is wider"
    assert before in (0.25, 0.75)
