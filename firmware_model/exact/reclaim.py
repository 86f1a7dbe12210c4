"""*Reclaim*, SPEC 7.6 to 7.24: what a nearly full pool takes back."""

from __future__ import annotations

from adamb.firmware_model import _spec as spec
from adamb.firmware_model.exact import counts
from adamb.firmware_model.exact import numbers as num
from adamb.firmware_model.exact.memory import Record, Routing, VNode
from adamb.firmware_model.exact.model import Model
from adamb.firmware_model.exact.values import expect, refresh_means, scan, v_path


def as_surplus(x: int) -> int:
    """What a surplus word can hold."""
    return num.clamp(x + spec.SURPLUS_ZERO, 0, spec.VALUE_MAX) - spec.SURPLUS_ZERO


def reclaim(m: Model) -> None:
    if m.config.when_full or m.pool.room >= spec.RECLAIM_ROOM + (m.units >> spec.RECLAIM_ROOM_SHIFT):
        return
    r = m.random()
    if r & spec.RECLAIM_MASK:
        return
    h = r * (m.horizon + 1) >> 16
    if r & spec.RECLAIM_VALUE_MASK == 0:
        _reclaim_v(m, h)
    else:
        _reclaim_partition(m, m.sharing(h)[0])


def _reclaim_partition(m: Model, h: int) -> None:
    slots, index, level = m.tree(h).slots, 0, 0
    parent: Record | None = None
    while isinstance(record := slots[index], Record):
        spent = record.credit == 0
        if not spent:
            record.credit -= 1
        if record.below is None:
            if spent and parent:
                slots[index] = _fold(m, h, parent, level - 1, record)
                m.goes_up("reclaims")
            return
        block, above = record.below, (slots, index)
        for chunk in range(len(m.spaces[h].chunks)):
            picked = _pick(m, block)
            if picked is None:
                if spent:
                    _remove(m, h, record, level, block, None if chunk == 0 else above)
                return
            above = (block.slots, picked)
            below = block.slots[picked]
            if isinstance(below, Routing):
                block = below
        slots, index = above
        parent, level = record, level + 1


def _pick(m: Model, block: Routing) -> int | None:
    """The first slot with something below it, from a random one on."""
    n = len(block.slots)
    start = m.random() & (n - 1)
    order = ((start + i) % n for i in range(n))
    return next((i for i in order if not isinstance(block.slots[i], int)), None)


def _remove(
    m: Model, h: int, record: Record, level: int, block: Routing, above: tuple[list[int | Record | Routing], int] | None
) -> None:
    """A routing block without visited balls becomes one surplus again."""
    largest = max(slot for slot in block.slots if isinstance(slot, int))
    if above:
        above[0][above[1]] = largest
    else:
        record.below, record.surplus = None, largest
        record.n = min(record.n, m.thresholds[level])
        m.splits -= not m.is_held(h)
    m.pool.give_back(block)
    m.goes_up("reclaims")


def _fold(m: Model, h: int, parent: Record, level: int, leaf: Record) -> int:
    """Give a leaf's samples to its parent and return the surplus that stays in its place."""
    both = parent.n + leaf.n
    if leaf.n > 0:
        parent.reward = num.blend(parent.reward, leaf.reward, leaf.n, both)
    parent.n = min(both, spec.N_MAX)
    expected = expect(m, h, leaf, level + 1)
    if level > 0:
        for entry in leaf.entries():
            counts.add(m, parent, entry.cell >> m.d_s, m.d_s * level, entry.count)
    for unit in leaf.units:
        m.pool.give_back(unit)
    m.pool.give_back(leaf)
    change = expected - expect(m, h, parent, level)
    return as_surplus(leaf.surplus + (min(change, 0) if m.shares(h) else change))


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
    if found.finest * m.spaces[h].d_s > depth:
        return
    path = v_path(m, h, code)[: depth + 1]
    cell = path[-1]
    cell.value = min(found.q, cell.value) if m.paper else found.q
    cell.action = found.action
    cell.below = None
    m.pool.give_back(node)
    refresh_means(path)
    m.goes_up("reclaims")
