"""SPEC 5, 6.38 and 6.39: reading values, scanning relevant balls, storing V, requests and jobs."""

from __future__ import annotations

from dataclasses import dataclass, replace

from adamb.firmware_model import _spec as spec
from support.exact import numbers as num
from support.exact.memory import Record, Routing, VCell, VNode
from support.exact.model import Model
from support.exact.rank import Ball, choose


def value_at(m: Model, h: int, code: int, bits: int) -> int:
    cell = m.steps[h].v
    for depth in range(bits):
        if cell.below is None:
            break
        cell = cell.below.sides[num.field(code, depth, 1)]
    return cell.value


def expect(m: Model, h: int, record: Record, level: int) -> int:
    """The expected next value of a record's samples."""
    if h + 1 == m.horizon:
        return 0
    if level == 0:
        return value_at(m, h + 1, 0, 0)
    depth = m.d_s * level
    seen = [(e.count, value_at(m, h + 1, num.first_code(e.cell, depth), depth)) for e in record.entries()]
    if record.single:
        return seen[0][1]
    total = sum(count for count, _ in seen)
    if total == 0:
        return 0
    if m.paper:
        return sum(count * value for count, value in seen) // total
    s = num.shift(total)
    scaled = [(num.shifted(count, s), value) for count, value in seen]
    return num.mean(sum(n * v for n, v in scaled), sum(n for n, _ in scaled), m.reciprocal)


@dataclass
class Scan:
    q: int
    action: int
    finest: int


def scan(m: Model, h: int, state: int) -> Scan:
    """The best of all balls relevant to the state."""
    root = m.tree(h).slots[0]
    if isinstance(root, int):
        return Scan(m.most(h), num.centre(0, 0, m.d_a), 0)
    assert isinstance(root, Record)
    balls = _relevant(m, h, state, root, None, 0, 0)
    choice = choose(m, h, balls, [] if m.paper else played(m, h, state, root))
    best = choice.ball
    centre = num.centre(best.action, m.d_a * best.level, m.d_a)
    q = num.clamp(best.surplus + best.expected + choice.lift, 0, m.most(h))
    return Scan(q, centre, max(ball.level for ball in balls))


def played(m: Model, h: int, state: int, root: Record) -> list[int]:
    """Mean rewards of the records on the way of the state and of the action that it plays, root first."""
    action = v_path(m, h, state)[-1].action
    rewards = []
    slot: Record | Routing | int | None = root
    while isinstance(slot, Record):
        level = len(rewards)
        rewards.append(slot.reward >> (16 - m.f))
        slot = slot.below
        for chunk in range(len(m.chunks)):
            if isinstance(slot, Routing):
                slot = slot.slots[m.slot_index(chunk, level, state, action)]
    return rewards


def _relevant(
    m: Model, h: int, state: int, record: Record, parent: Record | None, level: int, action: int
) -> list[Ball]:
    """The balls of a record, by increasing action code."""
    expected = expect(m, h, record, level)
    if record.below is None:
        return [Ball(record.surplus, expected, action, level, record, parent)]
    out: list[Ball] = []

    def walk(block: Routing, chunk: int, prefix: int) -> None:
        first, ways = m.slot_range(chunk, level, state)
        width = m.chunks[chunk][1]
        missing = sum(a for _, a in m.chunks[chunk + 1 :])
        for way in range(ways):
            slot, cell = block.slots[first + way], prefix << width | way
            if isinstance(slot, int):
                out.append(Ball(slot, expected, cell << missing, level + 1, None, record))
            elif isinstance(slot, Record):
                out.extend(_relevant(m, h, state, slot, record, level + 1, cell))
            else:
                walk(slot, chunk + 1, cell)

    walk(record.below, 0, action)
    return out


def v_path(m: Model, h: int, state: int) -> list[VCell]:
    """The cells of V from the root to the one with a value; the depth is the length less one."""
    path = [m.steps[h].v]
    while path[-1].below:
        path.append(path[-1].below.sides[num.field(state, len(path) - 1, 1)])
    return path


def refresh_means(path: list[VCell]) -> None:
    for cell in reversed(path):
        if cell.below:
            cell.value = cell.below.mean()


def set_v(m: Model, h: int, state: int, *, divide: bool = True) -> int:
    """Scan the state and store what was found; the depth of the cell that was set."""
    found = scan(m, h, state)
    return store(m, h, state, found if divide else replace(found, finest=0))


def are_near(m: Model, one: int, other: int) -> bool:
    """Whether V is the same for both where it has to do with few units, SPEC 5.21."""
    near = 1 << spec.VALUE_NEAR_SHIFT
    return not m.paper and m.d_s + m.d_a > 2 and -near <= one - other < near


def store(m: Model, h: int, state: int, found: Scan) -> int:
    path = v_path(m, h, state)
    while len(path) - 1 < m.d_s * found.finest:
        cell = path[-1]
        same = cell.action == found.action or num.finer(cell.action, found.action, m.d_a)
        if same and are_near(m, cell.value, found.q):
            break
        node = VNode((VCell(cell.value, cell.action), VCell(cell.value, cell.action)))
        if not m.pool.take(node):
            break
        cell.below = node
        path.append(node.sides[num.field(state, len(path) - 1, 1)])
    cell = path[-1]
    cell.value = min(found.q, cell.value) if m.paper else found.q
    if m.paper or not num.finer(cell.action, found.action, m.d_a):
        cell.action = found.action
    refresh_means(path)
    return len(path) - 1


def request(m: Model, h: int, prefix: int, depth: int) -> None:
    """Have all V below a state cell refreshed, together with what is pending."""
    step = m.steps[h]
    if step.job:
        other, length = step.job
        common = min(depth, length)
        prefix, other = prefix >> (depth - common), other >> (length - common)
        while prefix != other:
            prefix, other, common = prefix >> 1, other >> 1, common - 1
        depth = common
    step.job = (prefix, depth)
    step.job_at = num.first_code(prefix, depth)


def run_job(m: Model, h: int) -> None:
    """Refresh one cell of those that are pending."""
    step = m.steps[h]
    assert step.job
    prefix, length = step.job
    depth = set_v(m, h, step.job_at)
    behind = num.first_code((step.job_at >> (16 - depth)) + 1, depth)
    if behind >= num.first_code(prefix + 1, length):
        step.job, step.job_at = None, 0
    else:
        step.job_at = behind
