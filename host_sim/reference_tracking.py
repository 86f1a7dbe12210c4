"""The `tracking` mode of the controller for one learner in float64, written to be read beside the C core.

The same decisions in the same order as firmware_model/c, with real numbers in the place of integers: exact
division and square roots, no rounding, no saturation, no pool. Where both see the same samples they differ
only by the rounding of the core, which is how the core is tested.

What tracking does differently from the paper:

* No Q is stored. A ball keeps its *surplus*, by how much its Q exceeded the expected value of its next state
  when it was last visited; Q for any step is the surplus plus today's expectation, so news about the next
  step reaches every ball at once. An unvisited ball has the surplus and the next states of its parent.
* Only the parent's evidence is inherited: a quarter of its samples, at most 4^(level-1) of them, and nothing
  once the ball has more samples than its parent.
* A ball distinguishes at most four next-state cells; a fifth counts for the nearest.
* Q and V are free to rise. V of the visited cell is refreshed where the Q of its best action has moved by a
  64th or more; after a split the cells under the ball follow, one per sample.
* V of the cell that will be played next is refreshed before learning; with one dimension of state and one of
  action only at one sample in eight, and then in the place of a cell under a split ball. With more
  dimensions a random cell of the step or of the first step is refreshed after every sample.
* A ball that earns three bonuses more than its parent did is split early, from a quarter of the samples on.
* `share=on`: one partition serves all steps, each with its own V.
* `bonus=auto`: half of what the best rewards of the step (of all steps that share) are above their mean. The
  best reward starts at 1 and is forgotten slowly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from adamb.firmware_model import _spec
from adamb.host_sim.reference_settings import MAX_LEVEL, Settings
from adamb.host_sim.reference_tree import (
    StateCells,
    key_of_path,
    path_of_key,
    path_of_state,
    relevant,
)

AUTO_FACTOR = 0.5
WINDOWS = 64, 128  # samples of a step that its mean reward and its best reward look back
WINDOWS_SHARED = 256, 256
MOST_CELLS = 4

Action = tuple[float, ...]


class TrackedBall:
    """One node of a partition; without children it is an active ball.

    `n`, `reward` and `next_counts` (pairs of cell key and count) are of the ball's own samples.
    """

    __slots__ = ("action_index", "children", "level", "n", "next_counts", "parent", "reward", "state_key",
                 "surplus")  # fmt: skip

    def __init__(
        self, parent: TrackedBall | None, level: int, state_key: int, action_index: tuple[int, ...]
    ) -> None:
        self.parent, self.level, self.state_key, self.action_index = parent, level, state_key, action_index
        self.surplus: float = math.inf if parent is None else parent.surplus
        self.n = 0
        self.reward = 0.0
        self.next_counts: list[list[int]] = []
        self.children: list[list[TrackedBall]] | None = None

    def split(self, d_s: int, d_a: int) -> None:
        """2^d unvisited children; children[state bits] lists the actions from high to low."""
        self.children = [
            [
                TrackedBall(
                    self,
                    self.level + 1,
                    self.state_key << d_s | state_bits,
                    tuple(2 * i + half for i, half in zip(self.action_index, halves, strict=True)),
                )
                for halves in product((1, 0), repeat=d_a)
            ]
            for state_bits in range(1 << d_s)
        ]

    def centre(self) -> Action:
        width = 0.5**self.level
        return tuple((i + 0.5) * width for i in self.action_index)

    def count_next(self, key: int) -> None:
        """Count a next-state cell, or the nearest of four where it would be a fifth.

        "Nearest" is by position in the order of keys. Among equally near ones the core meets the cell that
        came fourth first, so that is where it stands in the list.
        """
        for entry in self.next_counts:
            if entry[0] == key:
                entry[1] += 1
                return
        found = len(self.next_counts)
        if found == MOST_CELLS:
            min(self.next_counts, key=lambda entry: abs(entry[0] - key))[1] += 1
        else:
            self.next_counts.insert(0 if found == MOST_CELLS - 1 else found, [key, 1])

    def ancestors(self) -> Iterator[TrackedBall]:
        ball = self.parent
        while ball is not None:
            yield ball
            ball = ball.parent

    def walk(self) -> Iterator[TrackedBall]:
        stack = [self]
        while stack:
            ball = stack.pop()
            yield ball
            if ball.children is not None:
                for row in ball.children:
                    stack.extend(row)


class Values(StateCells):
    """V of one step and the action that looked best in each cell.

    The cells are those of a binary tree over the interleaved bits of the state: level l has d_s * l of them.
    """

    def __init__(self, value: float, action: Action) -> None:
        super().__init__(1, value)
        self.best = {1: action}

    def cell_of(self, point: int) -> int:
        """The cell that holds a point, which is itself a key of full depth."""
        mean, key, shift = self.mean, 1, point.bit_length() - 1
        while key << 1 in mean:
            shift -= 1
            key = point >> shift
        return key

    def refine(self, point: int, depth: int) -> int:
        """The cell that holds a point, at least so deep; new cells start as the one they are cut from."""
        key = self.cell_of(point)
        while key.bit_length() - 1 < depth:
            self.split(key)
            self.best[key << 1] = self.best[key << 1 | 1] = self.best[key]
            key = point >> point.bit_length() - key.bit_length() - 1
        return key


class Job:
    """Cells of one step that are still to be refreshed after a split: those under `cell`, from `point` on."""

    def __init__(self, cell: int, depth: int) -> None:
        self.cell, self.depth = cell, depth
        self.point = cell << depth + 1 - cell.bit_length()

    def joined(self, cell: int) -> Job:
        """One job for the smallest cell that holds both; it begins anew."""
        a, b = self.cell, cell
        shorter = min(a.bit_length(), b.bit_length())
        a, b = a >> a.bit_length() - shorter, b >> b.bit_length() - shorter
        while a != b:
            a, b = a >> 1, b >> 1
        return Job(a, self.depth)

    def advance(self, done: int) -> bool:
        """Go on behind a finished cell; False at the end."""
        self.point = self._behind(done)
        return self.point < self._behind(self.cell)

    def _behind(self, cell: int) -> int:
        return cell + 1 << self.depth + 1 - cell.bit_length()


class TrackingLearner:
    """One partition per step, or one for all; a value function per step."""

    def __init__(self, settings: Settings, rng: np.random.Generator, seed: int) -> None:
        self.settings, self.rng = settings, rng
        self.thresholds = settings.thresholds
        self.tolerance = _spec.SCAN_TOLERANCE / (1 << fraction_bits(settings.horizon))
        self.shared = settings.share == "on"
        steps = range(settings.horizon)
        root_action = (0,) * settings.d_a
        trees = [TrackedBall(None, 0, 1, root_action) for _ in range(1 if self.shared else len(steps))]
        self.roots = trees * len(steps) if self.shared else trees
        self.cells = [Values(float(settings.horizon - h), trees[0].centre()) for h in steps]
        self.jobs: list[Job | None] = [None] * settings.horizon
        self.played: list[tuple[int, Action] | None] = [None] * settings.horizon
        self.leaves = len(trees)
        self.depth = [0] * settings.horizon
        self.refused_splits = 0
        followed = 1 if self.shared else settings.horizon
        self.mean_reward = [0.0] * followed
        self.top_reward = [1.0] * followed
        self._random = seed & 0xFFFF or 0x5EED

    # --- acting -------------------------------------------------------------------------------------------

    def act(self, h: int, state: Sequence[float]) -> list[float]:
        """The action that looked best in the state's cell when V was last refreshed there."""
        point = self.point(state)
        values = self.cells[h]
        action = values.best[values.cell_of(point)]
        if self.settings.action == "random":
            action = self._anywhere(action)
        self.played[h] = point, action
        return list(action)

    def _anywhere(self, centre: Action) -> Action:
        """A uniform point of the ball around a centre: the last binary digit of a centre tells its width."""
        width = max(x.as_integer_ratio()[1] for x in centre)
        offsets = self.rng.random(len(centre)).tolist()
        return tuple(x + (2 * u - 1) / width for x, u in zip(centre, offsets, strict=True))

    def point(self, state: Sequence[float]) -> int:
        return key_of_path(path_of_state(state, MAX_LEVEL), MAX_LEVEL, self.settings.d_s)

    # --- learning -----------------------------------------------------------------------------------------

    def observe(self, h: int, reward: float, next_state: Sequence[float]) -> None:
        played = self.played[h]
        assert played is not None, "observe follows act"
        self.played[h] = None
        point, action = played
        self._follow_reward(h, reward)
        busy = self._look_ahead(h, self.point(next_state))
        ball = self.ball_at(h, point, action)
        self._add_sample(ball, reward, next_state)
        q = self._update_surplus(h, ball)
        if self._due(h, ball):
            self._split(h, ball)
            self._refresh(h, point)
        elif not self._holds(h, point, action, ball, q):
            self._refresh(h, point)
        if not busy:
            self._refresh_later(h)

    def _follow_reward(self, h: int, reward: float) -> None:
        i, (window, top_window) = (0, WINDOWS_SHARED) if self.shared else (h, WINDOWS)
        mean, top = self.mean_reward[i], self.top_reward[i]
        self.mean_reward[i] = mean + (reward - mean) / window
        self.top_reward[i] = max(reward, top - max(top - mean, 0.0) / top_window)

    def _look_ahead(self, h: int, point: int) -> bool:
        """Refresh the cell that will be played next; whether that takes the turn of a job."""
        seldom = self.settings.d_s + self.settings.d_a == 2
        if h + 1 == self.settings.horizon or (seldom and self._draw() & _spec.NEXT_MASK):
            return False
        self._refresh(h + 1, point)
        return seldom

    def _refresh_later(self, h: int) -> None:
        """The next cell of a job, and in more dimensions any cell of this step or the first."""
        if self.jobs[h] is not None:
            self._continue_job(h)
        if self.settings.d_s + self.settings.d_a > 2:
            drawn, bits = self._draw(), self.settings.d_s * MAX_LEVEL
            self._refresh(0 if drawn & 1 else h, 1 << bits | drawn << bits >> 16)

    def end_episode(self) -> None:
        """Nothing waits for the end of an episode here."""

    def ball_at(self, h: int, point: int, action: Action) -> TrackedBall:
        """The active ball that holds a state and an action; its action may come from a ball since split."""
        state_path = path_of_key(point, self.settings.d_s)
        action_path = path_of_state(action, self.depth[h])
        ball = self.roots[h]
        while ball.children is not None:
            ball = ball.children[state_path[ball.level]][~action_path[ball.level]]
        return ball

    def _add_sample(self, ball: TrackedBall, reward: float, next_state: Sequence[float]) -> None:
        ball.n += 1
        ball.reward += (reward - ball.reward) / ball.n
        path = path_of_state(next_state, ball.level)
        ball.count_next(key_of_path(path, ball.level, self.settings.d_s))

    def _update_surplus(self, h: int, ball: TrackedBall) -> float:
        """The ball's Q by today's model and values, kept as its surplus; the Q itself."""
        expected = self.expected(h, ball)
        value, inherited = ball.reward + expected, inherited_weight(ball)
        if inherited:
            assert ball.parent is not None
            above = ball.parent.reward + self.expected(h, ball.parent)
            value = (ball.n * value + inherited * above) / (ball.n + inherited)
        q = self.clip(h, value + self.bonus(h, ball.n + inherited))
        ball.surplus = q - expected
        return q

    def bonus(self, h: int, n: float) -> float:
        c, i = self.settings.bonus, 0 if self.shared else h
        spread = max(self.top_reward[i] - self.mean_reward[i], 0.0)
        return (AUTO_FACTOR * spread if c == "auto" else float(c)) / math.sqrt(n)

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
        """Q of a ball, not clipped; where nothing was visited yet there is only hope."""
        source = ball if ball.n else ball.parent
        return math.inf if source is None else ball.surplus + self.expected(h, source)

    def clip(self, h: int, q: float) -> float:
        return min(max(q, 0.0), float(self.settings.horizon - h))

    def _due(self, h: int, ball: TrackedBall) -> bool:
        """Split test. Inherited samples count for at most what the parent's threshold asked for."""
        threshold = self.thresholds[ball.level]
        if self.settings.split == "own":
            due = ball.n + 1 >= threshold
        else:
            before = self.thresholds[ball.level - 1] if ball.level else 0
            due = min(sum(above.n for above in ball.ancestors()), before) + ball.n >= threshold
            due = due or self._leads(h, ball)
        if due and ball.level + 1 == MAX_LEVEL:
            self.refused_splits += 1
            return False
        return due

    def _leads(self, h: int, ball: TrackedBall) -> bool:
        """Does the ball earn three bonuses more than its parent did? Asked at powers of two samples."""
        n, parent = ball.n, ball.parent
        if parent is None or n.bit_count() != 1 or 4 * n < self.thresholds[ball.level]:
            return False
        above = parent.reward + self.expected(h, parent)
        return ball.reward + self.expected(h, ball) > above + 3 * self.bonus(h, n)

    def _split(self, h: int, ball: TrackedBall) -> None:
        settings = self.settings
        ball.split(settings.d_s, settings.d_a)
        self.leaves += (1 << settings.d_s + settings.d_a) - 1
        for step in range(settings.horizon) if self.shared else [h]:
            self.depth[step] = max(self.depth[step], ball.level + 1)
            pending = self.jobs[step]
            fresh = Job(ball.state_key, settings.d_s * MAX_LEVEL)
            self.jobs[step] = fresh if pending is None else pending.joined(ball.state_key)

    # --- V ------------------------------------------------------------------------------------------------

    def scan(self, h: int, point: int) -> tuple[TrackedBall, float, int]:
        """Best of the balls whose state side holds the point, its Q, and their finest level; ties to the
        lowest action."""
        balls = relevant(self.roots[h], path_of_key(point, self.settings.d_s))
        best = next(balls)
        best_q, finest = self.q(h, best), best.level
        for ball in balls:
            finest = max(finest, ball.level)
            q = self.q(h, ball)
            if q > best_q:
                best, best_q = ball, q
        return best, self.clip(h, best_q), finest

    def _refresh(self, h: int, point: int) -> int:
        """V and best action of the cell that holds the point; the cell."""
        best, q, finest = self.scan(h, point)
        values = self.cells[h]
        key = values.refine(point, self.settings.d_s * finest)
        values.set(key, q)
        values.best[key] = best.centre()
        return key

    def _holds(self, h: int, point: int, action: Action, ball: TrackedBall, q: float) -> bool:
        """Small moves of the best Q are not worth a scan; V is left alone, so that small moves add up."""
        values = self.cells[h]
        key = values.cell_of(point)
        deep = key.bit_length() - 1 >= self.settings.d_s * ball.level
        return values.best[key] == action and deep and abs(q - values.mean[key]) < self.tolerance

    def _continue_job(self, h: int) -> None:
        job = self.jobs[h]
        assert job is not None
        if not job.advance(self._refresh(h, job.point)):
            self.jobs[h] = None

    def _draw(self) -> int:
        """The core's own random numbers, so that both refresh the same cells."""
        x = self._random
        x ^= x << 7 & 0xFFFF
        x ^= x >> 9
        x ^= x << 8 & 0xFFFF
        self._random = x
        return x

    def value(self, h: int, state: Sequence[float]) -> float:
        """V of step h; 0 after the last step."""
        if h == self.settings.horizon:
            return 0.0
        return self.cells[h].mean[self.cells[h].cell_of(self.point(state))]


def inherited_weight(ball: TrackedBall) -> float:
    """Samples that the parent's evidence counts for."""
    if ball.parent is None or ball.n > ball.parent.n:
        return 0.0
    return min(ball.parent.n / 4, 4.0 ** (ball.level - 1))


def fraction_bits(horizon: int) -> int:
    """Fraction bits of the core's values, in which its tolerance is stated."""
    return 12 if horizon <= 7 else 11 if horizon <= 15 else 10
