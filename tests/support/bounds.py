"""For tests of the bounds: the compiled core under an adversary, and partition trees played by definition.

A bound holds for every policy, so the adversary need not persuade the controller to choose an action: it
writes the action that it wants learnt into the step's words, as if `act` had chosen it. A tree is a leaf
(int: own samples) or a split ball (tuple: own samples, sorted children); nothing there uses the costs from
which the bounds are computed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from adamb.budgets.bounds.layout import Layout
from adamb.budgets.bounds.thresholds import EARLY_SAMPLES, THRESHOLD_MAX, SplitRule
from adamb.budgets.bounds.units import TreeUnits
from adamb.budgets.ledger import Ledger, read_ledger
from adamb.firmware_model import _spec
from adamb.firmware_model.host import binding as _core

SHARE = {"off": 0, "on": 1, "auto": 2}


class RealCore:
    def __init__(
        self,
        layout: Layout,
        rule: SplitRule,
        share: str = "off",
        *,
        words: int = 32767 * 4,
        freeze: bool = False,
        bonus: int = 1024,
    ) -> None:
        self.layout, self.rule = layout, rule
        table = [*rule.thresholds, *[int(_spec.THRESHOLD_NEVER)] * 15][:15]
        self.config: Any = _core.ffi.new(
            "adamb_config *",
            {
                "d_s": layout.d_s, "d_a": layout.d_a, "horizon": layout.horizon,
                "mode": layout.mode == "paper", "split_counts": rule.rule == "own",
                "share": SHARE[share], "when_full": freeze, "bonus": bonus, "seed": 7,
                "thresholds": table,
            },
        )  # fmt: skip
        self.words = np.zeros(words, dtype=np.uint16)
        self.block = _core.ffi.cast("uint16_t *", _core.ffi.from_buffer(self.words))
        result = _core.lib.adamb_init(self.config, self.block, words)
        assert result == 0, f"init returned {result}"
        self._point = _core.ffi.new("uint16_t[3]")
        self._action = _core.ffi.new("uint16_t[3]")

    @property
    def required_bytes(self) -> int:
        return 2 * int(_core.lib.adamb_required_words(self.config))

    def header(self, name: str) -> int:
        return int(self.words[getattr(_spec, f"H_{name.upper()}")])

    def act(self, h: int, state: list[int]) -> None:
        self._point[0 : self.layout.d_s] = state
        assert _core.lib.adamb_act(self.block, h, self._point, self._action) == 0

    def observe(self, h: int, reward: int, state: list[int]) -> None:
        self._point[0 : self.layout.d_s] = state
        assert _core.lib.adamb_observe(self.block, h, reward, self._point) == 0

    def force(self, h: int, state_code: int, action_code: int, noise: int) -> None:
        """Make the step look as if `act` had been asked for this state and had chosen this action."""
        step = self.header("steps_at") + h * int(_spec.S_WORDS)
        self.words[step + int(_spec.S_STATE)] = state_code
        self.words[step + int(_spec.S_ACTION)] = action_code
        tree = self.header("steps_at") if self.header("share") else step
        self.words[tree + int(_spec.S_NOISE)] = noise

    def force_held(self, action_code: int, noise: int) -> None:
        """Make the next episode look as if one action had been chosen for all of its steps."""
        step = self.header("steps_at") + self.layout.horizon * int(_spec.S_WORDS)
        self.words[step + int(_spec.S_V_AUX)] = action_code
        self.words[step + int(_spec.S_NOISE)] = noise
        self.words[_spec.H_HELD] = 1

    def end_episode(self) -> None:
        assert _core.lib.adamb_end_episode(self.block) == 0

    def ledger(self) -> Ledger:
        return read_ledger(self.words)


def unpack(code: int, dims: int) -> list[int]:
    """The point in the corner of a cell given by a left-aligned interleaved code of 16 bits."""
    bits = 16 // dims * dims
    values = [0] * dims
    for i in range(bits):
        values[i % dims] = values[i % dims] << 1 | code >> 15 - i & 1
    return [value << 16 - bits // dims for value in values]


def ball_codes(layout: Layout, level: int, index: int) -> tuple[int, int]:
    """State and action code of ball `index` of a level, in an order that opens new routing blocks first."""
    state = action = 0
    for depth in range(level - 1, -1, -1):
        digit = index >> layout.d * depth & (1 << layout.d) - 1
        child = _opening_order(layout)[digit]
        state = state << layout.d_s | child >> layout.d_a
        action = action << layout.d_a | child & (1 << layout.d_a) - 1
    bits = level * layout.d_a
    centre = (1 << layout.d_a) - 1 << 16 - bits - layout.d_a if bits + layout.d_a <= 16 else 0
    return state << 16 - level * layout.d_s & 0xFFFF, action << 16 - bits & 0xFFFF | centre or 1


def _opening_order(layout: Layout) -> list[int]:
    """Children (state bits, then action bits) so that early ones differ in the bits that route first."""
    bits = layout.d
    return sorted(range(1 << bits), key=lambda child: int(f"{child:0{bits}b}"[::-1][: bits - 2][::-1] or "0", 2))


Plan = list[tuple[int, int, int, bool]]


def schedule(tree: TreeUnits, samples: int, *, for_leaves: bool) -> Plan:
    """(level, ball, samples, whether to split it) of an attack: splits in level order, then the best leaves.

    For leaves all samples go into splits; for units the number of splits is the best of all numbers.
    """
    rule = tree.rule
    best: tuple[int, Plan] = (-1, [])
    fillings = _fillings(rule, samples)
    for per_level in fillings[-1:] if for_leaves else fillings:
        left = samples - sum(x * rule.costs[level] for level, x in enumerate(per_level))
        plan = [(level, i, rule.costs[level], True) for level, x in enumerate(per_level) for i in range(x)]
        worth = sum(tree._ball(rule.costs[level], level) + 1 for level, _, _, _ in plan)
        worth += sum(tree._value_rate() * min(x, tree._cells(level)) for level, x in enumerate(per_level))
        balls = [1, *(x << rule.d for x in per_level)]
        pieces = sorted(
            (-gain / n, level, n, gain) for level in range(len(balls)) for n, gain in tree._leaf_pieces(level)
        )
        for _, level, n, gain in pieces:
            split = per_level[level] if level < len(per_level) else 0
            taken = min(balls[level] - split, left // n)
            plan.extend((level, split + i, n, False) for i in range(taken))
            left -= taken * n
            worth += taken * gain
        best = max(best, (worth, plan), key=lambda pair: pair[0])
    return best[1]


def _fillings(rule: SplitRule, samples: int) -> list[list[int]]:
    """Level fillings with 0, 1, 2, … splits that so many samples can pay for."""
    result: list[list[int]] = [[]]
    left, width = samples, 1
    for cost in rule.costs:
        for x in range(1, width + 1):
            if left < cost:
                return result
            left -= cost
            result.append([*result[-1][:-1], x] if x > 1 else [*result[-1], 1])
        width <<= rule.d
    return result


def attack(core: RealCore, plan: Plan) -> int:
    """Play the plan in every step's tree at once, with next states in new cells; the episodes it took.

    How noisy samples are is written, too: little where a ball is to split early, else as much as can be.
    """
    layout, seen, episodes = core.layout, dict[tuple[int, int], int](), 0
    for level, index, samples, early in plan:
        state, action = ball_codes(layout, level, index)
        bits = layout.d_s * level
        for _ in range(samples):
            cell = seen.get((level, index), 0)
            seen[level, index] = cell + 1
            following = unpack((cell % (1 << bits)) << 16 - bits & 0xFFFF, layout.d_s)
            for h in range(layout.horizon):
                core.force(h, state, action, noise=int(_spec.NOISE_LEAST if early else _spec.VALUE_MAX))
                core.observe(h, 20_000, following)
            core.end_episode()
            episodes += 1
    return episodes


def attack_held(core: RealCore, plan: Plan) -> int:
    """Play the plan in the partition of the held step, a sample an episode; the episodes it took."""
    layout, episodes = core.layout, 0
    for level, index, samples, early in plan:
        _, action = ball_codes(layout.held, level, index)
        for _ in range(samples):
            core.force_held(action, noise=int(_spec.NOISE_LEAST if early else _spec.VALUE_MAX))
            core.act(0, [0] * layout.d_s)
            core.observe(0, 20_000, [0] * layout.d_s)
            core.end_episode()
            episodes += 1
    return episodes


Tree = Any


def splits_now(own: int, ancestors: int, level: int, thresholds: tuple[int, ...], rule: str) -> bool:
    if level >= len(thresholds):
        return False
    if rule == "own":
        return own + 1 >= thresholds[level]
    before = thresholds[level - 1] if level else 0
    credit = before if rule in ("early", "held") else min(ancestors, before)
    return credit + own >= thresholds[level] <= THRESHOLD_MAX


def may_split(own: int, level: int, thresholds: tuple[int, ...], rule: str) -> bool:
    """Whether a ball whose mean is well known splits before it must."""
    if not 0 < level < len(thresholds):
        return False
    return rule == "held" or (rule == "early" and own % EARLY_SAMPLES == 0)


def after_one_sample(
    tree: Tree, d: int, thresholds: tuple[int, ...], rule: str, level: int = 0, ancestors: int = 0
) -> set[Tree]:
    """Every tree (up to the order of children) that one more sample can make."""
    if isinstance(tree, int):
        own = tree + 1
        split = (own, (0,) * 2**d)
        if splits_now(own, ancestors, level, thresholds, rule):
            return {split}
        return {own, split} if may_split(own, level, thresholds, rule) else {own}
    own, children = tree
    made = set()
    for i, child in enumerate(children):
        for new in after_one_sample(child, d, thresholds, rule, level + 1, ancestors + own):
            made.add((own, tuple(sorted((*children[:i], new, *children[i + 1 :]), key=repr))))
    return made


def reachable(d: int, thresholds: tuple[int, ...], rule: str, samples: int) -> Iterator[set[Tree]]:
    """All trees after 0, 1, …, samples samples."""
    trees: set[Tree] = {0}
    yield trees
    for _ in range(samples):
        trees = {new for tree in trees for new in after_one_sample(tree, d, thresholds, rule)}
        yield trees


def leaves_of(tree: Tree) -> int:
    return 1 if isinstance(tree, int) else sum(leaves_of(child) for child in tree[1])


def depth_of(tree: Tree) -> int:
    return 0 if isinstance(tree, int) else 1 + max(depth_of(child) for child in tree[1])


def balls_of(tree: Tree, level: int = 0) -> Iterator[tuple[int, int, bool]]:
    """(level, own samples, split) of every ball."""
    if isinstance(tree, int):
        yield level, tree, False
        return
    yield level, tree[0], True
    for child in tree[1]:
        yield from balls_of(child, level + 1)
