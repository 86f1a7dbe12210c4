"""The exact reference: the controller of SPEC.md on objects and unbounded integers.

Written from SPEC.md and spec.toml alone, sharing no code with the C core or the Python twin, and built
differently: balls, counts and values are objects, and the words of the block are written down from them on
request. The recorded streams of this folder come from here, so that a mistake common to both twins, or a
sentence of SPEC.md that does not say what the twins do, shows up as a difference.

The modules follow the sections: `exact_numbers` (2, 4), `exact_memory` and `exact_model` (3), `exact_values`
(5), this one (6, 8), `exact_counts` and `exact_reclaim` (7).
"""

from __future__ import annotations

from collections.abc import Callable, MutableSequence, Sequence
from dataclasses import dataclass

import exact_counts as counts
import exact_numbers as num
from exact_memory import Record, Routing
from exact_model import Config, Model, acceptable, pool_at
from exact_reclaim import as_surplus, reclaim
from exact_values import expect, request, run_job, set_v, v_path

from adamb.firmware_model import _spec as spec


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
    trees = 3 * config.horizon
    if config.share != spec.SHARE_OFF:
        trees = max(trees, spec.SHARE_TABLE_UNITS + 3)
    return spec.UNIT_WORDS * (pool_at(config) + spec.POOL_SPARE + trees + 2 * config.horizon)


@dataclass
class Visit:
    """Where a sample went: its ball, and what was gathered on the way."""

    slots: list[int | Record | Routing]
    index: int
    level: int = 0
    record: Record | None = None
    parent: Record | None = None
    inherited: int = 0
    value: int = 0
    weight: int = 0
    expected: int = 0


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
        visit = descend(m, h, state, action)
        q = update(m, h, visit, reward, next_code)
        due = split(m, h, visit, state)
        if m.paper:
            request_ball(m, h, visit, state)
            while step.job:
                run_job(m, h)
        else:
            refresh(m, h, visit, state, action, q, due)
            busy = busy or refresh_later(m, h)
        if not busy:
            reclaim(m)
        return 0

    def end_episode(self) -> int:
        m = self.m
        alarm = close_return(m) and bool(m.config.detect)
        m.episodes = (m.episodes + 1) & 0xFFFFFFFF
        if alarm:
            m.goes_up("restarts")
        differs = m.share == spec.SHARE_TESTING and judge_sharing(m)
        if alarm or differs:
            m.restart()
        return 0


