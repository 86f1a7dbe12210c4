"""The exact reference: the controller of SPEC.md on objects and unbounded integers.

Written from SPEC.md and spec.toml alone, sharing no code with the C core or the Python twin, and built
differently: balls, counts and values are objects, and the words of the block are written down from them on
request. The recorded streams of tests/vectors come from here, so that a mistake common to both twins, or a
sentence of SPEC.md that does not say what the twins do, shows up as a difference.

The modules follow the sections: `numbers` (2, 4), `memory` and `model` (3), `values` and `rank` (5), `learn`
and this one (6), `counts` and `reclaim` (7), `adapt` (8).
"""

from __future__ import annotations

from collections.abc import Callable, MutableSequence, Sequence

from adamb.firmware_model import _spec as spec
from support.exact import numbers as num
from support.exact.adapt import adapt, close_return, judge_sharing
from support.exact.learn import Visit, descend, request_ball, split, update
from support.exact.model import Config, Model, acceptable, pool_at
from support.exact.reclaim import reclaim
from support.exact.values import Scan, run_job, set_v, store, v_path


def init(config: Config, words: int, number: Callable[[int], int] = int) -> Exact | int:
    """A controller in a block of so many words, or a negative code."""
    required = required_words(config)
    if required < 0:
        return required
    if words < required:
        return spec.ERR_MEMORY
    return Exact(Model(config, words, number))


def required_words(config: Config) -> int:
    """The smallest block that init accepts, or a negative code."""
    if not acceptable(config):
        return spec.ERR_CONFIG
    trees = spec.TREE_UNITS * config.horizon
    if config.share != spec.SHARE_OFF:
        trees = max(trees, spec.SHARE_TABLE_UNITS + spec.TREE_UNITS)
    values = spec.VALUE_UNITS * config.horizon
    return spec.UNIT_WORDS * (pool_at(config) + spec.POOL_SPARE + trees + values)


class Exact:
    """The calls of the twins, with the same codes."""

    def __init__(self, model: Model) -> None:
        self.m = model

    def words(self) -> list[int]:
        return self.m.words()

    def act(self, h: int, state: Sequence[int], action: MutableSequence[int]) -> int:
        m = self.m
        if not 0 <= h < m.horizon:
            return spec.ERR_ARGUMENT
        step = m.steps[h]
        code = num.encode(state)
        played = v_path(m, h, code)[-1].action
        if m.config.random_action:
            mask = ((played & -played) << m.d_a) - 1
            played = (played | mask) ^ mask | m.random() & mask
            played |= 2 if m.d_a == 3 else 1
        step.state, step.action = code, played
        for i, x in enumerate(num.decode(played, m.d_a)):
            action[i] = x
        return 0

    def observe(self, h: int, reward: int, next_state: Sequence[int]) -> int:
        m = self.m
        if not 0 <= h < m.horizon:
            return spec.ERR_ARGUMENT
        step = m.steps[h]
        if step.action == 0:
            return spec.ERR_ORDER
        state, action, step.action = step.state, step.action, 0
        adapt(m, h, state, action, reward, next_state)
        next_code = num.encode(next_state)
        busy = not m.paper and refresh_next(m, h, next_code)
        ahead = v_path(m, h + 1, next_code)[-1] if h + 1 < m.horizon else None
        next_value = ahead.value if ahead else 0
        candidate = (ahead.action if ahead else 0) if m.shares() else step.last
        visit = descend(m, h, state, action)
        q = update(m, h, visit, reward, next_code, next_value)
        due = split(m, h, visit, state)
        if m.paper:
            request_ball(m, h, visit, state)
            while step.job:
                run_job(m, h)
        else:
            refresh(m, h, visit, state, action, q, due)
            if not m.config.random_action:
                follow(m, h, visit, state, action, candidate)
            step.last = action
            busy = busy or refresh_later(m, h)
        if not busy:
            reclaim(m)
        return 0

    def end_episode(self) -> int:
        m = self.m
        alarm = close_return(m) and bool(m.config.detect)
        m.episodes = min(m.episodes + 1, 0xFFFFFFFF)
        if alarm:
            m.goes_up("restarts")
        differs = m.share == spec.SHARE_TESTING and judge_sharing(m)
        if alarm or differs:
            m.restart()
        return 0


def refresh(m: Model, h: int, at: Visit, state: int, action: int, q: int, due: bool) -> None:
    """V of the visited cell unless it holds."""
    path = v_path(m, h, state)
    cell, depth = path[-1], len(path) - 1
    holds = cell.action == action and depth >= m.d_s * at.level and q > cell.value - spec.SCAN_TOLERANCE
    if at.record is None or due or not holds:
        set_v(m, h, state)
    elif q >= cell.value + spec.SCAN_TOLERANCE:
        store(m, h, state, Scan(q, action, at.level))


def follow(m: Model, h: int, at: Visit, state: int, action: int, candidate: int) -> None:
    """A finer action that is played elsewhere, tried where its ball is still played."""
    bits = m.d_a * at.level
    side = num.field(action, 0, bits)
    cell = v_path(m, h, state)[-1]
    if candidate == action or not num.finer(candidate, num.centre(side, bits, m.d_a), m.d_a):
        return
    if num.field(cell.action, 0, bits) == side:
        cell.action = candidate


def refresh_next(m: Model, h: int, state: int) -> bool:
    """V of the cell that will be played next; whether that took the turn of a job."""
    seldom = len(m.chunks) == 1
    if h + 1 == m.horizon:
        return False
    if seldom and m.learned["since"] >= spec.NEXT_ALWAYS and m.random() & spec.NEXT_MASK:
        return False
    set_v(m, h + 1, state)
    return seldom


def refresh_later(m: Model, h: int) -> bool:
    """V of another cell; whether that took the turn of reclaiming."""
    pending = m.steps[h].job is not None
    if pending:
        run_job(m, h)
    if len(m.chunks) == 1:
        return pending
    drawn = m.random()
    set_v(m, 0 if drawn & spec.LATER_FIRST_MASK else h, drawn, divide=False)
    return False
