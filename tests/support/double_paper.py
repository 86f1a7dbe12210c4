"""The core's paper mode in double precision: what its integers are compared with.

The core reads Q through its surplus in this mode too, so a ball's Q falls with V of the next step between
visits, where the paper keeps it until the next visit; that is a difference of method and not of arithmetic.
"""

from __future__ import annotations

from adamb.host_sim.agents.core import CoreAgent
from adamb.host_sim.agents.reference import ReferenceAgent
from adamb.host_sim.agents.reference.ranking import Choice
from adamb.host_sim.agents.reference.settings import MAX_LEVEL
from adamb.host_sim.agents.reference.tracked import RefreshJob
from adamb.host_sim.agents.reference.tracking import TrackingLearner


class PaperLearner(TrackingLearner):
    """Every ancestor's samples count in full, Q and V only fall, every cell under the ball is refreshed."""

    def observe(self, h, reward, next_state):
        point, action = self.played[h]
        self.played[h] = None
        ball = self.ball_at(h, point, action)
        old = self.clip(h, self.q(h, ball))
        self._add_sample(h, ball, reward, next_state)
        sources = [*ball.ancestors(), ball]
        n = sum(source.n for source in sources)
        value = sum(source.n * (source.reward + self.expected(h, source)) for source in sources) / n
        ball.surplus = min(old, self.clip(h, value + self.bonus(h, n))) - self.expected(h, ball)
        if self._due(h, ball):
            self._split(h, ball)
        self.jobs[h] = RefreshJob(ball.state_key, self.settings.d_s * MAX_LEVEL)
        while self.jobs[h] is not None:
            self._continue_job(h)

    def choose(self, h, ranked, played):
        best = max(ranked, key=lambda one: one.ball.surplus + one.expected)
        return Choice(best.ball, best.ball.surplus + best.expected)

    def _known(self, h, ball):
        return False

    def _add_sample(self, h, ball, reward, next_state):
        ball.n += 1
        ball.reward += (reward - ball.reward) / ball.n
        key = self.point(next_state) >> self.settings.d_s * (MAX_LEVEL - ball.level)
        for entry in ball.next_counts:
            if entry[0] == key:
                entry[1] += 1
                return
        ball.next_counts.append([key, 1])

    def _refresh(self, h, point):
        best, q, finest = self.scan(h, point)
        values = self.cells[h]
        key = values.refine(point, self.settings.d_s * finest)
        values.set(key, min(q, values.mean[key]))
        values.best[key] = best.centre()
        return key


class DoublePaperAgent(ReferenceAgent):
    """n of them with the core's own thresholds and bonus."""

    def __init__(self, shape, *, bonus):
        words = CoreAgent(shape, mode="paper").config.words
        rule = {name: words[name] for name in ("gamma", "phi", "split")}
        super().__init__(shape, mode="tracking", bonus=bonus, **rule)
        streams = zip(self.learners, self.seeds, strict=True)
        self.learners = [PaperLearner(self.settings, one.rng, seed) for one, seed in streams]
