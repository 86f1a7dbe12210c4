"""What the reference of `tracking` keeps: balls, the values of a step, and cells still to be refreshed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

from adamb.firmware_model import _spec
from adamb.host_sim.agents.reference.tree import Node, StateCells

MOST_CELLS = _spec.UNIT_WORDS

Action = tuple[float, ...]


class TrackedBall(Node):
    """One node of a partition; without children it is an active ball.

    `n`, `reward` and `next_counts` (pairs of cell key and count) are of the ball's own samples.
    """

    __slots__ = ("action_index", "children", "level", "n", "next_counts", "parent", "reward", "state_key",
                 "surplus")  # fmt: skip

    def __init__(
        self, parent: TrackedBall | None, level: int, state_key: int, action_index: tuple[int, ...]
    ) -> None:
        self.parent, self.level, self.state_key, self.action_index = parent, level, state_key, action_index
        self.surplus: float = math.inf if parent is None else parent.surplus
        self.n = 0
        self.reward = 0.0
        self.next_counts: list[list[int]] = []
        self.children: list[list[TrackedBall]] | None = None

    def split(self, d_s: int, d_a: int) -> None:
        """2^d unvisited children; children[state bits] lists the actions from high to low."""
        self.children = [
            [
                TrackedBall(
                    self,
                    self.level + 1,
                    self.state_key << d_s | state_bits,
                    tuple(2 * i + half for i, half in zip(self.action_index, halves, strict=True)),
                )
                for halves in product((1, 0), repeat=d_a)
            ]
            for state_bits in range(1 << d_s)
        ]

    def centre(self) -> Action:
        width = 0.5**self.level
        return tuple((i + 0.5) * width for i in self.action_index)

    def source(self) -> TrackedBall:
        """The ball whose next states count: itself or, unvisited, its parent."""
        return self if self.n or self.parent is None else self.parent

    def count_next(self, key: int) -> None:
        """Count a next-state cell, or the nearest one where all MOST_CELLS entries are taken.

        "Nearest" is by position in the order of keys. Among equally near ones the core meets the cell that
        came last first, so that is where it stands in the list.
        """
        for entry in self.next_counts:
            if entry[0] == key:
                entry[1] += 1
                return
        found = len(self.next_counts)
        if found == MOST_CELLS:
            min(self.next_counts, key=lambda entry: abs(entry[0] - key))[1] += 1
        else:
            self.next_counts.insert(0 if found == MOST_CELLS - 1 else found, [key, 1])

    def ancestors(self) -> Iterator[TrackedBall]:
        ball = self.parent
        while ball is not None:
            yield ball
            ball = ball.parent


class Values(StateCells):
    """V of one step and the action that looked best in each cell.

    The cells are those of a binary tree over the interleaved bits of the state: level l has d_s * l of them.
    """

    def __init__(self, value: float, action: Action) -> None:
        super().__init__(1, value)
        self.best = {1: action}

    def cell_of(self, point: int) -> int:
        """The cell that holds a point, which is itself a key of full depth."""
        mean, key, shift = self.mean, 1, point.bit_length() - 1
        while key << 1 in mean:
            shift -= 1
            key = point >> shift
        return key

    def refine(self, point: int, depth: int) -> int:
        """The cell that holds a point, at least so deep; new cells start as the one they are cut from."""
        key = self.cell_of(point)
        while key.bit_length() - 1 < depth:
            self.split(key)
            self.best[key << 1] = self.best[key << 1 | 1] = self.best[key]
            key = point >> point.bit_length() - key.bit_length() - 1
        return key


class RefreshJob:
    """Cells of one step that are still to be refreshed after a split: those under `cell`, from `point` on."""

    def __init__(self, cell: int, depth: int) -> None:
        self.cell, self.depth = cell, depth
        self.point = cell << depth + 1 - cell.bit_length()

    def joined(self, cell: int) -> RefreshJob:
        """One job for the smallest cell that holds both, from its beginning."""
        a, b = self.cell, cell
        shorter = min(a.bit_length(), b.bit_length())
        a, b = a >> a.bit_length() - shorter, b >> b.bit_length() - shorter
        while a != b:
            a, b = a >> 1, b >> 1
        return RefreshJob(a, self.depth)

    def advance(self, done: int) -> bool:
        """Go on behind a finished cell; False at the end."""
        self.point = self._behind(done)
        return self.point < self._behind(self.cell)

    def _behind(self, cell: int) -> int:
        return cell + 1 << self.depth + 1 - cell.bit_length()


def inherited_weight(ball: TrackedBall) -> float:
    """Samples that the parent's evidence counts for: a part of its own, until the ball knows enough."""
    if ball.parent is None or _spec.SAMPLE_WEIGHT * ball.n >= _spec.PARENT_UNTIL:
        return 0.0
    return min(ball.parent.n, _spec.PARENT_MOST) / _spec.SAMPLE_WEIGHT


def is_finer(action: Action, centre: Action) -> bool:
    """Is the action the centre of a smaller cell within the cell around this centre?

    The last binary digit of a centre gives the width of its cell.
    """
    width = 1 / _denominator(centre)
    inside = all(abs(x - c) < width for x, c in zip(action, centre, strict=True))
    return inside and _denominator(action) > _denominator(centre)


def anywhere(centre: Action, offsets: Sequence[float]) -> Action:
    """The point of the cell around a centre that lies so far (0 to 1) along each of its sides."""
    width = 1 / _denominator(centre)
    return tuple(x + (2 * u - 1) * width for x, u in zip(centre, offsets, strict=True))


def _denominator(centre: Action) -> int:
    return max(x.as_integer_ratio()[1] for x in centre)
