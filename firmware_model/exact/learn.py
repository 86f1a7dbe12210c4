"""A sample from the root to its ball: descent, update and split (SPEC 6.11 to 6.31)."""

from __future__ import annotations

from dataclasses import dataclass

from adamb.firmware_model import _spec as spec
from adamb.firmware_model.exact import counts
from adamb.firmware_model.exact import numbers as num
from adamb.firmware_model.exact.memory import Record, Routing, surplus_word
from adamb.firmware_model.exact.model import Model
from adamb.firmware_model.exact.reclaim import as_surplus
from adamb.firmware_model.exact.values import expect, request


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


def descend(m: Model, h: int, state: int, action: int) -> Visit:
    """From the root to the ball of the sample, making a record where there is room."""
    at = Visit(m.tree(h).slots, 0)
    space = m.spaces[h]
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
        for chunk in range(len(space.chunks)):
            index = space.slot_index(chunk, at.level, state, action)
            at.slots, at.index = block.slots, index
            if chunk + 1 == len(space.chunks):
                break
            below = block.slots[index]
            if isinstance(below, int):
                below = Routing([below] * space.slots_of(chunk + 1), rest=surplus_word(below))
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
    own = spec.SAMPLE_WEIGHT * record.n
    at.weight = min(at.weight, spec.SAMPLE_WEIGHT * spec.N_MAX)
    at.value = num.blend(at.value, own_value(m, at.expected, record), own, at.weight + own)
    at.weight += own


def update(m: Model, h: int, at: Visit, reward: int, next_code: int, next_value: int) -> int:
    """Let the sample into its record; the new Q of the ball."""
    record, level = at.record, at.level
    updated, updated_level = (record, level) if record else (at.parent, level - 1)
    if record is None:
        m.goes_up("no_room")
    if updated is None:
        return m.v_max(h)
    before = q_before(m, h, at)
    count_sample(m, h, updated, reward)
    if updated_level > 0 and not m.is_held(h):
        depth = m.d_s * updated_level
        counts.add(m, updated, next_code >> (16 - depth), depth, 1)
    if m.paper:
        if record:
            gather(m, h, at, record, level)
        expected = at.expected
    else:
        weigh(m, h, at)
        expected = expect(m, h, updated, updated_level)
        measure_noise(m, h, record, reward, next_value, expected)
    factor = bonus_factor(m, h)
    bonus = num.bonus(factor, at.weight, m.inverse_root)
    if not m.paper:
        bonus = min(bonus, factor * spec.BONUS_SIDES >> level)
    if m.is_taught(h):
        bonus = 0
    q = num.clamp(at.value + bonus, 0, m.v_max(h))
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
        return m.v_max(h)
    item = at.slots[at.index]
    surplus = item.surplus if isinstance(item, Record) else item
    assert isinstance(surplus, int)
    return num.clamp(surplus + expect(m, h, reference, level), 0, m.v_max(h))


def count_sample(m: Model, h: int, record: Record, reward: int) -> None:
    record.n = min(record.n + 1, spec.N_MAX)
    if m.paper or record.n <= 1 << spec.MEMORY_SHIFT:
        record.reward = num.dithered_mean(record.reward, reward, record.n, m.episodes)
        return
    most = m.home(h).noise * spec.MEMORY_NOISE + spec.MEMORY_MARGIN
    near = num.clamp(reward, record.reward - most, record.reward + most)
    record.reward = num.moving_average(record.reward, near, spec.MEMORY_SHIFT, (m.episodes & 0xFFFF) + record.n)
    if near != reward:
        record.reward = num.dithered_mean(record.reward, record.reward + reward - near, record.n, m.episodes)


def measure_noise(m: Model, h: int, record: Record | None, reward: int, next_value: int, expected: int) -> None:
    """How far the sample is from what its ball predicts (tracking)."""
    if record is None or record.n < spec.NOISE_SAMPLES:
        return
    home = m.home(h)
    if not m.is_last(h):
        most = min(spec.EFFECT_MOST, home.noise * spec.EFFECT_NOISE >> (15 - spec.EFFECT_BITS))
        far = min(abs(next_value - expected) >> (m.f - spec.EFFECT_BITS), most)
        home.spread = num.moving_average(home.spread, far * far >> spec.SPREAD_SCALE_SHIFT, spec.EFFECT_SHIFT, m.rng)
    off = abs((reward >> (16 - m.f)) + next_value - (record.reward >> (16 - m.f)) - expected) << (15 - m.f)
    step = home.noise >> (spec.HELD_NOISE_SHIFT if m.is_held(h) else spec.NOISE_SHIFT)
    moved = home.noise + step if off > home.noise else home.noise - step
    home.noise = num.clamp(moved, spec.NOISE_LEAST, spec.VALUE_MAX)


def weigh(m: Model, h: int, at: Visit) -> None:
    """Value and weight of the ball from its own evidence and a quarter of its parent's (tracking)."""
    own = spec.SAMPLE_WEIGHT * at.record.n if at.record else 0
    above = min(at.parent.n, spec.PARENT_MOST) if at.parent and own < spec.PARENT_UNTIL else 0
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
    if not m.config.auto_bonus:
        return m.bonus
    shift = 16 + (spec.HELD_BONUS_SHIFT if m.is_held(h) else spec.AUTO_BONUS_SHIFT)
    if not m.paper and m.is_large(h):
        shift += min(m.learned["since"] >> spec.FADE_SHIFT, spec.FADE_MOST)
    return (max(home.reward_top - home.reward_mean, 0) << m.f) >> shift


def known(m: Model, h: int, at: Visit, record: Record, shift: int) -> bool:
    """Whether the error of the ball's mean is at most c / 2^(level + shift)."""
    error = num.bonus(m.home(h).noise, spec.SAMPLE_WEIGHT * record.n, m.inverse_root)
    return error << (at.level + shift) <= bonus_factor(m, h) << (15 - m.f)


def is_due(m: Model, h: int, at: Visit, record: Record) -> bool:
    threshold = m.thresholds[at.level]
    if m.config.split_counts:
        return record.n + 1 >= threshold
    before = m.thresholds[at.level - 1] if at.level else 0
    samples = record.n + (min(at.inherited, before) if m.paper else before)
    full = samples >= threshold and threshold <= spec.THRESHOLD_MAX
    if m.paper:
        return full
    small = m.shares(h) and m.is_large(h) and at.level >= spec.LATE_LEVEL
    shift = 0 if m.is_held(h) else spec.LATE_ERROR_SHIFT if small else spec.EARLY_ERROR_SHIFT
    early = at.parent is not None and (m.is_held(h) or record.n & spec.EARLY_MASK == 0)
    return (full and not small) or ((full or early) and known(m, h, at, record, shift))


def split(m: Model, h: int, at: Visit, state: int) -> bool:
    """Split the ball if it is due; whether it was, room or not."""
    record, level = at.record, at.level
    if record is None or level >= m.finest or not is_due(m, h, at, record):
        return False
    block = Routing([record.surplus] * m.spaces[h].slots_of(0))
    if m.pool.room < spec.SPLIT_ROOM or not m.pool.take(block):
        m.goes_up("refused")
        return True
    record.below = block
    m.splits += not m.is_held(h)
    for step in () if m.is_taught(h) else m.sharing(h):
        request_ball(m, step, at, state)
    return True


def request_ball(m: Model, h: int, at: Visit, state: int) -> None:
    depth = m.spaces[h].d_s * at.level
    request(m, h, num.field(state, 0, depth), depth)
