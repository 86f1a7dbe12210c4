"""A controller's block read by a host: header, partitions, next states, V, free units, and who owns each byte.

No Q is stored in a block. A ball keeps its advantage over the next value, and its Q at step h is that plus the
expected V of step h+1 over next states: its own, or its parent's while it was never visited. The arithmetic here
is that of the core, integer for integer, so what a picture shows is what the controller would decide by. Nothing
is trusted: a link that leads out of the block, to a unit that has an owner, or round in a circle, is a
DamagedBlock and not an endless walk.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from adamb.firmware_model import _spec as spec
from adamb.firmware_model.config import code_division, usable

UNIT = int(spec.UNIT_WORDS)
UNIT_BYTES = 2 * UNIT
TAG, MASK = int(spec.TAG), int(spec.VALUE_MASK)
ONE = 65536
_RECIPROCAL = struct.unpack(f"<{len(spec.RECIPROCAL) // 2}H", spec.RECIPROCAL)

BLOCK_COUNTERS = ("episodes", "splits", "refused", "no_room", "reclaims", "saturations", "restarts")
"""Header words that tell a story over time; `episodes` also has a high word."""

#: In the order of the report. `header` is configuration and state of the whole controller, `steps` the words
#: of each step, the held one too, `held partition` the units of that step, `unclaimed` what no owner reaches
#: (0 in a sound block), `tail` words that make no whole unit.
OWNERS = (
    "header", "thresholds", "steps", "padding", "records", "routing", "counts", "values",
    "held partition", "sharing test", "free", "unclaimed", "tail",
)  # fmt: skip


class DamagedBlock(ValueError):
    """The block is not that of a controller, or its links contradict each other.

    >>> BlockView([0] * 100)
    Traceback (most recent call last):
    adamb.firmware_model.host.reader.DamagedBlock: not a controller's block: the first word is not its mark
    """


@dataclass(frozen=True)
class Ball:
    """A leaf of a partition: the box of side 2^-level whose corner the two codes name."""

    level: int
    state_code: int
    action_code: int
    advantage: int
    """Its Q less the expected value of the next state, from SURPLUS_ZERO up."""
    record: int
    """Unit of its own record, 0 for a ball that was never visited."""
    parent: int
    """Unit of the record above it, 0 at the root."""
    n: int = 0
    clock: int = 0
    """Clock bits: 3 when it was just visited, fewer as visits elsewhere pass."""
    reward_q16: int = 0

    @property
    def visited(self) -> bool:
        return self.record != 0


@dataclass(frozen=True)
class ValueCell:
    """A cell of the V tree of one step: its first `bits` code bits, its value and the best action there."""

    code: int
    bits: int
    value: int
    action_code: int


class Counts(NamedTuple):
    """Next states of a record: the tagged words, and whether the only one lies in the record itself."""

    entries: list[int]
    inline: bool


class Use(NamedTuple):
    """Use of a unit: its kind, and its place (`level` is the depth of a V node)."""

    kind: str
    h: int = 0
    level: int = 0
    chunk: int = 0


class _Slot(NamedTuple):
    """A slot of a partition and the way to it: how many blocks into a level, and the bits consumed so far."""

    slot: int
    level: int = 0
    chunk: int = 0
    s_bits: int = 0
    a_bits: int = 0
    state: int = 0
    action: int = 0
    parent: int = 0


class Kind(NamedTuple):
    """What the controller knows of held or of stepwise episodes."""

    mean_return: float
    n: int
    """Of how many episodes it is the mean: DETECT_WINDOW at most, fewer as episodes of the other kind pass."""


class BlockView:
    """One block, decoded; it may be cut off after its last used unit.

    Methods of a step take h = 0 … H - 1; `held_balls` are those of the held step, whose V is never divided.
    """

    def __init__(self, words: Iterable[int], *, partial: bool = False) -> None:
        """`partial` keeps what was read up to the first damage, for the names of words."""
        self.w: list[int] = [int(word) for word in words]
        self._check_header()
        w = self.w
        self.flags = w[spec.H_FLAGS]
        self.paper = bool(self.flags & spec.FLAG_PAPER)
        self.shared = w[spec.H_SHARE] != spec.SHARE_OFF
        self.testing_share = w[spec.H_SHARE] == spec.SHARE_TESTING
        self.units: dict[int, Use] = {}
        """Units that are linked from the steps."""
        self.counts: dict[int, Counts] = {}
        """Next states by record of the steps' partitions, of split balls too."""
        self.held_balls: list[Ball] = []
        self._balls: list[list[Ball]] = []
        self._cells: list[list[ValueCell]] = []
        self._expected: list[dict[int, int]] = [{} for _ in range(self.horizon + 1)]
        try:
            for h in range(self.horizon):
                if h < self.trees:
                    self._balls.append(self._sorted_balls(h))
                self._cells.append(list(self._walk_values(h)))
            self.held_balls = self._sorted_balls(self.horizon)
            if not self.w[self._step(self.horizon) + int(spec.S_V_SLOT)] & TAG:
                raise DamagedBlock("V of the held step is divided")
        except DamagedBlock:
            if not partial:
                raise

    def _check_header(self) -> None:
        w = self.w
        if len(w) < spec.H_WORDS or w[spec.H_MAGIC] != spec.MAGIC:
            raise DamagedBlock("not a controller's block: the first word is not its mark")
        if not usable(w):
            raise DamagedBlock("written by another version of the core, or the header is damaged")
        dims, scale = w[spec.H_DIMS], w[spec.H_SCALE]
        self.d_s, self.d_a, self.horizon = dims & 15, dims >> 4 & 15, dims >> 8
        self.fraction, self.finest = scale & 0xFF, scale >> 8
        self.fresh, self.pool_at, steps_at = w[spec.H_FRESH], w[spec.H_POOL_AT], w[spec.H_STEPS_AT]
        sound = 1 <= self.d_s <= spec.DIM_MAX and 1 <= self.d_a <= spec.DIM_MAX
        sound = sound and 1 <= self.horizon <= spec.HORIZON_MAX and self.d_s * self.finest <= spec.LEVEL_MAX
        sound = sound and self.fraction in (10, 11, 12) and self.d_a * self.finest <= 15
        sound = sound and w[spec.H_BITS] == code_division(self.d_s, self.d_a)
        end = steps_at + (self.horizon + 1) * spec.S_WORDS
        sound = sound and steps_at >= spec.H_WORDS and end <= self.pool_at * UNIT
        if not sound or not self.pool_at <= self.fresh <= w[spec.H_UNITS]:
            raise DamagedBlock("the header contradicts itself")
        if self.fresh * UNIT > len(w):
            raise DamagedBlock("the block is shorter than the part of it that is in use")

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
    def next_kind(self) -> str:
        """Of the episode that is under way, or of the next one: `held` plays one action in all steps."""
        return {1: "held", spec.HELD_TAUGHT: "taught"}.get(self.w[spec.H_HELD], "stepwise")

    @property
    def kinds(self) -> dict[str, Kind]:
        """Both kinds of episodes; a kind without any has a mean of 0."""
        w, one = self.w, 1 << self.fraction
        return {
            "held": Kind(w[spec.H_HELD_MEAN] / one, w[spec.H_HELD_N]),
            "stepwise": Kind(w[spec.H_STEPS_MEAN] / one, w[spec.H_STEPS_N]),
        }

    @property
    def held_action(self) -> tuple[float, ...]:
        """The action that a held episode plays."""
        return coordinates(self.w[self._step(self.horizon) + int(spec.S_V_AUX)], self.d_a)

    @property
    def held_value(self) -> float:
        """The return that a held episode may reach, an optimistic value as V is."""
        return self.horizon * (self.w[self._step(self.horizon) + int(spec.S_V_SLOT)] & MASK) / (1 << self.fraction)

    @property
    def thresholds(self) -> list[int]:
        return self.w[spec.H_WORDS : spec.H_WORDS + self.finest + 1]

    def describe(self) -> dict[str, Any]:
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

    def bytes_by_owner(self, length: int | None = None) -> dict[str, int]:
        """Every byte of the block by its owner, in the order of OWNERS; without the length in words: as the
        header has it. Raises where the rest of the block contradicts what its links reach.
        """
        w, units = self.w, self.w[spec.H_UNITS]
        length = units * UNIT if length is None else length
        if units * UNIT > length:
            raise DamagedBlock("the header's limits of the pool contradict the length of the block")
        found = dict.fromkeys(OWNERS, 0)
        claimed = self.all_units()
        for use in claimed.values():
            found["held partition" if use.h == self.horizon else use.kind] += UNIT_BYTES
        steps_at = w[spec.H_STEPS_AT]
        steps_end = self._step(self.horizon + 1)
        found["header"] = 2 * int(spec.H_WORDS)
        found["thresholds"] = 2 * (steps_at - int(spec.H_WORDS))
        found["steps"] = 2 * (steps_end - steps_at)
        found["padding"] = 2 * (self.pool_at * UNIT - steps_end)
        found["free"] += UNIT_BYTES * (units - self.fresh)
        found["unclaimed"] = UNIT_BYTES * (self.fresh - self.pool_at - len(claimed))
        found["tail"] = 2 * (length - units * UNIT)
        return found

    @property
    def used_bytes(self) -> int:
        """Bytes that are not free, by the header."""
        return UNIT_BYTES * (self.fresh - self.w[spec.H_FREE_N])

    @property
    def peak_bytes(self) -> int:
        """The most bytes that were in use so far."""
        return UNIT_BYTES * (self.pool_at + self.w[spec.H_USED_PEAK])

    def all_units(self, *, partial: bool = False) -> dict[int, Use]:
        """The use of every unit, with the table of the sharing test and the free ones."""
        found = dict(self.units)
        try:
            if self.testing_share:
                for i in range(int(spec.SHARE_TABLE_UNITS)):
                    self._claim(found, self.w[spec.H_TABLE] + i, Use("sharing test"))
            unit, count = self.w[spec.H_FREE_HEAD], 0
            while unit:
                unit = self.w[self._claim(found, unit, Use("free"))]
                count += 1
            if count != self.w[spec.H_FREE_N]:
                raise DamagedBlock(f"{count} free units, but the header says {self.w[spec.H_FREE_N]}")
        except DamagedBlock:
            if not partial:
                raise
        return found

    # ---- the walk ---------------------------------------------------------------------------------------

    def _step(self, h: int) -> int:
        return self.w[spec.H_STEPS_AT] + h * int(spec.S_WORDS)

    def _state_dims(self, h: int) -> int:
        return self.d_s if h < self.horizon else 0

    def _claim(self, units: dict[int, Use], unit: int, use: Use) -> int:
        """Record what a linked unit is used for; its first word."""
        if not self.pool_at <= unit < self.fresh:
            raise DamagedBlock(f"a link of {use.kind} leads to unit {unit}, outside the pool")
        if unit in units:
            raise DamagedBlock(f"unit {unit} belongs to {units[unit].kind} and to {use.kind}")
        units[unit] = use
        return unit * UNIT

    def _sorted_balls(self, h: int) -> list[Ball]:
        return sorted(self._walk(h), key=lambda ball: (ball.state_code, ball.action_code))

    def _walk(self, h: int) -> Iterator[Ball]:
        """Every leaf below the root of a step."""
        w, stack = self.w, [_Slot(self._step(h) + int(spec.S_ROOT))]
        d_s = self._state_dims(h)
        while stack:
            place = stack.pop()
            word, parent = w[place.slot], place.parent
            if word & TAG:
                yield from self._unvisited(word, place, d_s)
                continue
            if place.chunk == 0:
                at = self._claim(self.units, word, Use("records", h, place.level))
                if h < self.horizon:
                    self.counts[word] = self._read_counts(w[at + spec.R_COUNTS], h, place.level)
                elif w[at + spec.R_COUNTS]:
                    raise DamagedBlock("a record of the held step has counts")
                if w[at] & TAG:
                    yield self._visited(word, place)
                    continue
                parent, word = word, w[at]
            at = self._claim(self.units, word, Use("routing", h, place.level, place.chunk + 1))
            stack += self._below(place, at, parent, d_s)

    def _below(self, place: _Slot, at: int, parent: int, d_s: int) -> Iterator[_Slot]:
        """The slots of the routing block at word `at`."""
        if place.level >= self.finest:
            raise DamagedBlock(f"a ball of the finest level {self.finest} is split")
        packed = code_division(d_s, self.d_a) >> 4 * place.chunk
        s_n, a_n = packed & 3, packed >> 2 & 3
        s_bits, a_bits = place.s_bits + s_n, place.a_bits + a_n
        last = 2 * (place.chunk + 1) >= d_s + self.d_a
        for i in range(1 << (s_n + a_n)):
            state = place.state | (i >> a_n) << (16 - s_bits)
            action = place.action | (i & (1 << a_n) - 1) << (16 - a_bits)
            chunk = 0 if last else place.chunk + 1
            yield _Slot(at + i, place.level + last, chunk, s_bits, a_bits, state, action, parent)

    def _visited(self, record: int, place: _Slot) -> Ball:
        link, n, reward, _ = self.w[record * UNIT : record * UNIT + UNIT]
        own, clock = n & spec.N_MAX, n >> spec.CREDIT_SHIFT
        return Ball(place.level, place.state, place.action, link & MASK, record, place.parent, own, clock, reward)

    def _unvisited(self, word: int, place: _Slot, d_s: int) -> Iterator[Ball]:
        """The balls behind a value: one, or all of a level that no routing block divides yet."""
        level = place.level + (place.chunk != 0)
        s_end, a_end = level * d_s, level * self.d_a
        for i in range(1 << (s_end - place.s_bits)):
            for j in range(1 << (a_end - place.a_bits)):
                codes = place.state | i << (16 - s_end), place.action | j << (16 - a_end)
                yield Ball(level, *codes, word & MASK, 0, place.parent)

    def _read_counts(self, head: int, h: int, level: int) -> Counts:
        """The tagged words of a record's counts, in the order of the block."""
        if head & TAG:
            return Counts([head], True) if level else Counts([], False)
        found: list[int] = []
        while head:
            at = self._claim(self.units, head, Use("counts", h, level))
            found += [word for word in self.w[at : at + UNIT] if word & TAG]
            head = 0 if self.w[at] & TAG else self.w[at]  # a link in a chain, an entry in a unit of four
        return Counts(found, False)

    def _walk_values(self, h: int) -> Iterator[ValueCell]:
        stack = [(self._step(h) + int(spec.S_V_SLOT), 0, 0)]
        while stack:
            at, code, depth = stack.pop()
            word = self.w[at]
            if word & TAG:
                yield ValueCell(code, depth, word & MASK, self.w[at + 2])
                continue
            if depth >= self.d_s * self.finest:
                raise DamagedBlock("the value tree is deeper than the finest level")
            node = self._claim(self.units, word, Use("values", h, depth))
            stack += [(node + 1, code | 0x8000 >> depth, depth + 1), (node, code, depth + 1)]

    # ---- balls and values -------------------------------------------------------------------------------

    def balls(self, h: int) -> list[Ball]:
        """The leaves of the partition that step h uses, in the order of their codes."""
        return self._balls[0 if self.shared else h]

    def values(self, h: int) -> list[ValueCell]:
        """The cells of V at step h from low codes to high, with the action of a stepwise episode there."""
        return self._cells[h]

    def box(self, ball: Ball) -> tuple[tuple[float, ...], float]:
        """The corner (state axes, then action axes) and the side of a ball."""
        low = coordinates(ball.state_code, self.d_s, ball.level * self.d_s)
        return low + coordinates(ball.action_code, self.d_a, ball.level * self.d_a), 2.0**-ball.level

    def q_raw(self, ball: Ball, h: int) -> int:
        """Q of a ball at step h in the value format, as the core computes it."""
        return self._q(h, [ball])[0]

    def all_q_raw(self, h: int) -> list[int]:
        """Q of all balls of step h, in their order."""
        return self._q(h, self.balls(h))

    def _q(self, h: int, balls: Sequence[Ball]) -> list[int]:
        v_max, expected = max(self.horizon - h, 1) << self.fraction, self._expected[h]
        for ball in balls:
            reference = ball.record or ball.parent
            if reference and reference not in expected:
                level = ball.level if ball.record else ball.level - 1
                expected[reference] = self._expect(reference, level, h) - int(spec.SURPLUS_ZERO)
        found = (
            ball.advantage + expected[ball.record or ball.parent] if ball.record or ball.parent else v_max
            for ball in balls
        )
        return [0 if q < 0 else v_max if q > v_max else q for q in found]

    def q(self, ball: Ball, h: int) -> float:
        return self.q_raw(ball, h) / (1 << self.fraction)

    def reward(self, ball: Ball) -> float | None:
        """Mean reward; None for a ball that was never visited."""
        return ball.reward_q16 / ONE if ball.visited else None

    def next_states(self, ball: Ball) -> list[tuple[int, int]]:
        """(cell of the ball's level, count) of its own next states, by cell; level 0 has one cell."""
        if not ball.visited:
            return []
        if ball.level == 0:
            return [(0, ball.n)] if ball.n else []
        bits = 15 - self.d_s * ball.level
        low = (1 << bits) - 1
        return sorted(((word & MASK) >> bits, word & low) for word in self.counts[ball.record].entries if word & low)

    def _expect(self, record: int, level: int, h: int) -> int:
        """Expected V of step h+1 under a record's own counts; nothing follows the last step."""
        if h + 1 >= self.horizon:
            return 0
        if level == 0:
            return self._value_at(h + 1, 0, 0)
        counts = self.counts[record]
        bits = 15 - self.d_s * level
        low, depth = (1 << bits) - 1, self.d_s * level
        weighed = [(word & low, (word & MASK) >> bits << (bits + 1)) for word in counts.entries]
        if counts.inline:
            return self._value_at(h + 1, weighed[0][1], depth)
        total = sum(n for n, _ in weighed)
        if total == 0:
            return 0
        if self.paper:
            return sum(n * self._value_at(h + 1, code, depth) for n, code in weighed) // total
        shift = 8 - total.bit_length()  # weights of a total of 128 to 255
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
            at = w[at] * UNIT + (code >> (15 - depth) & 1)
        return w[at] & MASK if w[at] & TAG else w[at + 2]


def coordinates(code: int, dims: int, bits: int = 16) -> tuple[float, ...]:
    """The corner of the cell whose first `bits` bits are those of an interleaved code, in [0,1)^dims."""
    found = [0] * dims
    for position in range(bits):
        found[position % dims] = found[position % dims] << 1 | code >> (15 - position) & 1
    sizes = [len(range(axis, bits, dims)) for axis in range(dims)]
    return tuple(value / (1 << size) for value, size in zip(found, sizes, strict=True))
