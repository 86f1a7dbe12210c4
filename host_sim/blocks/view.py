"""A controller's block read by a host: the balls of every step, their Q, what followed them, and V.

No Q is stored in a block. A ball keeps a surplus, and its Q at step h is that surplus plus the expected V of
step h+1 over next states: its own, or its parent's while it was never visited. The arithmetic here is that of
the core, integer for integer, so what a picture shows is what the controller would decide by. Nothing is
trusted: a link that leads out of the block, or round in a circle, is a DamagedBlock and not an endless walk.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from adamb.budgets.ledger import DamagedBlock
from adamb.firmware_model import _spec as spec
from adamb.firmware_model.config import code_division, usable
from adamb.host_sim.blocks.ball import BallView, SlotPlace, ValueCell, coordinates

UNIT = int(spec.UNIT_WORDS)
TAG, MASK = int(spec.TAG), int(spec.VALUE_MASK)
ONE = 65536
_RECIPROCAL = struct.unpack(f"<{len(spec.RECIPROCAL) // 2}H", spec.RECIPROCAL)

BLOCK_COUNTERS = ("episodes", "splits", "refused", "no_room", "reclaims", "saturations", "restarts")
"""Header words that tell a story over time; `episodes` also has a high word."""


class BlockView:
    """One block, decoded on demand; the block may be cut off after its last used unit."""

    def __init__(self, words: Sequence[int] | np.ndarray) -> None:
        self.w: list[int] = [int(word) for word in words]
        w = self.w
        if len(w) < spec.H_WORDS or w[spec.H_MAGIC] != spec.MAGIC:
            raise DamagedBlock("not a controller's block: the first word is not its mark")
        if not usable(w):
            raise DamagedBlock("written by another version of the core, or the header is damaged")
        dims, scale = w[spec.H_DIMS], w[spec.H_SCALE]
        self.d_s, self.d_a, self.horizon = dims & 15, dims >> 4 & 15, dims >> 8
        self.fraction, self.finest = scale & 0xFF, scale >> 8
        self._check_header()
        self.flags = w[spec.H_FLAGS]
        self.paper = bool(self.flags & spec.FLAG_PAPER)
        self.shared = w[spec.H_SHARE] != spec.SHARE_OFF
        self.testing_share = w[spec.H_SHARE] == spec.SHARE_TESTING
        self.chunks = (self.d_s + self.d_a + 1) // 2

    def _check_header(self) -> None:
        w = self.w
        sound = 1 <= self.d_s <= spec.DIM_MAX and 1 <= self.d_a <= spec.DIM_MAX
        sound = sound and 1 <= self.horizon <= spec.HORIZON_MAX and self.d_s * self.finest <= spec.LEVEL_MAX
        sound = sound and self.fraction in (10, 11, 12) and self.d_a * self.finest <= 15
        end = w[spec.H_STEPS_AT] + self.horizon * spec.S_WORDS
        sound = sound and w[spec.H_BITS] == code_division(self.d_s, self.d_a)
        if not sound or end > w[spec.H_POOL_AT] * UNIT or w[spec.H_FRESH] * UNIT > len(w):
            raise DamagedBlock("the header contradicts itself or the length of the block")

    # ---- the controller as a whole ----------------------------------------------------------------------

    @property
    def mode(self) -> str:
        return "paper" if self.paper else "tracking"

    @property
    def trees(self) -> int:
        return 1 if self.shared else self.horizon

    @property
    def counters(self) -> dict[str, int]:
        """The counters of the header by name."""
        found = {name: self.w[getattr(spec, f"H_{name.upper()}")] for name in BLOCK_COUNTERS}
        found["episodes"] |= self.w[spec.H_EPISODES_HIGH] << 16
        return found

    @property
    def thresholds(self) -> list[int]:
        return self.w[spec.H_WORDS : spec.H_WORDS + self.finest + 1]

    def describe(self) -> dict[str, object]:
        """The configuration that the block carries, in the words of the command line."""
        on = self.flags.__and__
        return {
            "dims": f"{self.d_s}+{self.d_a}",
            "horizon": self.horizon,
            "mode": self.mode,
            "share": "testing" if self.testing_share else "on" if self.shared else "off",
            "split": "own" if on(spec.FLAG_OWN) else "inherited",
            "when_full": "freeze" if on(spec.FLAG_FREEZE) else "reclaim",
            "action": "random" if on(spec.FLAG_RANDOM) else "centre",
            "detect": "on" if on(spec.FLAG_DETECT) else "off",
            "bonus": "auto" if on(spec.FLAG_AUTO_BONUS) else self.w[spec.H_BONUS] / (1 << self.fraction),
            "finest_level": self.finest,
            "thresholds": self.thresholds,
        }

    # ---- partitions -------------------------------------------------------------------------------------

    def balls(self, h: int) -> list[BallView]:
        """The leaves of the partition that step h uses, in the order of their codes."""
        return self._trees[0 if self.shared else h]

    @cached_property
    def _trees(self) -> list[list[BallView]]:
        return [sorted(self._walk(self._step(h)), key=_order) for h in range(self.trees)]

    def _step(self, h: int) -> int:
        return self.w[spec.H_STEPS_AT] + h * int(spec.S_WORDS)

    def _unit(self, link: int) -> int:
        """First word of a linked unit."""
        if not self.w[spec.H_POOL_AT] <= link < self.w[spec.H_FRESH]:
            raise DamagedBlock(f"a link leads to unit {link}, outside the pool")
        return link * UNIT

    def _split_bits(self, chunk: int) -> tuple[int, int]:
        """State and action bits that the chunk-th routing block of a level consumes."""
        packed = self.w[spec.H_BITS] >> 4 * chunk
        return packed & 3, packed >> 2 & 3

    def _walk(self, step: int) -> Iterator[BallView]:
        """Every leaf below the root of a step."""
        w, budget = self.w, len(self.w)
        stack = [SlotPlace(step + int(spec.S_ROOT))]
        while stack:
            place = stack.pop()
            budget -= 1
            if budget < 0:
                raise DamagedBlock("the links of a partition go round in a circle")
            word, parent = w[place.slot], place.parent
            if word & TAG:
                yield from self._unvisited(word, place)
                continue
            at = self._unit(word)
            if place.chunk == 0:
                if w[at] & TAG:
                    yield self._visited(word, place)
                    continue
                parent, at = word, self._unit(w[at])
            stack += self._below(place, at, parent)

    def _below(self, place: SlotPlace, at: int, parent: int) -> Iterator[SlotPlace]:
        """The slots of the routing block at word `at`."""
        if place.level >= self.finest:
            raise DamagedBlock(f"a ball of the finest level {self.finest} is split")
        s_n, a_n = self._split_bits(place.chunk)
        s_bits, a_bits = place.s_bits + s_n, place.a_bits + a_n
        last = place.chunk + 1 == self.chunks
        for i in range(1 << (s_n + a_n)):
            state = place.state | (i >> a_n) << (16 - s_bits)
            action = place.action | (i & (1 << a_n) - 1) << (16 - a_bits)
            chunk = 0 if last else place.chunk + 1
            yield SlotPlace(at + i, place.level + last, chunk, s_bits, a_bits, state, action, parent)

    def _visited(self, record: int, place: SlotPlace) -> BallView:
        link, n, reward, _ = self.w[record * UNIT : record * UNIT + UNIT]
        own, credit = n & spec.N_MAX, n >> spec.CREDIT_SHIFT
        codes = place.state, place.action
        return BallView(place.level, *codes, link & MASK, record, place.parent, own, credit, reward)

    def _unvisited(self, word: int, place: SlotPlace) -> Iterator[BallView]:
        """The balls behind a value: one, or all of a level that no routing block tells apart yet."""
        level = place.level + (place.chunk != 0)
        s_end, a_end = level * self.d_s, level * self.d_a
        for i in range(1 << (s_end - place.s_bits)):
            for j in range(1 << (a_end - place.a_bits)):
                codes = place.state | i << (16 - s_end), place.action | j << (16 - a_end)
                yield BallView(level, *codes, word & MASK, 0, place.parent, 0, 0, 0)

    # ---- values -----------------------------------------------------------------------------------------

    def box(self, ball: BallView) -> tuple[tuple[float, ...], float]:
        """The corner (state axes, then action axes) and the side of a ball."""
        low = coordinates(ball.state_code, self.d_s, ball.level * self.d_s)
        return low + coordinates(ball.action_code, self.d_a, ball.level * self.d_a), 2.0**-ball.level

    def q_raw(self, ball: BallView, h: int) -> int:
        """Q of a ball at step h in the value format, as the core computes it."""
        most = min(int(spec.VALUE_MAX), (self.horizon - h) << self.fraction)
        reference = ball.record or ball.parent
        if reference == 0:
            return most
        level = ball.level if ball.record else ball.level - 1
        q = ball.surplus - int(spec.SURPLUS_ZERO) + self._expect(reference, level, h)
        return min(max(q, 0), most)

    def q(self, ball: BallView, h: int) -> float:
        return self.q_raw(ball, h) / (1 << self.fraction)

    def reward(self, ball: BallView) -> float | None:
        """Mean reward; None for a ball that was never visited."""
        return ball.reward_q16 / ONE if ball.visited else None

    def next_states(self, ball: BallView) -> list[tuple[int, int]]:
        """(cell of the ball's level, count) of its own next states, by cell; level 0 has one cell."""
        if not ball.visited:
            return []
        if ball.level == 0:
            return [(0, ball.n)] if ball.n else []
        bits = 15 - self.d_s * ball.level
        low = (1 << bits) - 1
        entries = self._entries(ball.record)
        return sorted(((word & MASK) >> bits, word & low) for word in entries if word & low)

    def _entries(self, record: int) -> list[int]:
        """The tagged words of a record's counts, in the order of the block."""
        head = self.w[record * UNIT + spec.R_COUNTS]
        found: list[int] = []
        if head & TAG:
            return [head]
        for _ in range(len(self.w)):
            if head == 0:
                return found
            at = self._unit(head)
            found += [word for word in self.w[at : at + UNIT] if word & TAG]
            head = 0 if self.w[at] & TAG else self.w[at]
        raise DamagedBlock("a chain of counts goes round in a circle")

    def _expect(self, record: int, level: int, h: int) -> int:
        """Expected V of step h+1 under a record's own counts; nothing follows the last step."""
        if h + 1 >= self.horizon:
            return 0
        head = self.w[record * UNIT + spec.R_COUNTS]
        if level == 0:
            return self._value_at(h + 1, 0, 0)
        bits = 15 - self.d_s * level
        low, depth = (1 << bits) - 1, self.d_s * level
        weighed = [(word & low, (word & MASK) >> bits << (bits + 1)) for word in self._entries(record)]
        if head & TAG:
            return self._value_at(h + 1, weighed[0][1], depth)
        total = sum(n for n, _ in weighed)
        if total == 0:
            return 0
        if self.paper:
            return sum(n * self._value_at(h + 1, code, depth) for n, code in weighed) // total
        shift = _shift(total)
        shifted = [(n << shift if shift >= 0 else n >> -shift, code) for n, code in weighed]
        total = sum(n for n, _ in shifted)
        summed = sum(n * self._value_at(h + 1, code, depth) for n, code in shifted if n)
        return (summed >> 8) * _RECIPROCAL[total - 124] >> 14

    def _value_at(self, h: int, code: int, bits: int) -> int:
        """V of a cell: one value, or the mean of what lies below."""
        w, at = self.w, self._step(h) + int(spec.S_V_SLOT)
        for depth in range(bits):
            if w[at] & TAG:
                break
            at = self._unit(w[at]) + (code >> (15 - depth) & 1)
        return w[at] & MASK if w[at] & TAG else w[at + 2]

    def values(self, h: int) -> list[ValueCell]:
        """The cells of V at step h from low codes to high, with the action that `act` plays there."""
        found, stack = [], [(self._step(h) + int(spec.S_V_SLOT), 0, 0)]
        while stack:
            at, code, depth = stack.pop()
            word = self.w[at]
            if word & TAG:
                found.append(ValueCell(code, depth, word & MASK, self.w[at + 2]))
                continue
            if depth >= self.d_s * self.finest:
                raise DamagedBlock("the value tree is deeper than the finest level")
            node = self._unit(word)
            stack += [(node + 1, code | 0x8000 >> depth, depth + 1), (node, code, depth + 1)]
        return found


def _order(ball: BallView) -> tuple[int, int]:
    return ball.state_code, ball.action_code


def _shift(total: int) -> int:
    """How far left (or, below zero, right) weights with this total must go for a total of 128 to 255."""
    return 8 - total.bit_length()
