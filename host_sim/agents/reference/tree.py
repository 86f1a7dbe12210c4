"""Dyadic geometry of the reference: balls of S x A, and the state cells that carry V.

A cell of the 2^-l grid is one integer, its *key*: a leading 1, then d_s bits per level (coordinate 0 first).
The root is 1, the parent is `key >> d_s`, so "A is inside A'" is a shift, and no two cells share a key.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from adamb.host_sim.agents.reference.settings import MAX_LEVEL

FINEST = 1 << MAX_LEVEL

Path = list[int]  # the d_s bits a state takes at each level, root first


class Ball:
    """One node of a partition tree; a leaf is an active ball B = S(B) x A(B).

    `n`, `reward_sum` and `next_counts` are the ball's own samples, never an ancestor's. What the ancestors
    contribute is fixed when the ball is made: `prior_n` and `prior_reward` are their sums, and `ancestors`
    lists them (root first) so that their next-state counts can be aggregated with the current V.
    """

    __slots__ = ("action_index", "ancestors", "children", "level", "n", "next_counts", "prior_n",
                 "prior_reward", "prior_support", "q", "reward_sum", "state_key")  # fmt: skip

    def __init__(self, level: int, state_key: int, action_index: tuple[int, ...], q: float) -> None:
        self.level, self.state_key, self.action_index, self.q = level, state_key, action_index, q
        self.n = 0
        self.reward_sum = 0.0
        self.next_counts: dict[int, int] = {}
        self.prior_n = 0
        self.prior_reward = 0.0
        self.ancestors: list[Ball] = []
        self.prior_support: tuple[np.ndarray, np.ndarray] | None = None
        self.children: list[list[Ball]] | None = None

    def split(self, d_s: int, d_a: int) -> None:
        """Refine Partition: 2^d children.

        children[state bits] lists the actions from high to low, so that a stack yields the lowest first.
        """
        ancestors = [*self.ancestors, self]
        prior_n = self.prior_n + self.n
        prior_reward = self.prior_reward + self.reward_sum
        self.children = []
        for state_bits in range(1 << d_s):
            row = []
            for halves in product((1, 0), repeat=d_a):
                action = tuple(2 * i + half for i, half in zip(self.action_index, halves, strict=True))
                child = Ball(self.level + 1, self.state_key << d_s | state_bits, action, self.q)
                child.prior_n, child.prior_reward = prior_n, prior_reward
                child.ancestors = ancestors
                row.append(child)
            self.children.append(row)

    def walk(self) -> Iterator[Ball]:
        """Every ball of this subtree, inner ones too."""
        stack = [self]
        while stack:
            ball = stack.pop()
            yield ball
            if ball.children is not None:
                for row in ball.children:
                    stack.extend(row)


def relevant(root: Ball, path: Path) -> Iterator[Ball]:
    """RELEVANT(x): the leaves whose state side holds the state of `path`, lowest action code first."""
    stack = [root]
    while stack:
        ball = stack.pop()
        if ball.children is None:
            yield ball
        else:
            stack.extend(ball.children[path[ball.level]])


def path_of_state(state: Sequence[float], depth: int) -> Path:
    """Half-open cells: a border belongs to the upper one, and 1.0 to the last."""
    return _path([min(int(x * FINEST), FINEST - 1) for x in state], depth)


def closed_paths(state: Sequence[float], depth: int) -> list[Path]:
    """Closed cells: a state on a border also follows the path just below it; the low side comes first."""
    sides = []
    for x in state:
        fixed = min(int(x * FINEST), FINEST - 1)
        sides.append([fixed - 1, fixed] if 0 < fixed == x * FINEST else [fixed])
    return [_path(list(corner), depth) for corner in product(*sides)]


def path_of_key(key: int, d_s: int) -> Path:
    level = level_of(key, d_s)
    mask = (1 << d_s) - 1
    return [key >> d_s * (level - 1 - j) & mask for j in range(level)]


def _path(fixed: list[int], depth: int) -> Path:
    if len(fixed) == 1:
        only = fixed[0]
        return [only >> shift & 1 for shift in range(MAX_LEVEL - 1, MAX_LEVEL - 1 - depth, -1)]
    path = []
    for shift in range(MAX_LEVEL - 1, MAX_LEVEL - 1 - depth, -1):
        bits = 0
        for value in fixed:
            bits = bits << 1 | (value >> shift & 1)
        path.append(bits)
    return path


def key_of_path(path: Path, level: int, d_s: int) -> int:
    key = 1
    for bits in path[:level]:
        key = key << d_s | bits
    return key


def level_of(key: int, d_s: int) -> int:
    return (key.bit_length() - 1) // d_s


def cell_bounds(key: int, d_s: int) -> tuple[list[float], list[float]]:
    corner = [0] * d_s
    path = path_of_key(key, d_s)
    for bits in path:
        corner = [2 * c + (bits >> d_s - 1 - i & 1) for i, c in enumerate(corner)]
    width = 0.5 ** len(path)
    return [c * width for c in corner], [(c + 1) * width for c in corner]


def cell_centre(key: int, d_s: int) -> list[float]:
    low, high = cell_bounds(key, d_s)
    return [(a + b) / 2 for a, b in zip(low, high, strict=True)]


class StateCells:
    """S(P), the state partition induced by a tree, with V~ on its cells and its mean over every coarser one.

    A cell finer than S(P) has the value of the cell that holds it, a coarser one the mean over its part of
    S(P): the same equal division of mass that T-bar applies to an ancestor's counts.
    """

    def __init__(self, d_s: int, value: float) -> None:
        self.d_s = d_s
        self.mean = {1: value}
        self._points: tuple[list[int], np.ndarray] | None = None

    def value(self, key: int) -> float:
        mean, d_s = self.mean, self.d_s
        while key not in mean:
            key >>= d_s
        return mean[key]

    def is_leaf(self, key: int) -> bool:
        return key in self.mean and key << self.d_s not in self.mean

    def set(self, key: int, value: float) -> None:
        """Give a cell of S(P) its V~ and carry the change to every mean above it."""
        mean, d_s = self.mean, self.d_s
        if mean[key] == value:
            return
        mean[key] = value
        width = 1 << d_s
        while key > 1:
            key >>= d_s
            first = key << d_s
            mean[key] = sum(mean[first + j] for j in range(width)) / width

    def split(self, key: int) -> None:
        """The tree now distinguishes the halves of this cell; they inherit its V~."""
        first = key << self.d_s
        for j in range(1 << self.d_s):
            self.mean[first + j] = self.mean[key]
        self._points = None

    def under(self, key: int) -> list[int]:
        """The cells of S(P) inside the given one, which may itself be one of them."""
        found, stack, d_s = [], [key], self.d_s
        while stack:
            key = stack.pop()
            first = key << d_s
            if first in self.mean:
                stack.extend(range(first, first + (1 << d_s)))
            else:
                found.append(key)
        return found

    def leaf_on(self, path: Path) -> int:
        key = 1
        for bits in path:
            child = key << self.d_s | bits
            if child not in self.mean:
                break
            key = child
        return key

    def leaves(self) -> tuple[list[int], np.ndarray]:
        """The cells of S(P) and their centres x~(A'), rebuilt only after a split."""
        if self._points is None:
            keys = sorted(self.under(1))
            self._points = keys, np.array([cell_centre(key, self.d_s) for key in keys])
        return self._points

    def nearest(self, state: Sequence[float]) -> int:
        """The cell with the nearest centre, which need not hold the state when cells differ in size."""
        keys, centres = self.leaves()
        return keys[int(np.abs(centres - np.asarray(state)).max(axis=1).argmin())]

    def envelope(self, points: np.ndarray, lipschitz: float) -> np.ndarray:
        """Equation (def-V): V^(x) = min over A' of V~(A') + L_V * D_S(x, x~(A'))."""
        keys, centres = self.leaves()
        values = np.array([self.mean[key] for key in keys])
        distance = np.abs(points[:, None, :] - centres[None, :, :]).max(axis=2)
        return (values + lipschitz * distance).min(axis=1)
