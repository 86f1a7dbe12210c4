"""Upper bounds of act, observe and end_episode in instructions: no call costs more, whatever is learnt.

Those of observe and end_episode are for the tracking mode. SPEC 10.4 and 10.5: a call is a part of its own and at
most so many scans, and a scan visits at most a fixed number of balls (SPEC 5.9). Both are measured on an
adversary's partition: as deep as levels go, every ball with four different next cells, every value looked up at
the deepest level, and more of such balls over a state than a scan visits. The part of its own is the most that a
call took without its scans.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from adamb.firmware_model import _spec
from adamb.firmware_model.host.errors import InputError
from adamb.tools.device.emulator import core
from adamb.tools.device.emulator.compile import Image, MemoryMap, build_image
from adamb.tools.device.latency.meters import memory_for
from adamb.tools.device.settings import DeviceSettings

C_FOLDER = Path(core.__file__).resolve().parent / "c"


class DeepestAct:
    """The upper bound of act: what it costs to descend a given number of levels of the V tree.

    The descent is the only loop of act whose length depends on what was learnt, so a block whose V tree is
    one path of that length is the worst case, and running it needs no formula. Held episodes have no descent.
    """

    def __init__(self, config: bytes, target: str, optimise: str = "size") -> None:
        words = 4096
        self._core = core.EmulatedCore(
            config, words, target=target, memory=memory_for(2 * words, 1024), optimise=optimise
        )
        self._fresh = np.frombuffer(self._core.block(), np.uint16).copy()
        self._fresh[_spec.H_HELD] = 0
        self._d_s = config[0]
        self.deepest = self._d_s * (int(self._fresh[_spec.H_SCALE]) >> 8)

    def instructions(self, depth: int) -> int:
        """Instructions of an act that goes `depth` binary levels down."""
        if not 0 <= depth <= self.deepest:
            raise InputError("depth", depth, f"from 0 to {self.deepest}")
        block = self._fresh.copy()
        slot = int(block[_spec.H_STEPS_AT]) + _spec.S_V_SLOT
        unit = int(block[_spec.H_POOL_AT])
        action = int(block[slot + 2])
        for _ in range(depth):
            block[slot] = unit
            slot = _spec.UNIT_WORDS * unit
            # Both halves end here unless the next round links the first one further down.
            block[slot : slot + 4] = _spec.TAG, _spec.TAG, action, action
            unit += 1
        self._core.load(block.tobytes())
        self._core.act(0, [0] * self._d_s)
        return self._core.last.instructions


WORDS = 32 * 1024
SEED = 1  # of the adversary, whatever the controller's is: a job has one bound in every command
MEMORY = MemoryMap(ram_bytes=128 * 1024)
SCAN = "adamb_tree_scan"
SCANS, SCANS_SIMPLE, SCANS_OF_THE_END = 3, 2, 2
"""Of an observe, of one with one state and one action, and of an end_episode."""


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
        self._core.machine.set_apart(SCAN)
        self._core.poke(_spec.H_HELD, 0)
        block = self.words()
        self.finest = int(block[_spec.H_SCALE]) >> 8
        self._steps_at = int(block[_spec.H_STEPS_AT])
        self._rng = np.random.default_rng(SEED)
        self.observe = self.end_episode = 0
        """The most that calls took without their scans."""
        # Four next states whose cells differ at every level from the second on.
        self.nexts = [[corner] * self.d_s for corner in (0x0000, 0x5555, 0xAAAA, 0xFFFF)]

    def words(self) -> np.ndarray:
        return np.frombuffer(self._core.block(), np.uint16)

    def _without_scans(self) -> int:
        return self._core.last.instructions - self._core.last.apart

    def sample(self, h: int, state: list[int], action: int, following: list[int]) -> None:
        """One observe of a chosen action code."""
        self._core.act(h, state)
        self._core.poke(self._steps_at + h * _spec.S_WORDS + _spec.S_ACTION, action)
        self._core.observe(h, int(self._rng.integers(65536)), following)
        self.observe = max(self.observe, self._without_scans())

    def refine(self, state: list[int], levels: int) -> None:
        """Split along one chain of action cells, and along all of them in the last `levels` levels."""
        bits = self.d_a * self.finest
        free = self.d_a * levels
        for cell in range(1 << free):
            code = cell << (16 - bits) | 1 << (15 - bits)
            for visit in range(self.finest + 5):
                self.sample(0, state, code, self.nexts[visit % 4])

    def ask_whether_known(self) -> None:
        """Samples at every step where a ball is split only if it is known well, which takes a root to find out."""
        self._core.poke(_spec.H_FLAGS, int(self.words()[_spec.H_FLAGS]) & ~_spec.FLAG_OWN)
        for level in range(self.finest + 1):
            self._core.poke(_spec.H_WORDS + level, _spec.THRESHOLD_MAX)
        for h in range(self.horizon):
            for k in range(4 * (_spec.EARLY_MASK + 1)):
                self.sample(h, self.nexts[k % 2], 0xC000, self.nexts[k % 4])

    def hold(self) -> None:
        """Held episodes until their actions are at the finest level; the last one ends in a restart."""
        for k in range(self.d_a * self.finest + 5):
            self._core.poke(_spec.H_HELD, 1)
            for h in range(self.horizon):
                self.sample(h, self.nexts[0], 0x8000, self.nexts[1])
            if k == self.d_a * self.finest + 4:  # the sharing test ends, and an alarm is due
                self._core.poke(_spec.H_FLAGS, int(self.words()[_spec.H_FLAGS]) | _spec.FLAG_DETECT)
                self._core.poke(_spec.H_OTHER_TOTAL, _spec.SHARE_PAIRS_MAX)
                self._core.poke(_spec.H_SINCE, 8 * _spec.DETECT_WARMUP)
                self._core.poke(_spec.H_DROP, _spec.THRESHOLD_NEVER)
            self._core.end_episode()
            self.end_episode = max(self.end_episode, self._without_scans())

    def scan(self, h: int, state: list[int]) -> int:
        """Instructions of one scan."""
        self._core.act(h, state)
        code = int(self.words()[self._steps_at + h * _spec.S_WORDS + _spec.S_STATE])
        return self._core.machine.call("adamb_measure_scan", self._core.block_address, h, code).instructions


def _eager(settings: DeviceSettings) -> bytes:
    """The same dimensions with every ball splitting at its first sample, down to the same finest level."""
    fields = settings.fields()
    usual = core.HostCore(settings.config(), settings.required_words())
    finest = int(np.frombuffer(usual.block(), np.uint16)[_spec.H_SCALE]) >> 8
    never = int(_spec.THRESHOLD_NEVER)
    table = [1] * finest + [never] * (len(fields["thresholds"]) - finest)
    return settings.config(
        seed=SEED, split_counts=1, share=_spec.SHARE_TESTING, detect=0, random_action=0, thresholds=table
    )


@dataclass(frozen=True)
class LearningBound:
    """Instructions that no observe and no end_episode exceeds, and the balls that a scan of theirs visits at most."""

    observe: int
    end_episode: int
    balls: int

    @classmethod
    def measure(cls, settings: DeviceSettings, target: str, optimise: str = "size") -> LearningBound:
        """Run the adversary on the target."""
        wide, last = settings.d_s + settings.d_a > 2, settings.horizon - 1
        most, cheap = int(_spec.SCAN_BALLS_WIDE if wide else _spec.SCAN_BALLS), int(_spec.SCAN_BALLS_LAST)
        adversary = _Adversary(settings, target, optimise)
        levels = min(-(-(most - 1).bit_length() // settings.d_a), adversary.finest)
        first, *others = adversary.nexts
        for state in others:
            adversary.refine(state, 0)
        adversary.refine(first, 0)
        chain = adversary.scan(last, first)
        adversary.refine(first, levels)
        scan, full = adversary.scan(0, first), adversary.scan(last, first)
        # Where nothing follows all balls cost the same, and more of them are visited than there are here.
        balls = 1 << settings.d_a * levels
        scan = max(scan, full + -(-max(0, full - chain) // max(1, balls - 1)) * max(0, cheap - balls))
        for h in range(settings.horizon):
            for state in adversary.nexts:
                adversary.sample(h, state, 0x8000, first)
        adversary.ask_whether_known()
        adversary.hold()
        scans = SCANS if wide else SCANS_SIMPLE
        return cls(
            adversary.observe + scans * scan,
            adversary.end_episode + SCANS_OF_THE_END * scan,
            cheap if last == 0 else most,
        )
