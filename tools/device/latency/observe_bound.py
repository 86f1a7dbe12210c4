"""A bound on observe in instructions, for the tracking mode.

SPEC 10.4: observe is one descent with its update, and at most SCANS scans of the R balls relevant
to a state. A scan costs at most B + C·R. R after k samples follows from the exact count of splits: the balls
relevant to one state form a tree that branches 2^d_a ways, in which a ball of each level costs what it costs
in the partition.

The constants are measured on an adversary's partition: as deep as levels go, every ball with four different
next cells, every value looked up at the deepest level. B is the scan of a single deep chain, C what each
further deep ball adds to it, and P the most expensive observe seen while the chain was made.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from adamb.budgets.bounds.exact import ForestBound, TreeBound
from adamb.budgets.thresholds import from_thresholds
from adamb.firmware_model import _spec
from adamb.tools.device.emulator import core
from adamb.tools.device.emulator.compile import MemoryMap, build_image
from adamb.tools.device.emulator.elf import Image
from adamb.tools.device.emulator.qemu import C_FOLDER
from adamb.tools.device.settings import DeviceSettings

SCANS = 5  # of the next cell, of the visited one, of a job, of any cell, and of a V node to reclaim
WORDS = 32 * 1024
SEED = 1  # of the adversary, whatever the controller's is: a job has one bound in every command
MEMORY = MemoryMap(ram_bytes=128 * 1024)
#: Levels of the adversary's partition in which every action branch is taken; enough balls for a slope.
FULL_LEVELS = {1: 4, 2: 2, 3: 2}


@cache
def _image(target: str, optimise: str) -> Image:
    return Image(
        build_image(
            [*core.sources(), C_FOLDER / "scan.c"],
            target=target,
            roots=["adamb_init", "adamb_act", "adamb_observe", "adamb_end_episode", "adamb_measure_scan"],
            includes=[core.c_folder()],
            optimise=optimise,
            defines=core.defines(target),
        )
    )


class _Adversary:
    """Chooses states and actions itself, by writing into the two words where act left them."""

    def __init__(self, settings: DeviceSettings, target: str, optimise: str) -> None:
        self.d_s, self.d_a, self.horizon = settings.d_s, settings.d_a, settings.horizon
        self._core = core.EmulatedCore(
            _eager(settings), WORDS, target=target, memory=MEMORY, image=_image(target, optimise)
        )
        block = self.words()
        self.finest = int(block[_spec.H_SCALE]) >> 8
        self._steps_at = int(block[_spec.H_STEPS_AT])
        self._rng = np.random.default_rng(SEED)
        self.observe_cost = 0
        # Four next states whose cells differ at every level from the second on.
        self.nexts = [[corner] * self.d_s for corner in (0x0000, 0x5555, 0xAAAA, 0xFFFF)]

    def words(self) -> np.ndarray:
        return np.frombuffer(self._core.block(), np.uint16)

    def sample(self, h: int, state: list[int], action: int, following: list[int]) -> None:
        """One observe of a chosen action code."""
        self._core.act(h, state)
        self._core.poke(self._steps_at + h * _spec.S_WORDS + _spec.S_ACTION, action)
        self._core.observe(h, int(self._rng.integers(65536)), following)
        self.observe_cost = max(self.observe_cost, self._core.last.instructions)

    def refine(self, state: list[int], levels: int) -> None:
        """Split along one chain of action cells, and along all of them in the last `levels` levels."""
        bits = self.d_a * self.finest
        free = self.d_a * levels
        for cell in range(1 << free):
            code = cell << (16 - bits) | 1 << (15 - bits)
            for visit in range(self.finest + 5):
                self.sample(0, state, code, self.nexts[visit % 4])

    def scan(self, state: list[int]) -> int:
        """Instructions of one scan at step 0."""
        self._core.act(0, state)
        code = int(self.words()[self._steps_at + _spec.S_STATE])
        return self._core.machine.call("adamb_measure_scan", self._core.block_address, 0, code).instructions


def _eager(settings: DeviceSettings) -> bytes:
    """The same dimensions with every ball splitting at its first sample, down to the same finest level."""
    fields = settings.fields()
    usual = core.HostCore(settings.config(), settings.required_words())
    finest = int(np.frombuffer(usual.block(), np.uint16)[_spec.H_SCALE]) >> 8
    never = int(_spec.THRESHOLD_NEVER)
    table = [1] * finest + [never] * (len(fields["thresholds"]) - finest)
    return settings.config(seed=SEED, own=1, share=1, detect=0, random_action=0, thresholds=table)


@dataclass(frozen=True)
class ObserveBound:
    """observe ≤ P + SCANS·(B + C·R) with P `fixed`, B `base`, C `per_ball`."""

    settings: DeviceSettings
    fixed: int
    base: int
    per_ball: int

    @classmethod
    def measure(cls, settings: DeviceSettings, target: str, optimise: str = "size") -> ObserveBound:
        """Calibrate the three constants on the target."""
        scans, observed = [], 0
        for wanted in (0, FULL_LEVELS[settings.d_a]):
            adversary = _Adversary(settings, target, optimise)
            levels = min(wanted, adversary.finest)
            first, *others = adversary.nexts
            for state in others:
                adversary.refine(state, 0)
            adversary.refine(first, levels)
            for h in range(settings.horizon):
                for state in adversary.nexts:
                    adversary.sample(h, state, 0x8000, first)
            scans.append(adversary.scan(first))
            observed = observed or adversary.observe_cost
        added = max(1, (1 << settings.d_a * levels) - 1)
        chain, full = scans
        return cls(settings, fixed=observed, base=chain, per_ball=-(-max(0, full - chain) // added))

    def relevant_by_episode(self, episodes: int, block_bytes: int) -> np.ndarray:
        """The most balls relevant to one state in episode 1, 2, …"""
        rule = self.settings.rule
        tree = TreeBound(from_thresholds(self.settings.d_a, rule.thresholds, rule.rule))
        forest = ForestBound(tree, self.settings.horizon, self.settings.sharing)
        units = block_bytes // (2 * _spec.UNIT_WORDS)
        most = 1 + ((1 << self.settings.d_a) - 1) * units
        found = [max(tree.leaves(samples) for _, samples in forest.shapes(k)) for k in range(1, episodes + 1)]
        return np.minimum(found, most)

    def instructions(self, relevant: np.ndarray) -> np.ndarray:
        return self.fixed + SCANS * (self.base + self.per_ball * relevant)
