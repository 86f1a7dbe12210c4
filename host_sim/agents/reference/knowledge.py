"""What the reference of `tracking` knows, and how values are read from it and kept up to date."""

from __future__ import annotations

import math
from collections.abc import Sequence

from adamb.firmware_model import _spec
from adamb.firmware_model.config import fraction_bits
from adamb.host_sim.agents.reference.measures import Measures
from adamb.host_sim.agents.reference.ranking import Choice, Ranked, choose
from adamb.host_sim.agents.reference.settings import MAX_LEVEL, ReferenceSettings
from adamb.host_sim.agents.reference.tracked import Action, RefreshJob, TrackedBall, Values, is_finer
from adamb.host_sim.agents.reference.tree import key_of_path, path_of_key, path_of_state, relevant


class Knowledge:
    """One partition per step, or one for all; a value function per step."""

    def __init__(self, settings: ReferenceSettings) -> None:
        self.settings = settings
        one = 1 << fraction_bits(settings.horizon)
        self.tolerance, self.near = _spec.SCAN_TOLERANCE / one, (1 << _spec.VALUE_NEAR_SHIFT) / one
        self.shared = settings.share == "on"
        self.past_episodes = 0
        steps = range(settings.horizon)
        root_action = (0,) * settings.d_a
        trees = [TrackedBall(None, 0, 1, root_action) for _ in range(1 if self.shared else len(steps))]
        measures = [Measures() for _ in trees]
        self.roots = trees * len(steps) if self.shared else trees
        self.measures = measures * len(steps) if self.shared else measures
        self.leaves = len(trees)
        self.cells = [Values(float(settings.horizon - h), trees[0].centre()) for h in steps]
        self.jobs: list[RefreshJob | None] = [None] * settings.horizon

    def point(self, state: Sequence[float]) -> int:
        return key_of_path(path_of_state(state, MAX_LEVEL), MAX_LEVEL, self.settings.d_s)

    def value(self, h: int, state: Sequence[float]) -> float:
        """V of step h; 0 after the last step."""
        if h == self.settings.horizon:
            return 0.0
        return self.cells[h].mean[self.cells[h].cell_of(self.point(state))]

    # --- Q ------------------------------------------------------------------------------------------------

    def factor(self, h: int) -> float:
        """c of the bonus c/sqrt(n)."""
        c = self.settings.bonus
        if c != "auto":
            return float(c)
        many = self.settings.d_s + self.settings.d_a > 2
        halved = min(self.past_episodes >> _spec.FADE_SHIFT, _spec.FADE_MOST) if many else 0
        return self.measures[h].auto_bonus() * 0.5**halved

    def bonus(self, h: int, n: float) -> float:
        return self.factor(h) / math.sqrt(n)

    def expected(self, h: int, ball: TrackedBall) -> float:
        """Expected value of the next state under the ball's own counts; nothing follows the last step."""
        if h + 1 == self.settings.horizon:
            return 0.0
        mean = self.cells[h + 1].mean
        total = 0.0
        for key, count in ball.next_counts:
            while key not in mean:
                key >>= 1
            total += count * mean[key]
        return total / ball.n

    def q(self, h: int, ball: TrackedBall) -> float:
        """Q of a ball, not clipped; the optimistic maximum where nothing was visited yet."""
        if ball.parent is None and not ball.n:
            return math.inf
        return ball.surplus + self.expected(h, ball.source())

    def clip(self, h: int, q: float) -> float:
        return min(max(q, 0.0), float(self.settings.horizon - h))

    # --- V ------------------------------------------------------------------------------------------------

    def scan(self, h: int, point: int) -> tuple[TrackedBall, float, int]:
        """Best of the balls whose state side holds the point, its Q, and their finest level."""
        balls = list(relevant(self.roots[h], path_of_key(point, self.settings.d_s)))
        if balls[0].parent is None and not balls[0].n:
            return balls[0], self.clip(h, math.inf), 0
        ranked = [Ranked(ball, self.expected(h, ball.source())) for ball in balls]
        best = self.choose(h, ranked, self.played_rewards(h, point))
        return best.ball, self.clip(h, best.q), max(ball.level for ball in balls)

    def choose(self, h: int, ranked: list[Ranked], played: list[float]) -> Choice:
        return choose(ranked, self.measures[h], played, last=h + 1 == self.settings.horizon)

    def played_rewards(self, h: int, point: int) -> list[float]:
        """Mean rewards of the visited balls on the way to the one that the state plays, root first."""
        values = self.cells[h]
        state_path = path_of_key(point, self.settings.d_s)
        action_path = path_of_state(values.best[values.cell_of(point)], MAX_LEVEL)
        ball, rewards = self.roots[h], []
        while ball.n:
            rewards.append(ball.reward)
            if ball.children is None:
                break
            ball = ball.children[state_path[ball.level]][~action_path[ball.level]]
        return rewards

    def _refresh(self, h: int, point: int, *, divide: bool = True) -> int:
        """V and best action of the cell that holds the point; the cell.

        With more than 1+1 dimensions a cell that plays the same for about the same value is not divided.
        """
        best, q, finest = self.scan(h, point)
        values, centre = self.cells[h], best.centre()
        key = values.cell_of(point)
        same = values.best[key] == centre or is_finer(values.best[key], centre)
        agrees = same and -self.near <= values.mean[key] - q < self.near
        if divide and not (agrees and self.settings.d_s + self.settings.d_a > 2):
            key = values.refine(point, self.settings.d_s * finest)
        values.set(key, q)
        if not is_finer(values.best[key], centre):
            values.best[key] = centre
        return key

    def _continue_job(self, h: int) -> None:
        job = self.jobs[h]
        assert job is not None
        if not job.advance(self._refresh(h, job.point)):
            self.jobs[h] = None

    def ahead(self, h: int, point: int) -> tuple[float, Action | None]:
        """V and action of the cell that follows; nothing follows the last step."""
        if h + 1 == self.settings.horizon:
            return 0.0, None
        values = self.cells[h + 1]
        key = values.cell_of(point)
        return values.mean[key], values.best[key]
