"""AdaMB as its pseudocode reads, for one learner: objects, lists and loops, and nothing made faster.

It is the yardstick of `adamb speed` for the paper's own program, which is built like this: a ball is an
object with a list of children, keeps a number for every cell of the next step, and after a sample each state
cell asks the whole tree for its best ball. It is written from the paper, with the constants of the authors'
program (γ = 2, φ = 1, one-step planning), and plays what the float reference plays with `deviations=authors`
(tests/host/reference/test_plain_program.py). What that program does twice, such as finding the ball that was
played, is done once here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np

Point = Sequence[float]


def _near(a: Point, b: Point) -> float:
    return max(abs(x - y) for x, y in zip(a, b, strict=True))


def _quarters(centre: Point, radius: float) -> list[list[float]]:
    """Centres of the halves in every dimension, from high to low."""
    return [list(each) for each in product(*([x + radius / 2, x - radius / 2] for x in centre))]


class PlainBall:
    """Samples of the balls above are in `n`, `rewards` and `counts` from the start."""

    def __init__(self, state: Point, action: Point, radius: float, level: int, q: float) -> None:
        self.state, self.action, self.radius, self.level, self.q = state, action, radius, level, q
        self.n = 0
        self.rewards = 0.0
        self.counts = [0.0]
        self.children: list[PlainBall] = []

    def holds(self, state: Point) -> bool:
        radius = self.radius
        for x, centre in zip(state, self.state, strict=True):  # noqa: SIM110 - all() of a generator takes longer
            if abs(x - centre) > radius:
                return False
        return True

    def split(self) -> list[PlainBall]:
        for state in _quarters(self.state, self.radius):
            for action in _quarters(self.action, self.radius):
                child = PlainBall(state, action, self.radius / 2, self.level + 1, self.q)
                child.n, child.rewards, child.counts = self.n, self.rewards, list(self.counts)
                self.children.append(child)
        return self.children

    def best(self, state: Point) -> PlainBall:
        """The active ball with the highest Q whose state side holds the point; the last of equal ones."""
        if not self.children:
            return self
        found: PlainBall | None = None
        for child in self.children:
            if child.holds(state):
                ball = child.best(state)
                if found is None or ball.q >= found.q:
                    found = ball
        assert found is not None, "the children of a ball cover it"
        return found


class PlainStep:
    """The partition of one step, its active balls, and V on the state cells that they induce."""

    def __init__(self, d_s: int, d_a: int, value: float) -> None:
        self.root = PlainBall([0.5] * d_s, [0.5] * d_a, 0.5, 0, value)
        self.balls = [self.root]
        self.cells: list[Point] = [self.root.state]
        self.radii = [0.5]
        self.values = [value]

    def nearest(self, state: Point) -> int:
        return min(range(len(self.cells)), key=lambda i: _near(self.cells[i], state))

    def divide(self, cell: int) -> int:
        """A cell becomes its halves, which have its V; how many they are."""
        halves, radius = _quarters(self.cells[cell], self.radii[cell]), self.radii[cell] / 2
        self.cells[cell : cell + 1] = halves
        self.radii[cell : cell + 1] = [radius] * len(halves)
        self.values[cell : cell + 1] = [self.values[cell]] * len(halves)
        return len(halves)


class PlainLearner:
    """The calls of a learner of the float reference."""

    def __init__(self, d_s: int, d_a: int, horizon: int, c: float, rng: np.random.Generator) -> None:
        self.horizon, self.c, self.rng = horizon, c, rng
        self.steps = [PlainStep(d_s, d_a, float(horizon)) for _ in range(horizon)]
        self.played = [step.root for step in self.steps]

    def act(self, h: int, state: Point) -> list[float]:
        ball = self.played[h] = self.steps[h].root.best(state)
        offsets = self.rng.random(len(ball.action)).tolist()
        return [a + (2 * u - 1) * ball.radius for a, u in zip(ball.action, offsets, strict=True)]

    def observe(self, h: int, reward: float, next_state: Point) -> None:
        step, ball = self.steps[h], self.played[h]
        ball.n += 1
        ball.rewards += reward
        if h + 1 < self.horizon:
            ball.counts[self.steps[h + 1].nearest(next_state)] += 1
        active = self._split(h, ball) if ball.n >= 4**ball.level else [ball]
        q = self._estimate(h, active[0])
        for each in active:
            each.q = min(q, each.q)
        for i, cell in enumerate(step.cells):
            step.values[i] = min(step.values[i], step.root.best(cell).q)

    def end_episode(self) -> None:
        """One-step planning leaves nothing to do."""

    def _estimate(self, h: int, ball: PlainBall) -> float:
        value = ball.rewards / ball.n + self.c / math.sqrt(ball.n)
        if h + 1 < self.horizon:
            following = self.steps[h + 1].values
            value += sum(n * v for n, v in zip(ball.counts, following, strict=True)) / ball.n
        return value

    def _split(self, h: int, ball: PlainBall) -> list[PlainBall]:
        step = self.steps[h]
        step.balls.remove(ball)
        step.balls += ball.split()
        for i, cell in enumerate(step.cells):
            if step.radii[i] == ball.radius and cell == ball.state:
                parts = step.divide(i)
                for above in self.steps[h - 1].balls if h > 0 else ():
                    above.counts[i : i + 1] = [above.counts[i] / parts] * parts
                break
        return ball.children
