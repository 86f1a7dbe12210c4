"""The controller as hardware: a decision engine that reads the very same block. For chips, not for boards.

The modules need the package `amaranth` (extra `chip`); nothing outside this folder imports it.
"""

from __future__ import annotations

from dataclasses import dataclass

from adamb.firmware_model import _spec as spec

WORDS_MIN, WORDS_MAX = 512, 131072


@dataclass(frozen=True)
class EngineShape:
    """The 16-bit words of the SRAM, and what is fixed instead of taken from the block.

    With fixed numbers the engine is smaller, and any other block is a BAD_BLOCK to it.
    """

    words: int = 2048
    d_s: int | None = None
    d_a: int | None = None
    horizon: int | None = None

    def __post_init__(self) -> None:
        if self.words & (self.words - 1) or not WORDS_MIN <= self.words <= WORDS_MAX:
            raise ValueError(f"words = {self.words}: a power of two from {WORDS_MIN} to {WORDS_MAX}")
        limits = {"d_s": spec.DIM_MAX, "d_a": spec.DIM_MAX, "horizon": spec.HORIZON_MAX}
        for name, most in limits.items():
            value = getattr(self, name)
            if value is not None and not 1 <= value <= most:
                raise ValueError(f"{name} = {value}: from 1 to {most}")

    @property
    def state_n(self) -> int:
        return self.d_s or spec.DIM_MAX

    @property
    def action_n(self) -> int:
        return self.d_a or spec.DIM_MAX
