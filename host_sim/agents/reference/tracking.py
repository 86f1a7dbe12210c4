"""The `tracking` mode of the controller for one learner in float64, written to be read beside the C core.

The same decisions in the same order as firmware_model/c, with real numbers in the place of integers: exact
division and square roots, no rounding, no saturation, no pool. Where both see the same samples they differ
only by the rounding of the core, which is how the core is tested.

What tracking does differently from the paper (names in capitals are in firmware_model/spec.toml):

* No Q is stored. A ball keeps its *surplus*, by how much its Q exceeded the expected value of its next state
  when it was last visited; Q for any step is the surplus plus the current expectation, so what is learnt
  about the next step changes every ball at once. An unvisited ball has the surplus and the next states of
  its parent.
* Only the parent's evidence is inherited: a few of its samples (PARENT_MOST), each with less weight than one
  of the ball (SAMPLE_WEIGHT), until the ball has enough (PARENT_UNTIL).
* A mean reward follows the last samples (MEMORY_SHIFT). One that is further off than the noise explains
  counts as one of all.
* A ball distinguishes at most MOST_CELLS next-state cells; a further one counts for the nearest.
* Q and V are free to rise. V of the visited cell is refreshed where the Q of its best action fell by
  SCAN_TOLERANCE, and set where it rose by as much; after a split the cells under the ball follow, one per
  sample.
* V of the cell that will be played next is refreshed before learning; with one dimension of state and one of
  action in the place of a cell under a split ball, and after the first episodes (NEXT_ALWAYS) only now and
  then (NEXT_MASK). With more dimensions a random cell of the step or of the first step is refreshed after
  every sample.
* Balls are compared as `ranking` says. An action that is finer than the best ball stays, and one that was
  played a step later (`share=off`: an episode ago) is tried where its ball is played.
* A ball whose mean reward is known well for its size is split early, with one dimension of state and one of
  action up to FINEST_EXTRA levels below the thresholds. With more dimensions one of LATE_LEVEL or finer is
  split only if it is known well. No ball is finer than the core's layout can name.
* `share=on`: one partition serves all steps, each with its own V.
* `bonus=auto`: a part (AUTO_BONUS_SHIFT) of what the best rewards of the step, or of all steps that share,
  are above their mean. The best reward starts at 1 and decays slowly. With more than 1+1 dimensions it is
  halved every few hundred episodes (FADE_SHIFT), a few times (FADE_MOST). A bonus is at most
  BONUS_SIDES c / 2^level.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from adamb.budgets.controller import level_limit
from adamb.firmware_model import _spec
from adamb.host_sim.agents.reference.knowledge import Knowledge
from adamb.host_sim.agents.reference.measures import REWARD_RATE, REWARD_RATE_SHARED
from adamb.host_sim.agents.reference.settings import MAX_LEVEL, ReferenceSettings
from adamb.host_sim.agents.reference.tracked import (
    Action,
    RefreshJob,
    TrackedBall,
    anywhere,
    inherited_weight,
    is_finer,
)
from adamb.host_sim.agents.reference.tree import key_of_path, path_of_key, path_of_state

#: Samples that a mean reward looks back, and what it takes in at once: multiples of the noise, and a margin.
MEMORY, MEMORY_NOISE, MEMORY_MARGIN = (
    1 << _spec.MEMORY_SHIFT,
    _spec.MEMORY_NOISE / 2,
    _spec.MEMORY_MARGIN / 65536,
)


class TrackingLearner(Knowledge):
    """Acts, and learns from every sample."""

    def __init__(self, settings: ReferenceSettings, rng: np.random.Generator, seed: int) -> None:
        super().__init__(settings)
        self.rng = rng
        self.thresholds = settings.thresholds
        self.finest = finest_level(settings)
        self.played: list[tuple[int, Action] | None] = [None] * settings.horizon
        self.last: list[Action | None] = [None] * settings.horizon
        self.depth = [0] * settings.horizon
        self.refused_splits = 0
        self._random = seed & 0xFFFF or _spec.SEED_ZERO

    # --- acting -------------------------------------------------------------------------------------------

    def act(self, h: int, state: Sequence[float]) -> list[float]:
        """The action that looked best in the state's cell when V was last refreshed there."""
        point = self.point(state)
        values = self.cells[h]
        action = values.best[values.cell_of(point)]
        if self.settings.action == "random":
            action = anywhere(action, self.rng.random(len(action)).tolist())
        self.played[h] = point, action
        return list(action)

    # --- learning -----------------------------------------------------------------------------------------

    def observe(self, h: int, reward: float, next_state: Sequence[float]) -> None:
        played = self.played[h]
        assert played is not None, "observe follows act"
        self.played[h] = None
        point, action = played
        self._follow_reward(h, reward)
        next_point = self.point(next_state)
        busy = self._look_ahead(h, next_point)
        next_value, next_action = self.ahead(h, next_point)
        ball = self.ball_at(h, point, action)
        self._add_sample(h, ball, reward, next_state)
        q = self._update_surplus(h, ball)
        self._measure(h, ball, reward, next_value)
        if self._due(h, ball):
            self._split(h, ball)
            self._refresh(h, point)
        else:
            self._refresh_visited(h, point, action, ball, q)
        if self.settings.action == "centre":
            self._follow(h, point, action, ball, next_action if self.shared else self.last[h])
        self.last[h] = action
        if not busy:
            self._refresh_later(h)

    def _follow_reward(self, h: int, reward: float) -> None:
        """Rewards are followed at a fixed rate, their mean at first about as that of all."""
        rate, samples = (
            (REWARD_RATE_SHARED, self.past_episodes * self.settings.horizon + 1)
            if self.shared
            else (REWARD_RATE, self.past_episodes + _spec.REWARD_FIRST)
        )
        self.measures[h].follow_reward(reward, max(rate, 0.5 ** (samples.bit_length() - 1)), rate)

    def _look_ahead(self, h: int, point: int) -> bool:
        """Refresh the cell that will be played next; whether that takes the turn of a job."""
        instead = self.settings.d_s + self.settings.d_a == 2
        if h + 1 == self.settings.horizon:
            return False
        if instead and self.past_episodes >= _spec.NEXT_ALWAYS and self._draw() & _spec.NEXT_MASK:
            return False
        self._refresh(h + 1, point)
        return instead

    def _refresh_later(self, h: int) -> None:
        """The next cell of a job, and in more dimensions any cell of this step or the first."""
        if self.jobs[h] is not None:
            self._continue_job(h)
        if self.settings.d_s + self.settings.d_a > 2:
            drawn, bits = self._draw(), self.settings.d_s * MAX_LEVEL
            step = 0 if drawn & _spec.LATER_FIRST_MASK else h
            self._refresh(step, 1 << bits | drawn << bits >> 16, divide=False)

    def end_episode(self) -> None:
        self.past_episodes += 1

    def ball_at(self, h: int, point: int, action: Action) -> TrackedBall:
        """The active ball that holds a state and an action; its action may come from a ball since split."""
        state_path = path_of_key(point, self.settings.d_s)
        action_path = path_of_state(action, self.depth[h])
        ball = self.roots[h]
        while ball.children is not None:
            ball = ball.children[state_path[ball.level]][~action_path[ball.level]]
        return ball

    def _add_sample(self, h: int, ball: TrackedBall, reward: float, next_state: Sequence[float]) -> None:
        ball.n += 1
        if ball.n <= MEMORY:
            ball.reward += (reward - ball.reward) / ball.n
        else:
            most = MEMORY_NOISE * self.measures[h].noise + MEMORY_MARGIN
            near = min(max(reward, ball.reward - most), ball.reward + most)
            ball.reward += (near - ball.reward) / MEMORY + (reward - near) / ball.n
        path = path_of_state(next_state, ball.level)
        ball.count_next(key_of_path(path, ball.level, self.settings.d_s))

    def _measure(self, h: int, ball: TrackedBall, reward: float, next_value: float) -> None:
        """How far the sample is from what its ball predicts."""
        if ball.n < _spec.NOISE_SAMPLES:
            return
        off = next_value - self.expected(h, ball)
        if h + 1 < self.settings.horizon:
            self.measures[h].follow_spread(off)
        self.measures[h].follow_noise(reward - ball.reward + off)

    def _update_surplus(self, h: int, ball: TrackedBall) -> float:
        """The ball's Q by the current model and values, kept as its surplus; the Q itself."""
        expected = self.expected(h, ball)
        value, inherited = ball.reward + expected, inherited_weight(ball)
        if inherited:
            assert ball.parent is not None
            above = ball.parent.reward + self.expected(h, ball.parent)
            value = (ball.n * value + inherited * above) / (ball.n + inherited)
        bonus = min(self.bonus(h, ball.n + inherited), _spec.BONUS_SIDES * self.factor(h) * 0.5**ball.level)
        q = self.clip(h, value + bonus)
        ball.surplus = q - expected
        return q

    def _due(self, h: int, ball: TrackedBall) -> bool:
        """Split test: by the threshold, of which what the parent's asked for counts as seen, or early.

        With many dimensions small balls are many: noise must not divide them.
        """
        if ball.level >= self.finest:
            return False
        threshold = self.thresholds[ball.level]
        if self.settings.split == "own":
            return ball.n + 1 >= threshold
        many = self.shared and self.settings.d_s + self.settings.d_a > 2
        if many and ball.level >= _spec.LATE_LEVEL and not self._known(h, ball, _spec.LATE_ERROR_SHIFT):
            return False
        before = self.thresholds[ball.level - 1] if ball.level else 0
        full = threshold <= _spec.THRESHOLD_MAX and ball.n + before >= threshold
        if full or ball.parent is None or ball.n & _spec.EARLY_MASK:
            return full
        return self._known(h, ball, _spec.EARLY_ERROR_SHIFT)

    def _known(self, h: int, ball: TrackedBall, shift: int) -> bool:
        """Is the error of the ball's mean at most c / 2^(level + shift)?"""
        error = self.measures[h].noise / math.sqrt(ball.n)
        return error * 2 ** (ball.level + shift) <= self.factor(h)

    def _split(self, h: int, ball: TrackedBall) -> None:
        settings = self.settings
        ball.split(settings.d_s, settings.d_a)
        self.leaves += (1 << settings.d_s + settings.d_a) - 1
        for step in range(settings.horizon) if self.shared else [h]:
            self.depth[step] = max(self.depth[step], ball.level + 1)
            pending = self.jobs[step]
            fresh = RefreshJob(ball.state_key, settings.d_s * MAX_LEVEL)
            self.jobs[step] = fresh if pending is None else pending.joined(ball.state_key)

    # --- V ------------------------------------------------------------------------------------------------

    def _refresh_visited(self, h: int, point: int, action: Action, ball: TrackedBall, q: float) -> None:
        """A scan where the best action was not played, or is worth less; a rise needs none.

        V is kept where its Q moved by less than the tolerance, so that small changes add up.
        """
        values = self.cells[h]
        key = values.cell_of(point)
        deep = key.bit_length() - 1 >= self.settings.d_s * ball.level
        change = q - values.mean[key]
        if values.best[key] != action or not deep or change <= -self.tolerance:
            self._refresh(h, point)
        elif change >= self.tolerance:
            values.set(key, q)

    def _follow(
        self, h: int, point: int, action: Action, ball: TrackedBall, candidate: Action | None
    ) -> None:
        """Try a finer action that was played elsewhere, where its ball is still the one to play."""
        if candidate is None or candidate == action or not is_finer(candidate, ball.centre()):
            return
        values = self.cells[h]
        key = values.cell_of(point)
        path = path_of_state(action, ball.level)
        if path_of_state(values.best[key], ball.level) == path:
            values.best[key] = candidate

    def _draw(self) -> int:
        """The core's own random numbers, so that both refresh the same cells."""
        x = self._random
        x ^= x << 7 & 0xFFFF
        x ^= x >> 9
        x ^= x << 8 & 0xFFFF
        self._random = x
        return x


def finest_level(settings: ReferenceSettings) -> int:
    """No ball is finer: where thresholds end, some levels more for 1+1 dimensions, or where codes end."""
    level = sum(threshold <= _spec.THRESHOLD_MAX for threshold in settings.thresholds)
    if settings.d_s + settings.d_a == 2 and settings.split == "inherited":
        level += _spec.FINEST_EXTRA
    return min(level, level_limit(settings.d_s, settings.d_a))
