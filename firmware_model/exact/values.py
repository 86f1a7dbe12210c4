"""SPEC 5, 6.37 and 6.38: reading values, scanning relevant balls, storing V, requests and jobs."""

from __future__ import annotations

from dataclasses import dataclass

from adamb.firmware_model.exact import numbers as num
from adamb.firmware_model.exact.memory import Record, Routing, VCell, VNode
from adamb.firmware_model.exact.model import Model
from adamb.firmware_model.exact.rank import Ball, choose


def value_at(m: Model, h: int, code: int, bits: int) -> int:
    cell = m.steps[h].v
    for depth in range(bits):
        if cell.below is None:
            break
        cell = cell.below.sides[num.field(code, depth, 1)]
    return cell.value


def expect(m: Model, h: int, record: Record, level: int) -> int:
    """The expected next value of a record's samples."""
    if m.is_last(h):
        return 0
    if level == 0:
        return value_at(m, h + 1, 0, 0)
    depth = m.spaces[h].d_s * level
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
    """The best of the first balls relevant to the state."""
    root = m.tree(h).slots[0]
    if isinstance(root, int):
        return Scan(m.v_max(h), num.centre(0, 0, m.d_a), 0)
    assert isinstance(root, Record)
    balls = _relevant(m, h, state, root, 0, 0)[: m.most_balls(h)]
    best = choose(m, h, balls)
    centre = num.centre(best.action, m.d_a * best.level, m.d_a)
    q = num.clamp(best.surplus + best.expected, 0, m.v_max(h))
    return Scan(q, centre, max(ball.level for ball in balls))


def _relevant(m: Model, h: int, state: int, record: Record, level: int, action: int) -> list[Ball]:
    """The balls of a record, by increasing action code."""
    expected = expect(m, h, record, level)
    if record.below is None:
        return [Ball(record.surplus, expected, action, level, record)]
    space = m.spaces[h]
    out: list[Ball] = []

    def walk(block: Routing, chunk: int, prefix: int) -> None:
        first, ways = space.slot_range(chunk, level, state)
        width = space.chunks[chunk][1]
        missing = sum(a for _, a in space.chunks[chunk + 1 :])
        for way in range(ways):
            slot, cell = block.slots[first + way], prefix << width | way
            if isinstance(slot, int):
                out.append(Ball(slot, expected, cell << missing, level + 1, None))
            elif isinstance(slot, Record):
                out.extend(_relevant(m, h, state, slot, level + 1, cell))
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


def set_v(m: Model, h: int, state: int) -> int:
    """Scan the state and store what was found; the depth of the cell that was set."""
    return store(m, h, state, scan(m, h, state))


def store(m: Model, h: int, state: int, found: Scan) -> int:
    path = v_path(m, h, state)
    while len(path) - 1 < m.spaces[h].d_s * found.finest:
        cell = path[-1]
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
