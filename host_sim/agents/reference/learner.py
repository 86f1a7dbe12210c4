"""AdaMB of the paper for one learner in float64, written to be read beside the paper.

Names in comments are the paper's: Update Counts, Refine Partition, Compute Estimates, and the labels of its
equations. Steps are counted from 0 here, so the paper's H-h+1 is `horizon - h`. Slips of the printed text
that are corrected here:

* T-bar divides an ancestor's mass by 2^(d_S (l(B) - l(B'))), the number of cells it is spread over; with the
  printed sign the masses add up to more than 1.
* The sums in T-BONUS run over B' containing B in both cases.
* A ball's own counts start at 0 (as in the full pseudocode); Algorithm 1, which copies the parent's, would
  count those samples twice in r-bar and T-bar.
* phi = H^((d+d_S)/(d+1)) (also printed with d+gamma).

Estimates are computed at once, not at the end of the episode. For one-step planning that is the same thing:
Q_h^k asks for V_{h+1}^{k-1}, and step h+1 of episode k has not been learned from yet.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from adamb.firmware_model import _spec
from adamb.host_sim.agents.reference.settings import MAX_LEVEL, ReferenceSettings
from adamb.host_sim.agents.reference.tree import (
    Ball,
    Path,
    StateCells,
    cell_centre,
    closed_paths,
    key_of_path,
    level_of,
    path_of_key,
    path_of_state,
    relevant,
)
from adamb.host_sim.draws import exp, log

#: `bonus=auto` is this part of what the mean reward lacks to 1.
AUTO_FACTOR = 0.5**_spec.AUTO_BONUS_SHIFT
#: Samples that its mean reward looks back, over all steps together.
AUTO_WINDOW = 250


class Learner:
    """One tree and one value function per step of the episode."""

    def __init__(self, settings: ReferenceSettings, rng: np.random.Generator) -> None:
        self.settings = settings
        self.rng = rng
        self.thresholds = settings.thresholds
        steps = range(settings.horizon)
        start = [float(settings.horizon - (0 if settings.initial == "horizon" else h)) for h in steps]
        root = (0,) * settings.d_a
        self.roots = [Ball(0, 1, root, value) for value in start]
        self.cells = [StateCells(settings.d_s, value) for value in start]
        self.depth = [0] * settings.horizon
        self.leaves = settings.horizon
        self.refused_splits = 0
        self.samples = 0
        self.mean_reward = 0.0
        self.played: list[tuple[Ball, Path] | None] = [None] * settings.horizon
        n_log = settings.horizon * settings.episodes**2 / settings.delta
        self._log_r, self._log_t = float(log(2 * n_log)), float(log(n_log))

    # --- acting -------------------------------------------------------------------------------------------

    def act(self, h: int, state: Sequence[float]) -> list[float]:
        """Greedy selection rule, then the centre a~(B) or a uniform point of the ball's action side."""
        ball, path = self.select(h, state)
        self.played[h] = ball, path
        width = 0.5**ball.level
        if self.settings.action == "random":
            offsets = self.rng.random(self.settings.d_a).tolist()
            return [(i + u) * width for i, u in zip(ball.action_index, offsets, strict=True)]
        return [(i + 0.5) * width for i in ball.action_index]

    def select(self, h: int, state: Sequence[float]) -> tuple[Ball, Path]:
        """B_h^k = argmax of Q over RELEVANT(x), and the path on which x meets it.

        The path goes one level below the tree: the ball may be split before V is refreshed at x.
        """
        depth = self.depth[h] + 1
        paths = closed_paths(state, depth) if self.settings.cells == "closed" else [path_of_state(state, depth)]
        best = [(self.best_ball(h, path), path) for path in paths]
        if self.settings.ties == "high":
            best.reverse()
        return max(best, key=lambda pair: pair[0].q)

    def best_ball(self, h: int, path: Path) -> Ball:
        balls = relevant(self.roots[h], path)
        best = next(balls)
        high = self.settings.ties == "high"
        for ball in balls:
            if ball.q > best.q or (high and ball.q == best.q):
                best = ball
        return best

    # --- learning -----------------------------------------------------------------------------------------

    def observe(self, h: int, reward: float, next_state: Sequence[float]) -> None:
        played = self.played[h]
        assert played is not None, "observe follows act"
        ball, path = played
        self.played[h] = None
        self.samples += 1
        self.mean_reward += (reward - self.mean_reward) / min(self.samples, AUTO_WINDOW)
        self._update_counts(h, ball, reward, next_state)
        visited = self._refine_partition(h, ball)
        if self.settings.planning == "full":
            return
        # Only the ball that was played (or its children, alike until they are visited) has new evidence.
        value = self.estimate(h, visited[0])
        for leaf in visited:
            self._set_q(leaf, value)
        if self.settings.v_rule == "decreasing":
            self._lower_values(h, ball.state_key, visited[0].q)
        else:
            self._refresh_value(h, self.cells[h].leaf_on(path))

    def end_episode(self) -> None:
        """Full planning: Compute Estimates for every ball, last step first."""
        if self.settings.planning != "full":
            return
        for h in reversed(range(self.settings.horizon)):
            for ball in self.roots[h].walk():
                if ball.children is None and ball.prior_n + ball.n > 0:
                    self._set_q(ball, self.estimate(h, ball))
            for key in self.cells[h].under(1):
                self._refresh_value(h, key)

    def _update_counts(self, h: int, ball: Ball, reward: float, next_state: Sequence[float]) -> None:
        """Update Counts: n, r^ (as a sum) and T^ (as counts over the 2^-l grid, l the ball's level)."""
        settings = self.settings
        ball.n += 1
        ball.reward_sum += reward
        if settings.transitions == "dyadic" or h + 1 == settings.horizon:
            key = key_of_path(path_of_state(next_state, ball.level), ball.level, settings.d_s)
        elif settings.transitions == "nearest":
            key = self.cells[h + 1].nearest(next_state)
        else:
            key = self.cells[h + 1].leaf_on(path_of_state(next_state, self.depth[h + 1]))
        ball.next_counts[key] = ball.next_counts.get(key, 0) + 1

    def _refine_partition(self, h: int, ball: Ball) -> list[Ball]:
        """Refine Partition; the leaves that now stand where the ball stood."""
        if not self._due(ball):
            return [ball]
        if ball.level + 1 == MAX_LEVEL:
            self.refused_splits += 1
            return [ball]
        settings, cells = self.settings, self.cells[h]
        ball.split(settings.d_s, settings.d_a)
        assert ball.children is not None
        children = [child for row in ball.children for child in row]
        if settings.envelope:
            support = self._support(children[0])
            for child in children:
                child.prior_support = support
        self.depth[h] = max(self.depth[h], ball.level + 1)
        self.leaves += len(children) - 1
        if cells.is_leaf(ball.state_key):  # Equation (induced_state_partition_def)
            cells.split(ball.state_key)
        return children

    def _due(self, ball: Ball) -> bool:
        """Split test. Inherited samples count for at most what the parent's threshold asked for."""
        threshold = self.thresholds[ball.level]
        if self.settings.split == "own":
            return ball.n + 1 >= threshold
        before = self.thresholds[ball.level - 1] if ball.level else 0
        return min(ball.prior_n, before) + ball.n >= threshold

    # --- Compute Estimates --------------------------------------------------------------------------------

    def estimate(self, h: int, ball: Ball) -> float:
        """Equation (q_update): r-bar + R-BONUS + E[V_{h+1}] under T-bar + T-BONUS, before any clipping."""
        n = ball.prior_n + ball.n
        value = (ball.prior_reward + ball.reward_sum) / n + self.bonus(h, ball.level, n)
        if h + 1 < self.settings.horizon:
            value += self._expected_sum(self.cells[h + 1], ball) / n
        return value

    def bonus(self, h: int, level: int, n: float) -> float:
        """R-BONUS + T-BONUS (no T-BONUS at the last step), or c/sqrt(n) in their place."""
        s = self.settings
        if s.bonus == "auto":
            return AUTO_FACTOR * (1 - self.mean_reward) / math.sqrt(n)
        if not isinstance(s.bonus, str):
            return s.bonus / math.sqrt(n)
        diameter = 0.5**level
        r_bonus = math.sqrt(8 * self._log_r / n) + 4 * s.L_r * diameter
        if h + 1 == s.horizon:
            return r_bonus
        concentration = 4 * math.sqrt(self._log_t / n)
        if s.d_s > 2:
            t_bonus = (5 * s.L_T + 4) * diameter + concentration + s.c_T * float(exp(-log(n) / s.d_s))
        else:
            support = 2.0 ** (s.d_s * level)
            t_bonus = (5 * s.L_T + 6) * diameter + concentration + s.c_T * math.sqrt(support / n)
        return r_bonus + s.L_V * t_bonus

    def _expected_sum(self, cells: StateCells, ball: Ball) -> float:
        """n(B) times the expectation of V under T-bar(. | B), ancestors' counts aggregated on the fly.

        Without the envelope the mean of V over an ancestor's cell is the same as dividing the ancestor's mass
        equally over the 2^-l grid, so one lookup serves a count.
        """
        if self.settings.envelope:
            return self._expected_envelope(cells, ball)
        mean, d_s = cells.mean, self.settings.d_s
        total = 0.0
        for source in [*ball.ancestors, ball]:
            for key, count in source.next_counts.items():
                while key not in mean:
                    key >>= d_s
                total += count * mean[key]
        return total

    def _expected_envelope(self, cells: StateCells, ball: Ball) -> float:
        """The same with V^ of Equation (def-V) at the centres of the 2^-l grid."""
        total, lipschitz = 0.0, self.settings.L_V
        if ball.prior_support is not None:
            points, masses = ball.prior_support
            total += float((masses * cells.envelope(points, lipschitz)).sum())
        if ball.next_counts:
            centres = np.array([cell_centre(key, self.settings.d_s) for key in ball.next_counts])
            counts = np.array(list(ball.next_counts.values()), dtype=float)
            total += float((counts * cells.envelope(centres, lipschitz)).sum())
        return total

    def _support(self, ball: Ball) -> tuple[np.ndarray, np.ndarray]:
        """Ancestors' part of n(B) * T-bar(. | B) as points and masses; it does not change any more."""
        masses = self.next_masses(ball)
        points = np.array([cell_centre(key, self.settings.d_s) for key in masses])
        return points, np.array(list(masses.values()))

    def next_masses(self, ball: Ball) -> dict[int, float]:
        """n(B) * T-bar(A | B) over the 2^-l grid of next states, by cell key.

        The factor is 2^(-d_S (l(B) - l(B'))): every cell A inside A' gets an equal part of the mass of A'.
        Cells finer than the grid (induced transitions only) stay as they are.
        """
        d_s = self.settings.d_s
        masses: dict[int, float] = {}
        for source in [*ball.ancestors, ball]:
            for key, count in source.next_counts.items():
                shift = max(0, d_s * (ball.level - level_of(key, d_s)))
                part = count / (1 << shift)
                first = key << shift
                for cell in range(first, first + (1 << shift)):
                    masses[cell] = masses.get(cell, 0.0) + part
        return masses

    def _set_q(self, ball: Ball, value: float) -> None:
        if self.settings.q_rule == "decreasing":
            value = min(value, ball.q, float(self.settings.horizon))
        ball.q = value

    def _lower_values(self, h: int, state_key: int, q: float) -> None:
        """Equation (v_tilde_update) for every A inside S(B); V~(A) <= Q(B) cannot fall, so it is skipped."""
        cells = self.cells[h]
        for key in cells.under(state_key):
            if cells.mean[key] > q:
                self._refresh_value(h, key)

    def _refresh_value(self, h: int, key: int) -> None:
        """V~(A) = max of Q over the balls above A, and in the paper never more than before."""
        cells = self.cells[h]
        value = max(ball.q for ball in relevant(self.roots[h], path_of_key(key, self.settings.d_s)))
        if self.settings.v_rule == "decreasing":
            value = min(value, cells.mean[key])
        cells.set(key, value)

    def value(self, h: int, state: Sequence[float]) -> float:
        """V^_h(x): the envelope where it is on, else V~ of the cell that holds x; 0 after the last step."""
        if h == self.settings.horizon:
            return 0.0
        if self.settings.envelope:
            return float(self.cells[h].envelope(np.array([state], dtype=float), self.settings.L_V)[0])
        return self.cells[h].value(self.cells[h].leaf_on(path_of_state(state, self.depth[h])))
