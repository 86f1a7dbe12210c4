"""Configuration, header and steps of the exact reference, and how its block is written down.

SPEC 2, SPEC 3, and init and restart (SPEC 6.1 to 6.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any

from adamb.firmware_model import _spec as spec
from adamb.firmware_model.exact import numbers as num
from adamb.firmware_model.exact.memory import Pool, Record, TableUnit, Tree, VCell

COUNTERS = ("refused", "no_room", "reclaims", "saturations", "restarts")
LEARNED = (
    "same_n",
    "same_reward",
    "same_next",
    "other_n",
    "other_reward",
    "other_next",
    "other_total",
    "return_sum",
    "return_dev",
    "drop",
    "seen",
    "since",
    "held",
    "held_mean",
    "held_n",
    "steps_mean",
    "steps_n",
)
HEADER_WORDS = [name.lower().removeprefix("h_") for name in vars(spec) if name.startswith("H_")][:-1]
STEP_WORDS = [name.lower().removeprefix("s_") for name in vars(spec) if name.startswith("S_")][:-1]


@dataclass
class Config:
    """The fields of `adamb_config`, by the same names."""

    d_s: int = 1
    d_a: int = 1
    horizon: int = 5
    mode: int = 0
    split_counts: int = 0
    share: int = 0
    when_full: int = 0
    random_action: int = 0
    detect: int = 0
    auto_bonus: int = 0
    bonus: int = 1024
    seed: int = 1
    thresholds: list[int] = field(default_factory=lambda: thresholds(spec.DEFAULT_GAMMA, spec.DEFAULT_PHI, 1))

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def thresholds(gamma: int, phi_num: int, phi_den: int) -> list[int]:
    """ceil(phi · 2^(gamma · level)), more than THRESHOLD_MAX becoming "never", for levels 0 … LEVEL_MAX."""
    out = []
    for level in range(spec.LEVEL_MAX + 1):
        value = -(-(phi_num << (gamma * level)) // phi_den)
        out.append(value if value <= spec.THRESHOLD_MAX else spec.THRESHOLD_NEVER)
    return out


def acceptable(config: Config) -> bool:
    flags = (
        config.mode, config.split_counts, config.when_full, config.random_action, config.detect, config.auto_bonus,
    )  # fmt: skip
    steps = config.thresholds
    return (
        1 <= config.d_s <= spec.DIM_MAX
        and 1 <= config.d_a <= spec.DIM_MAX
        and 1 <= config.horizon <= spec.HORIZON_MAX
        and 0 <= config.bonus <= spec.BONUS_MAX
        and all(flag in (0, 1) for flag in flags)
        and config.share in (0, 1, 2)
        and steps[0] >= 1
        and all(a <= b for a, b in pairwise(steps))
    )


def steps_at(config: Config) -> int:
    finest = num.finest_level(config.thresholds, config.d_s, config.d_a, not (config.mode or config.split_counts))
    return len(HEADER_WORDS) + finest + 1


def pool_at(config: Config) -> int:
    return -(-(steps_at(config) + len(STEP_WORDS) * (config.horizon + 1)) // spec.UNIT_WORDS)


class Space:
    """How a step divides its levels: state bits, then action bits, in chunks (SPEC 2.11 to 2.15)."""

    def __init__(self, d_s: int, d_a: int) -> None:
        self.d_s, self.d_a = d_s, d_a
        self.chunks = num.chunks(d_s, d_a)

    def slots_of(self, chunk: int) -> int:
        return 1 << sum(self.chunks[chunk])

    def slot_range(self, chunk: int, level: int, state: int) -> tuple[int, int]:
        """First slot and number of slots that agree with the state, in a block below a ball of `level`."""
        before = level * self.d_s + sum(s for s, _ in self.chunks[:chunk])
        s, a = self.chunks[chunk]
        return num.field(state, before, s) << a, 1 << a

    def slot_index(self, chunk: int, level: int, state: int, action: int) -> int:
        before = level * self.d_a + sum(a for _, a in self.chunks[:chunk])
        first, _ = self.slot_range(chunk, level, state)
        return first | num.field(action, before, self.chunks[chunk][1])


@dataclass(eq=False)
class Step:
    v: VCell
    tree: Tree
    noise: int
    effect: int
    state: int = 0
    action: int = 0
    job: tuple[int, int] | None = None
    job_at: int = 0
    reward_mean: int = 0
    reward_top: int = 65535
    spread: int = 0
    last: int = 0

    def words(self) -> list[int]:
        cell = 0
        if self.job:
            prefix, depth = self.job
            cell = (prefix << 1 | 1) << (15 - depth)
        root = self.tree.slots[0]
        named = {
            "root": spec.TAG | (root + spec.SURPLUS_ZERO) if isinstance(root, int) else root.unit,
            "v_slot": self.v.slot(),
            "v_aux": self.v.aux(),
            "state": self.state,
            "action": self.action,
            "job_cell": cell,
            "job_at": self.job_at,
            "reward_mean": self.reward_mean,
            "reward_top": self.reward_top,
            "noise": self.noise,
            "spread": self.spread,
            "effect": self.effect,
            "last": self.last,
        }
        return [named[name] for name in STEP_WORDS]


class Model:
    """Everything the controller knows; step `horizon` is the held one (SPEC 1.17)."""

    def __init__(self, config: Config, words: int) -> None:
        self.config = config
        self.d_s, self.d_a, self.horizon = config.d_s, config.d_a, config.horizon
        self.paper = bool(config.mode)
        self.f = num.fraction_bits(self.horizon)
        self.spaces = [Space(self.d_s, self.d_a)] * self.horizon + [Space(0, self.d_a)]
        early = not (config.mode or config.split_counts)
        self.finest = num.finest_level(config.thresholds, self.d_s, self.d_a, early)
        self.thresholds = list(config.thresholds[: self.finest + 1])
        self.steps_at = steps_at(config)
        self.pool_at = pool_at(config)
        self.length = words
        self.units = min(words // spec.UNIT_WORDS, spec.UNITS_MAX)
        self.share = config.share
        self.rng = config.seed or spec.SEED_ZERO
        self.bonus = config.bonus >> (12 - self.f)
        self.reciprocal = num.RECIPROCAL
        self.inverse_root = num.INVERSE_ROOT
        self.pool = Pool(self.pool_at, self.units)
        self.episodes = 0
        self.counters = dict.fromkeys(COUNTERS, 0)
        self.steps: list[Step] = []
        self.table: list[TableUnit] = []
        self.learned: dict[str, int] = {}
        self.splits = 0
        self.restart()

    def restart(self) -> None:
        self.pool.forget()
        self.splits = 0
        self.learned = dict.fromkeys(LEARNED, 0) | {"held": int(self.may_hold())}
        self.table = []
        if self.share == spec.SHARE_TESTING:
            self.table = [TableUnit() for _ in range(spec.SHARE_TABLE_UNITS)]
            for unit in self.table:
                self.pool.take(unit)
        whole = num.centre(0, 0, self.d_a)
        self.steps = [
            Step(
                v=VCell(self.v_max(h), whole),
                tree=Tree([-spec.SURPLUS_ZERO]),
                noise=spec.HELD_NOISE_START if self.is_held(h) else spec.NOISE_START,
                effect=spec.EFFECT_TOP,
            )
            for h in range(self.horizon + 1)
        ]

    def v_max(self, h: int) -> int:
        return (1 if self.is_held(h) else self.horizon - h) << self.f

    def is_held(self, h: int) -> bool:
        return h == self.horizon

    def is_last(self, h: int) -> bool:
        """Whether nothing follows the step."""
        return h + 1 >= self.horizon

    def is_large(self, h: int) -> bool:
        """Whether rules for more than one chunk per level hold for the step."""
        return not self.is_held(h) and len(self.spaces[h].chunks) > 1

    def most_balls(self, h: int) -> int:
        """Balls that a scan of the step visits at most."""
        if self.is_last(h):
            return spec.SCAN_BALLS_LAST
        return spec.SCAN_BALLS_WIDE if self.is_large(h) else spec.SCAN_BALLS

    def shares(self, h: int) -> bool:
        return self.share != spec.SHARE_OFF and not self.is_held(h)

    def sharing(self, h: int) -> Sequence[int]:
        """The steps that use the partition of step h."""
        return range(self.horizon) if self.shares(h) else (h,)

    def may_hold(self) -> bool:
        return self.share != spec.SHARE_OFF and not self.paper and self.horizon <= spec.HELD_HORIZON

    def is_taught(self, h: int) -> bool:
        """Whether a sample of the step is one of an episode with actions of somebody else, in tracking."""
        usual = self.paper or self.config.random_action or self.is_held(h)
        return self.learned["held"] == spec.HELD_TAUGHT and not usual

    def tree(self, h: int) -> Tree:
        return self.home(h).tree

    def home(self, h: int) -> Step:
        """The step that holds the partition and the tree words of step h."""
        return self.steps[self.sharing(h)[0]]

    def random(self) -> int:
        self.rng = num.xorshift(self.rng)
        return self.rng

    def goes_up(self, counter: str) -> None:
        self.counters[counter] = min(self.counters[counter] + 1, 65535)

    def new_record(self, surplus: int) -> Record:
        return Record(surplus=surplus, n=0, reward=0)

    def seal(self) -> int:
        """Polynomial in 11 of the words that memory safety rests on, folded to 16 bits (SPEC 3.5)."""
        dims, scale = self.d_s | self.d_a << 4 | self.horizon << 8, self.f | self.finest << 8
        words = (self.units, dims, scale, self.pool_at)
        mix = sum(word * 11 ** (4 - i) for i, word in enumerate(words))
        return (mix ^ mix >> 13) % 65536

    def header(self) -> dict[str, int]:
        config = self.config
        flags = (
            (config.mode, spec.FLAG_PAPER),
            (config.split_counts, spec.FLAG_OWN),
            (config.when_full, spec.FLAG_FREEZE),
            (config.random_action, spec.FLAG_RANDOM),
            (config.detect, spec.FLAG_DETECT),
            (config.auto_bonus, spec.FLAG_AUTO_BONUS),
        )
        return {
            "magic": spec.MAGIC,
            "hash": spec.SPEC_HASH ^ self.seal(),
            "units": self.units,
            "dims": self.d_s | self.d_a << 4 | self.horizon << 8,
            "bits": sum((s | a << 2) << (4 * c) for c, (s, a) in enumerate(self.spaces[0].chunks)),
            "flags": sum(bit for on, bit in flags if on),
            "scale": self.f | self.finest << 8,
            "steps_at": self.steps_at,
            "pool_at": self.pool_at,
            "bonus": self.bonus,
            "rng": self.rng,
            "free_head": self.pool.free[-1] if self.pool.free else 0,
            "free_n": len(self.pool.free),
            "fresh": self.pool.fresh,
            "used_peak": self.pool.peak,
            "share": self.share,
            "table": self.table[0].unit if self.table else 0,
            "episodes": self.episodes & 0xFFFF,
            "episodes_high": self.episodes >> 16,
            "splits": self.splits,
            **self.learned,
            **self.counters,
        }

    def words(self) -> list[int]:
        """The whole block."""
        header = self.header()
        out = [header[name] for name in HEADER_WORDS] + list(self.thresholds)
        for step in self.steps:
            out += step.words()
        out += [0] * (-len(out) % spec.UNIT_WORDS)
        out += self.pool.words()
        return out + [0] * (self.length - len(out))
