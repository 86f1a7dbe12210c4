"""Configuration, header and steps of the exact reference, and how its block is written down.

SPEC 2, SPEC 3, and init and restart (SPEC 6.1 to 6.4).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any

from adamb.firmware_model import _spec as spec
from support.exact import numbers as num
from support.exact.memory import Pool, Record, TableUnit, Tree, VCell

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
    "return_mean",
    "return_dev",
    "drop",
    "seen",
    "since",
)
HEADER_WORDS = [name.lower().removeprefix("h_") for name in vars(spec) if name.startswith("H_")][:-1]
STEP_WORDS = [name.lower().removeprefix("s_") for name in vars(spec) if name.startswith("S_")][:-1]


@dataclass
class Config:
    """The fields of `adamb_config`, by the same names."""

    d_s: int = 1
    d_a: int = 1
    horizon: int = 5
    paper: int = 0
    own: int = 0
    share: int = 0
    freeze: int = 0
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
    flags = (config.paper, config.own, config.freeze, config.random_action, config.detect, config.auto_bonus)
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
    finest = num.finest_level(config.thresholds, config.d_s, config.d_a, not (config.paper or config.own))
    return len(HEADER_WORDS) + finest + 1


def pool_at(config: Config) -> int:
    return -(-(steps_at(config) + len(STEP_WORDS) * config.horizon) // spec.UNIT_WORDS)


@dataclass(eq=False)
class Step:
    v: VCell
    tree: Tree
    state: int = 0
    action: int = 0
    job: tuple[int, int] | None = None
    job_at: int = 0
    reward_mean: int = 0
    reward_top: int = 65535
    noise: int = spec.NOISE_START
    spread: int = 0
    effect: int = spec.EFFECT_TOP
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
    """Everything the controller knows. `number` makes the zeros that learning starts from."""

    def __init__(self, config: Config, words: int, number: Callable[[int], int] = int) -> None:
        self.config = config
        self.number = number
        self.d_s, self.d_a, self.horizon = config.d_s, config.d_a, config.horizon
        self.paper = bool(config.paper)
        self.f = num.fraction_bits(self.horizon)
        self.chunks = num.chunks(self.d_s, self.d_a)
        early = not (config.paper or config.own)
        self.finest = num.finest_level(config.thresholds, self.d_s, self.d_a, early)
        self.thresholds = [number(t) for t in config.thresholds[: self.finest + 1]]
        self.steps_at = steps_at(config)
        self.pool_at = pool_at(config)
        self.length = words
        self.units = min(words // spec.UNIT_WORDS, spec.UNITS_MAX)
        self.share = config.share
        self.rng = number(config.seed or spec.SEED_ZERO)
        self.bonus = number(config.bonus >> (12 - self.f))
        self.reciprocal = [number(x) for x in num.RECIPROCAL]
        self.inverse_root = [number(x) for x in num.INVERSE_ROOT]
        self.pool = Pool(self.pool_at, self.units)
        self.episodes = number(0)
        self.counters = dict.fromkeys(COUNTERS, 0)
        self.steps: list[Step] = []
        self.table: list[TableUnit] = []
        self.learned: dict[str, int] = {}
        self.splits = 0
        self.restart()

    def restart(self) -> None:
        self.pool.forget()
        self.splits = 0
        self.learned = dict.fromkeys(LEARNED, self.number(0))
        self.table = []
        if self.share == spec.SHARE_TESTING:
            self.table = [TableUnit() for _ in range(spec.SHARE_TABLE_UNITS)]
            for unit in self.table:
                self.pool.take(unit)
        whole = num.centre(0, 0, self.d_a)
        self.steps = [
            Step(
                v=VCell(self.most(h), self.number(whole)),
                tree=Tree([self.number(-spec.SURPLUS_ZERO)]),
                reward_mean=self.number(0),
                reward_top=self.number(65535),
                noise=self.number(spec.NOISE_START),
                spread=self.number(0),
                effect=self.number(spec.EFFECT_TOP),
            )
            for h in range(self.horizon)
        ]

    def most(self, h: int) -> int:
        return self.number(min((self.horizon - h) << self.f, spec.VALUE_MAX))

    def shares(self) -> bool:
        return self.share != spec.SHARE_OFF

    def tree(self, h: int) -> Tree:
        return self.home(h).tree

    def home(self, h: int) -> Step:
        """The step that holds the partition and the tree words of step h."""
        return self.steps[0 if self.shares() else h]

    def random(self) -> int:
        self.rng = num.xorshift(self.rng)
        return self.rng

    def goes_up(self, counter: str) -> None:
        self.counters[counter] = min(self.counters[counter] + 1, 65535)

    def new_record(self, surplus: int) -> Record:
        return Record(surplus=surplus, n=self.number(0), reward=self.number(0))

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

    def seal(self) -> int:
        """Polynomial in 11 of the words that memory safety rests on, folded to 16 bits (SPEC 3.5)."""
        dims, scale = self.d_s | self.d_a << 4 | self.horizon << 8, self.f | self.finest << 8
        words = (self.units, dims, scale, self.pool_at)
        mix = sum(word * 11 ** (4 - i) for i, word in enumerate(words))
        return (mix ^ mix >> 13) % 65536

    def header(self) -> dict[str, int]:
        config = self.config
        flags = (
            (config.paper, spec.FLAG_PAPER),
            (config.own, spec.FLAG_OWN),
            (config.freeze, spec.FLAG_FREEZE),
            (config.random_action, spec.FLAG_RANDOM),
            (config.detect, spec.FLAG_DETECT),
            (config.auto_bonus, spec.FLAG_AUTO_BONUS),
        )
        return {
            "magic": spec.MAGIC,
            "hash": spec.SPEC_HASH ^ self.seal(),
            "units": self.units,
            "dims": self.d_s | self.d_a << 4 | self.horizon << 8,
            "bits": sum((s | a << 2) << (4 * c) for c, (s, a) in enumerate(self.chunks)),
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
