"""*Reclaim*, SPEC 7.6 to 7.25: what a nearly full pool takes back."""

from __future__ import annotations

from adamb.firmware_model import _spec as spec
from support.exact import counts
from support.exact import numbers as num
from support.exact.memory import Record, Routing, VNode
from support.exact.model import Model
from support.exact.values import are_near, expect, refresh_means, scan, v_path


def as_surplus(x: int) -> int:
    """What a surplus word can hold."""
    return num.clamp(x + spec.SURPLUS_ZERO, 0, spec.VALUE_MAX) - spec.SURPLUS_ZERO


def reclaim(m: Model) -> None:
    if m.config.freeze or m.pool.room >= spec.RECLAIM_ROOM + (m.units >> spec.RECLAIM_ROOM_SHIFT):
        return
    r = m.random()
    if r & spec.RECLAIM_MASK:
        return
    h = r * m.horizon >> 16
    if r & spec.RECLAIM_VALUE_MASK == 0:
        _reclaim_v(m, h)
    else:
        _reclaim_partition(m, 0 if m.shares() else h)


def _reclaim_partition(m: Model, h: int) -> None:
    slots, index, level = m.tree(h).slots, 0, 0
    state = action = 0
    parent: Record | None = None
    while isinstance(record := slots[index], Record):
        spent = record.credit == 0
        if not spent:
            record.credit -= 1
        if record.below is None:
            if spent and parent and _may_go(m, h, level, state, action):
                slots[index] = _fold(m, h, parent, level - 1, record)
                m.goes_up("reclaims")
            return
        block, above = record.below, (slots, index)
        for chunk in range(len(m.chunks)):
            picked = _pick(m, block, last=chunk == len(m.chunks) - 1)
            if picked is None:
                if spent:
                    _remove(m, record, level, block, None if chunk == 0 else above)
                return
            above = (block.slots, picked)
            s, a = m.chunks[chunk]
            state, action = state << s | picked >> a, action << a | picked & ((1 << a) - 1)
            below = block.slots[picked]
            if isinstance(below, Routing):
                block = below
        slots, index = above
        parent, level = record, level + 1


def _may_go(m: Model, h: int, level: int, state: int, action: int) -> bool:
    """Whether a leaf without credit is folded: always if no step plays it, else now and then."""
    depth, bits = m.d_s * level, m.d_a * level
    code = num.first_code(state, depth) | m.random() >> depth
    steps = range(m.horizon) if m.shares() else (h,)
    if not any(num.field(v_path(m, step, code)[-1].action, 0, bits) == action for step in steps):
        return True
    return m.random() & spec.PLAYED_MASK == 0


def _pick(m: Model, block: Routing, last: bool) -> int | None:
    """A slot with something below it, from a random one on; in the last chunk rather one without credit."""
    start = m.random() & (len(block.slots) - 1)
    order = [(start + i) % len(block.slots) for i in range(len(block.slots))]
    linked = [i for i in order if not isinstance(block.slots[i], int)]
    if last:
        for i in linked:
            record = block.slots[i]
            if isinstance(record, Record) and record.credit == 0:
                return i
    return linked[0] if linked else None


def _remove(
    m: Model,
    record: Record,
    level: int,
    block: Routing,
    above: tuple[list[int | Record | Routing], int] | None,
) -> None:
    """A routing block without visited balls becomes one surplus again."""
    largest = max(slot for slot in block.slots if isinstance(slot, int))
    if above:
        above[0][above[1]] = largest
    else:
        record.below, record.surplus = None, largest
        record.n = min(record.n, (m.thresholds[level] + 2**spec.UNSPLIT_SHIFT - 1) >> spec.UNSPLIT_SHIFT)
        m.splits -= 1
    m.pool.give_back(block)
    m.goes_up("reclaims")


def _fold(m: Model, h: int, parent: Record, level: int, leaf: Record) -> int:
    """Give a leaf's samples to its parent and return the surplus that stays in its place."""
    both = parent.n + leaf.n
    if leaf.n > 0:
        parent.reward = num.blend(parent.reward, leaf.reward, leaf.n, both)
    parent.n = min(both, spec.N_MAX)
    surplus, change = leaf.surplus, expect(m, h, leaf, level + 1)
    if level > 0:
        for entry in leaf.entries():
            counts.add(m, parent, entry.cell >> m.d_s, m.d_s * level, entry.count)
    for unit in leaf.units:
        m.pool.give_back(unit)
    m.pool.give_back(leaf)
    change -= expect(m, h, parent, level)
    return as_surplus(surplus + (min(change, 0) if m.shares() else change))


def _reclaim_v(m: Model, h: int) -> None:
    r = m.random()
    node = m.steps[h].v.below
    if node is None:
        return
    code = depth = 0
    while True:
        side = (r >> depth) & 1
        if node.sides[side].below is None:
            side ^= 1
        below = node.sides[side].below
        if below is None:
            break
        code |= side << (15 - depth)
        node, depth = below, depth + 1
    _remove_node(m, h, node, code, depth)


def _remove_node(m: Model, h: int, node: VNode, code: int, depth: int) -> None:
    found = scan(m, h, code)
    one, other = node.sides
    if found.finest * m.d_s > depth and not (
        one.action == other.action and are_near(m, one.value, other.value)
    ):
        return
    path = v_path(m, h, code)[: depth + 1]
    cell = path[-1]
    cell.value = min(found.q, cell.value) if m.paper else found.q
    cell.action = found.action
    cell.below = None
    m.pool.give_back(node)
    refresh_means(path)
    m.goes_up("reclaims")