def adapt(m: Model, h: int, state: int, action: int, reward: int, next_state: Sequence[int]) -> None:
    """Rewards, return and sharing test: section 8, each observe."""
    learned = m.learned
    home = m.home(h)
    mean, top = home.reward_mean, home.reward_top
    home.reward_mean = num.toward(mean, reward, abs(reward - mean) >> (8 if m.shares() else 6))
    home.reward_top = max(reward, top - (max(top - mean, 0) >> (8 if m.shares() else 7)))
    learned["return_sum"] = min(learned["return_sum"] + (reward >> (16 - m.f)), 65535)
    if m.share != spec.SHARE_TESTING:
        return
    lost = {2: 11, 3: 10}.get(m.d_s + m.d_a, 8)
    kept_state = state >> (11 if m.d_s == 1 else lost)
    hashed = ((kept_state << 8 | action >> (11 if m.d_a == 1 else lost)) * 10125) & 0xFFFF
    at, cell = hashed >> 11, hashed & 0x7FF
    outcome = reward & 0xFF00 | (sum(next_state) // m.d_s) >> 8
    pairs = m.table[at // 2].pairs
    key, old = pairs[at % 2]
    pairs[at % 2] = (cell << 5 | h + 1, outcome)
    if key == 0 or key >> 5 != cell:
        return
    kind = "same" if key & 31 == h + 1 else "other"
    names = (f"{kind}_n", f"{kind}_reward", f"{kind}_next")
    if learned[names[0]] == 255:
        for name in names:
            learned[name] >>= 1
    differences = (1, abs((outcome >> 8) - (old >> 8)), abs((outcome & 255) - (old & 255)))
    for name, difference in zip(names, differences, strict=True):
        learned[name] += difference
    if kind == "other":
        learned["other_total"] = (learned["other_total"] + 1) & 0xFFFF


def descend(m: Model, h: int, state: int, action: int) -> Visit:
    """From the root to the ball of the sample, making a record where there is room."""
    at = Visit(m.tree(h).slots, 0)
    while True:
        item = at.slots[at.index]
        if isinstance(item, int):
            item = m.new_record(item)
            if not m.pool.take(item):
                return at
            at.slots[at.index] = item
        assert isinstance(item, Record)
        item.credit = spec.CREDIT_FULL
        if item.below is None:
            at.record = item
            return at
        if m.paper:
            gather(m, h, at, item, at.level)
        at.inherited += item.n
        at.parent = item
        block = item.below
        for chunk in range(len(m.chunks)):
            index = m.slot_index(chunk, at.level, state, action)
            at.slots, at.index = block.slots, index
            if chunk + 1 == len(m.chunks):
                break
            below = block.slots[index]
            if isinstance(below, int):
                below = Routing([below] * m.slots_of(chunk + 1))
                if not m.pool.take(below):
                    at.level += 1
                    return at
                block.slots[index] = below
            assert isinstance(below, Routing)
            block = below
        at.level += 1


def own_value(m: Model, expected: int, record: Record) -> int:
    return min(spec.VALUE_MAX, expected + ((record.reward + (1 << (15 - m.f))) >> (16 - m.f)))


def gather(m: Model, h: int, at: Visit, record: Record, level: int) -> None:
    """Blend a record's evidence into what was gathered above it (paper mode)."""
    at.expected = expect(m, h, record, level)
    at.weight = min(at.weight, 4 * spec.N_MAX)
    at.value = num.blend(at.value, own_value(m, at.expected, record), 4 * record.n, at.weight + 4 * record.n)
    at.weight += 4 * record.n


def update(m: Model, h: int, at: Visit, reward: int, next_code: int) -> int:
    """Let the sample into its record; the new Q of the ball."""
    record, level = at.record, at.level
    updated, updated_level = (record, level) if record else (at.parent, level - 1)
    if record is None:
        m.goes_up("no_room")
    if updated is None:
        return m.most(h)
    before = q_before(m, h, at)
    count_sample(m, updated, reward)
    if updated_level > 0:
        depth = m.d_s * updated_level
        counts.add(m, updated, next_code >> (16 - depth), depth, 1)
    if m.paper:
        if record:
            gather(m, h, at, record, level)
        expected = at.expected
    else:
        weigh(m, h, at)
        expected = expect(m, h, updated, updated_level)
    q = num.clamp(at.value + num.bonus(bonus_factor(m, h), at.weight, m.inverse_root), 0, m.most(h))
    if m.paper:
        q = min(q, before)
    surplus = as_surplus(q - expected)
    if record:
        record.surplus = surplus
    else:
        at.slots[at.index] = surplus
    return q


def q_before(m: Model, h: int, at: Visit) -> int:
    """Q of the ball as a scan would have read it before this sample."""
    visited = at.record is not None and at.record.n > 0
    reference, level = (at.record, at.level) if visited else (at.parent, at.level - 1)
    if reference is None:
        return m.most(h)
    item = at.slots[at.index]
    surplus = item.surplus if isinstance(item, Record) else item
    assert isinstance(surplus, int)
    return num.clamp(surplus + expect(m, h, reference, level), 0, m.most(h))


def count_sample(m: Model, record: Record, reward: int) -> None:
    record.n = min(record.n + 1, spec.N_MAX)
    record.reward = num.follow(record.reward, reward, record.n, m.episodes)


def weigh(m: Model, h: int, at: Visit) -> None:
    """Value and weight of the ball from its own evidence and a quarter of its parent's (tracking)."""
    own = 4 * at.record.n if at.record else 0
    above = at.parent.n if at.parent else 0
    if own > 4 * above:
        above = 0
    elif at.level < 7:
        above = min(above, 4**at.level)
    at.weight = own + above
    values = [0, 0]
    if own:
        assert at.record
        values[0] = own_value(m, expect(m, h, at.record, at.level), at.record)
    if above:
        assert at.parent
        values[1] = own_value(m, expect(m, h, at.parent, at.level - 1), at.parent)
    if not above or not own:
        at.value = values[0] if own else values[1]
        return
    s = num.shift(at.weight)
    a, b = num.shifted(own, s), num.shifted(above, s)
    at.value = num.mean(b * values[1] + a * values[0], a + b, m.reciprocal)


def bonus_factor(m: Model, h: int) -> int:
    home = m.home(h)
    if m.config.auto_bonus:
        return (max(home.reward_top - home.reward_mean, 0) << m.f) >> 17
    return m.bonus


def leads(m: Model, h: int, at: Visit) -> bool:
    """Whether the ball earns so much more than its parent did that it is divided early (tracking)."""
    record, parent = at.record, at.parent
    if m.paper or record is None or parent is None or record.n.bit_count() != 1:
        return False
    if 4 * record.n < m.thresholds[at.level] or m.pool.room < m.units // 4:
        return False
    own = own_value(m, expect(m, h, record, at.level), record)
    above = own_value(m, expect(m, h, parent, at.level - 1), parent)
    return own > above + 3 * num.bonus(bonus_factor(m, h), 4 * record.n, m.inverse_root)


def split(m: Model, h: int, at: Visit, state: int) -> bool:
    """Split the ball if it has the samples; whether it had them, room or not."""
    record, level = at.record, at.level
    if record is None or level >= m.finest:
        return False
    if m.config.own:
        samples = record.n + 1
    else:
        samples = record.n + (min(at.inherited, m.thresholds[level - 1]) if level else 0)
    if samples < m.thresholds[level] and (m.config.own or not leads(m, h, at)):
        return False
    block = Routing([record.surplus] * m.slots_of(0))
    if m.pool.room < spec.SPLIT_ROOM or not m.pool.take(block):
        m.goes_up("refused")
        return True
    record.below = block
    m.splits += 1
    for step in range(m.horizon) if m.shares() else (h,):
        request_ball(m, step, at, state)
    return True


def request_ball(m: Model, h: int, at: Visit, state: int) -> None:
    depth = m.d_s * at.level
    request(m, h, num.field(state, 0, depth), depth)


def refresh(m: Model, h: int, at: Visit, state: int, action: int, q: int, due: bool) -> None:
    """V of the visited cell unless it holds."""
    path = v_path(m, h, state)
    cell, depth = path[-1], len(path) - 1
    holds = cell.action == action and depth >= m.d_s * at.level and abs(q - cell.value) < spec.SCAN_TOLERANCE
    if at.record is None or due or not holds:
        set_v(m, h, state)


def refresh_next(m: Model, h: int, state: int) -> bool:
    """V of the cell that will be played next; whether that took the turn of a job."""
    seldom = len(m.chunks) == 1
    if h + 1 == m.horizon or (seldom and m.random() & spec.NEXT_MASK):
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
    set_v(m, 0 if drawn % 2 else h, drawn)
    return False


def close_return(m: Model) -> bool:
    """The change detector's step at the end of an episode; whether it raises an alarm."""
    learned = m.learned
    learned["since"] = since = min(learned["since"] + 1, 65535)
    window = min(since, spec.DETECT_WINDOW)
    total, mean, dev = learned["return_sum"], learned["return_mean"], learned["return_dev"]
    learned["drop"] = drop = num.clamp(learned["drop"] + mean - total - dev // 2, 0, 65535)
    learned["return_dev"] = num.follow(dev, abs(total - mean), window, m.episodes)
    learned["return_mean"] = num.follow(mean, total, window, m.episodes)
    learned["return_sum"] = m.number(0)
    return since > spec.DETECT_WARMUP and drop > spec.DETECT_ALARM * dev + (1 << m.f) // 2


def judge_sharing(m: Model) -> bool:
    """End the sharing test when it has seen enough; True if steps differ."""
    seen = m.learned
    if seen["same_n"] >= 8 and seen["other_n"] >= spec.SHARE_PAIRS_MIN:
        for what, factor, margin in (
            ("reward", 3, spec.SHARE_REWARD_MARGIN),
            ("next", 2, spec.SHARE_NEXT_MARGIN),
        ):
            same, other = seen[f"same_{what}"], seen[f"other_{what}"]
            limit = factor * same + margin * seen["same_n"]
            if other * seen["same_n"] > limit * seen["other_n"]:
                m.share = spec.SHARE_OFF
                return True
    if seen["other_total"] >= spec.SHARE_PAIRS_MAX:
        m.share = spec.SHARE_ON
        for unit in m.table:
            m.pool.give_back(unit)
        m.table = []
    return False
