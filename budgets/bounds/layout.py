"""Units that things take in a block: the dimensions and the mode decide."""

from __future__ import annotations

from dataclasses import dataclass, replace

from adamb.budgets.bounds.thresholds import EARLY, SplitRule, split_rule
from adamb.firmware_model import _spec as spec
from adamb.firmware_model.host.errors import InputError
from adamb.firmware_model.host.options import Number, level_limit

#: Entries of a unit: all its words in mode tracking; mode paper needs one of them as a link.
TRACKING_ENTRIES = int(spec.UNIT_WORDS)
CHAIN_ENTRIES = int(spec.UNIT_WORDS) - 1
MODES = ("tracking", "paper")


@dataclass(frozen=True)
class Layout:
    """The dimensions that decide how many units things take.

    >>> Layout(d_s=1, d_a=1, horizon=5).level_max
    14
    """

    d_s: int
    d_a: int
    horizon: int
    mode: str = "tracking"
    is_held: bool = False

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise InputError("mode", self.mode, f"must be one of {', '.join(MODES)}")
        for field, value in (("d_s", self.d_s + self.is_held), ("d_a", self.d_a)):
            if not 1 <= value <= spec.DIM_MAX:
                raise InputError(field, value, f"must be from 1 to {spec.DIM_MAX}")
        if not 1 <= self.horizon <= spec.HORIZON_MAX:
            raise InputError("horizon", self.horizon, f"must be from 1 to {spec.HORIZON_MAX}")

    @property
    def d(self) -> int:
        return self.d_s + self.d_a

    @property
    def held(self) -> Layout:
        """That of the held step, which has no state (SPEC 1.17)."""
        return replace(self, d_s=0, is_held=True)

    @property
    def level_max(self) -> int:
        """Level at which the bits of the codes or of a count entry end."""
        return level_limit(self.d_s, self.d_a)

    def header_units(self, finest: int) -> int:
        """Header, thresholds of levels 0..finest and the words of every step, the held one too, in whole units."""
        words = int(spec.H_WORDS) + finest + 1 + (self.horizon + 1) * int(spec.S_WORDS)
        return -(-words // int(spec.UNIT_WORDS))

    @property
    def child_groups(self) -> list[tuple[int, int]]:
        """(children, blocks that the first visit of each adds) of one split ball, most blocks first.

        A block routes by two bits. The first block comes with the split; the others come with the first
        visited child behind them, so visits that open new prefixes first add the most.
        """
        groups, prefixes, seen = [], [1 << bits for bits in range(2, self.d, 2)], 0
        for left, count in zip(range(len(prefixes), 0, -1), prefixes, strict=True):
            groups.append((count - seen, left))
            seen = count
        return [*groups, ((1 << self.d) - seen, 0)]

    def entries(self, samples: int, level: int) -> int:
        """The most cells that so many own samples of a ball give an entry; one cell alone has none."""
        cells = 1 << (self.d_s * level)
        most = min(samples, cells) if cells > 1 else 0
        return min(most, TRACKING_ENTRIES) if self.mode == "tracking" else most

    def count_units(self, samples: int, level: int) -> int:
        """The units that these entries take beside the record."""
        entries = self.entries(samples, level)
        if entries <= 1:
            return 0
        return 1 if self.mode == "tracking" else -(-entries // CHAIN_ENTRIES)

    def rule(self, gamma: Number, phi: Number, split: str) -> SplitRule:
        rule = EARLY if split == "inherited" and self.mode == "tracking" else split
        return split_rule(self.d, gamma, phi, rule, level_max=self.level_max)
