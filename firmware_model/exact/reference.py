"""The calls of the exact reference: init, act, observe and end_episode (SPEC 6)."""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence

from adamb.firmware_model import _spec as spec
from adamb.firmware_model.exact import numbers as num
from adamb.firmware_model.exact.adapt import adapt, follow_return, follow_rewards, hold, judge_sharing, return_of
from adamb.firmware_model.exact.learn import Visit, descend, request_ball, split, update
from adamb.firmware_model.exact.model import Config, Model, acceptable, pool_at
from adamb.firmware_model.exact.reclaim import reclaim
from adamb.firmware_model.exact.values import Scan, run_job, set_v, store, v_path


def init(config: Config, words: int) -> Exact | int:
    """A controller in a block of so many words, or a negative code."""
    required = required_words(config)
    if required < 0:
        return required
    if words < required:
        return spec.ERR_MEMORY
    return Exact(Model(config, words))


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
        held = m.learned["held"] == 1
        played = m.steps[m.horizon].v.action if held else v_path(m, h, code)[-1].action
        if m.config.random_action and not held:
            mask = ((played & -played) << m.d_a) - 1
            played = (played | mask) ^ mask | m.random() & mask
            played |= 2 if m.d_a == 3 else 1
        step.state, step.action = code, played
        for i, x in enumerate(num.decode(played, m.d_a)):
            action[i] = x
        return 0

    def given(self, h: int, state: Sequence[int], action: Sequence[int]) -> int:
        m = self.m
        if not 0 <= h < m.horizon:
            return spec.ERR_ARGUMENT
        step, bits = m.steps[h], m.d_a * m.finest
        step.state = num.encode(state)
        step.action = num.centre(num.field(num.encode(action), 0, bits), bits, m.d_a)
        m.learned["held"] = spec.HELD_TAUGHT
        return 0

    def observe(self, h: int, reward: int, next_state: Sequence[int]) -> int:
        m = self.m
        if not 0 <= h < m.horizon:
            return spec.ERR_ARGUMENT
        step = m.steps[h]
        if step.action == 0:
            return spec.ERR_ORDER
        state, action, step.action = step.state, step.action, 0
        if adapt(m, h, state, action, reward, next_state):
            learn(m, h, state, action, reward, num.encode(next_state))
        return 0

    def end_episode(self) -> int:
        m = self.m
        alarm = False
        taught = m.learned["held"] == spec.HELD_TAUGHT
        if taught:
            m.learned["since"] = min(m.learned["since"] + 1, 65535)
        elif m.learned["seen"]:
            value = return_of(m)
            if m.learned["held"]:
                learn_held(m, value)
            alarm = follow_return(m, value)
        hold(m)
        m.learned |= {"return_sum": 0, "seen": 0}
        m.episodes = min(m.episodes + 1, 0xFFFFFFFF)
        if alarm:
            m.goes_up("restarts")
        differs = m.share == spec.SHARE_TESTING and judge_sharing(m)
        if alarm or differs:
            m.restart()
        return 0


def learn(m: Model, h: int, state: int, action: int, reward: int, next_code: int) -> None:
    """A sample into partition and V of its step (SPEC 6.10 to 6.36)."""
    step = m.steps[h]
    busy = not m.paper and refresh_next(m, h, next_code)
    ahead = None if m.is_last(h) else v_path(m, h + 1, next_code)[-1]
    candidate = (ahead.action if ahead else 0) if m.shares(h) else step.last
    visit = descend(m, h, state, action)
    q = update(m, h, visit, reward, next_code, ahead.value if ahead else 0)
    due = split(m, h, visit, state)
    if m.paper:
        request_ball(m, h, visit, state)
        while step.job:
            run_job(m, h)
    else:
        refresh(m, h, visit, state, action, q, due)
        if not m.config.random_action and not m.is_taught(h):
            follow(m, h, visit, state, action, candidate)
        step.last = action
        if not busy and step.job:
            run_job(m, h)
            busy = True
    if not busy:
        reclaim(m)


def learn_held(m: Model, value: int) -> None:
    """The held step has earned the mean reward of its episode."""
    h = m.horizon
    reward = min((value << (16 - m.f)) // m.horizon, 65535)
    follow_rewards(m, h, reward)
    learn(m, h, 0, m.steps[h].v.action, reward, 0)


def refresh(m: Model, h: int, at: Visit, state: int, action: int, q: int, due: bool) -> None:
    """V of the visited cell unless it holds."""
    path = v_path(m, h, state)
    cell, depth = path[-1], len(path) - 1
    if m.is_taught(h) and at.record:
        store(m, h, state, Scan(q, action, at.level))
        return
    holds = cell.action == action and depth >= m.spaces[h].d_s * at.level and q > cell.value - spec.SCAN_TOLERANCE
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
    if m.is_last(h) or m.is_taught(h) or (not m.is_large(h) and m.random() & spec.NEXT_MASK):
        return False
    set_v(m, h + 1, state)
    return not m.is_large(h)
