"""The compiled core for tests of the bounds: an adversary may write the state and action of a step itself.

A bound holds for every policy, so the adversary need not persuade the controller to choose an action: it
writes the action that it wants learnt into the step's words, as if `act` had chosen it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adamb.budgets.bounds.layout import Layout
from adamb.budgets.bounds.units import TreeUnits
from adamb.budgets.ledger import Ledger, read_ledger
from adamb.budgets.thresholds import SplitRule
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
                "paper": layout.mode == "paper",
                "own": rule.rule == "own", "share": SHARE[share], "freeze": freeze, "bonus": bonus, "seed": 7,
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
    return sorted(
        range(1 << bits), key=lambda child: int(f"{child:0{bits}b}"[::-1][: bits - 2][::-1] or "0", 2)
    )


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
