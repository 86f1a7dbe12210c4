"""The controller's options, each written once, and the integers that the core takes for them.

Everything that builds a controller reads this table and goes through `make_config`: the simulator, the
planner, the export for boards, the float reference and the command line. None of them can know an option, a
word or a limit that another does not.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from adamb.firmware_model import _spec
from adamb.firmware_model.host.errors import BudgetExceeded, InputError, unknown_name
from adamb.firmware_model.host.sizes import format_bytes

WORD_BYTES = 2
BLOCK_BYTES_MAX = _spec.UNITS_MAX * _spec.UNIT_WORDS * WORD_BYTES
MORE_THAN_A_BLOCK = f"a block has at most {BLOCK_BYTES_MAX} bytes (15-bit links)"
BONUS_ONE = 4096
"""c = 1 in the configuration's format."""

Number = int | float | str | Fraction | Decimal
#: n^q has about q·13 bits; beyond this denominator the exact test would be slow for no gain in meaning.
DENOMINATOR_MAX = 1000
#: No run needs more; both keep every threshold a number that is quickly computed.
GAMMA_MAX, PHI_MAX = 16, 1_000_000


def exact(field: str, value: Number) -> Fraction:
    """The rational number a user means: a float counts as the decimal text it prints as (0.1 is 1/10)."""
    try:
        if isinstance(value, float):
            if not math.isfinite(value):
                raise ValueError
            return Fraction(repr(value))
        if isinstance(value, str):
            return Fraction(value.strip())
        return Fraction(value)
    except (ValueError, ZeroDivisionError, TypeError, OverflowError, InvalidOperation):
        raise InputError(field, value, "must be a finite number such as 3, 2.5 or 5/2") from None


def _ceil_root(numerator: int, denominator: int, degree: int) -> int:
    """Smallest n ≥ 1 with n^degree·denominator ≥ numerator."""
    high = 1
    while high**degree * denominator < numerator:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        if middle**degree * denominator < numerator:
            low = middle
        else:
            high = middle
    return high


def threshold(level: int, gamma: Number, phi: Number = 1) -> int:
    """n₊(ℓ) = ⌈φ·2^(γℓ)⌉, exactly, for any level ≥ 0.

    Floating point would misplace the ceiling whenever φ·2^(γℓ) is an integer or nearly so, and a threshold that
    is one too small makes every bound on splits wrong. With γℓ = p/q and φ = a/b in lowest terms the threshold
    is the smallest n with n^q·b^q ≥ a^q·2^p, which integers decide exactly.

    >>> [threshold(level, gamma=2) for level in range(4)]
    [1, 4, 16, 64]
    """
    gamma_q, phi_q = check_threshold(gamma, phi)
    if level < 0:
        raise InputError("level", level, "must be 0 or more")
    exponent = gamma_q * level
    degree = exponent.denominator
    numerator = phi_q.numerator**degree << exponent.numerator
    return _ceil_root(numerator, phi_q.denominator**degree, degree)


def check_threshold(gamma: Number, phi: Number) -> tuple[Fraction, Fraction]:
    """Both as rational numbers of which a threshold is quickly computed; else an InputError."""
    gamma_q, phi_q = exact("gamma", gamma), exact("phi", phi)
    if not 0 < gamma_q <= GAMMA_MAX:
        raise InputError("gamma", gamma, f"must be above 0 and at most {GAMMA_MAX}")
    if gamma_q.denominator > DENOMINATOR_MAX:
        raise InputError("gamma", gamma, f"must be a fraction with a denominator up to {DENOMINATOR_MAX}")
    if not 0 < phi_q <= PHI_MAX:
        raise InputError("phi", phi, f"must be above 0 and at most {PHI_MAX}")
    if phi_q.denominator > 10**18:
        raise InputError("phi", phi, "must have at most 18 decimals")
    return gamma_q, phi_q


Default = Any | Callable[[int, int, int], Any]


@dataclass(frozen=True)
class Option:
    """One row of the table.

    `words` are the values that are taken as they stand; `high` is the limit of a number, None where only
    words are taken. A default that depends on the problem is a function of d_s, d_a and the horizon.

    >>> OPTIONS["share"].check("on")
    'on'
    >>> OPTIONS["share"].expected
    'must be one of off, on, auto'
    """

    name: str
    help: str
    words: tuple[str, ...]
    tracking: Default
    paper: Default
    high: float | None = None
    above_zero: bool = False
    sizes: bool = False
    """Whether the worst case of the memory depends on it."""

    @property
    def expected(self) -> str:
        """Words for what a value must be, for error messages."""
        if self.high is None:
            return f"must be one of {', '.join(self.words)}"
        words = "".join(f"{word!r} or " for word in self.words)
        limits = f"above 0 and at most {self.high}" if self.above_zero else f"from 0 to {self.high}"
        return f"must be {words}a number {limits}"

    def default(self, mode: str, d_s: int, d_a: int, horizon: int) -> Any:
        """The value in a mode when the user gives none."""
        chosen = self.tracking if mode == "tracking" else self.paper
        return chosen(d_s, d_a, horizon) if callable(chosen) else chosen

    def check(self, value: Any) -> Any:
        """The value if the core can represent it; True and False mean on and off."""
        if isinstance(value, bool):
            value = "on" if value else "off"
        if isinstance(value, str) and value in self.words:
            return value
        if self.high is None:
            raise InputError(self.name, value, self.expected)
        try:
            number = float(exact(self.name, value))
        except (InputError, OverflowError):
            raise InputError(self.name, value, self.expected) from None
        if not (number > 0 if self.above_zero else number >= 0) or number > self.high:
            raise InputError(self.name, value, self.expected)
        return value


def paper_gamma(d_s: float) -> float:
    """γ = dS for dS > 2 and dS + 2 otherwise (section "Refine Partition")."""
    return d_s if d_s > 2 else d_s + 2


def paper_phi(horizon: int, d: float, d_s: float) -> float:
    """φ = H^((d+dS)/(d+1)), as the algorithm's description prints it (section "Refine Partition").

    Rounded to 12 figures, so that 32^(6/5) is 64 and its thresholds are not one too high. The regret
    derivation (sec:finalregret) uses another exponent, (d+γ)/(d+1).
    """
    return float(f"{float(horizon) ** ((d + d_s) / (d + 1)):.12g}")


_ROWS = (
    Option(
        "mode", "tracking or paper; what is guaranteed: docs/paper.md", ("tracking", "paper"),
        "tracking", "paper",
    ),
    Option(
        "share", "one tree for all steps: off, on or auto", ("off", "on", "auto"), "auto", "off", sizes=True,
    ),
    Option("when_full", "reclaim or freeze", ("reclaim", "freeze"), "reclaim", "reclaim"),
    Option(
        "bonus", "auto, or c of the bonus c/sqrt(n)", ("auto",), "auto", 0.25,
        high=math.floor(1000 * _spec.BONUS_MAX / BONUS_ONE) / 1000,
    ),
    Option(
        "gamma", "exponent of the split threshold phi * 2^(gamma * level)", (),
        _spec.DEFAULT_GAMMA, lambda d_s, d_a, horizon: paper_gamma(d_s),
        high=GAMMA_MAX, above_zero=True, sizes=True,
    ),
    Option(
        "phi", "factor of the split threshold phi * 2^(gamma * level)", (),
        _spec.DEFAULT_PHI, lambda d_s, d_a, horizon: paper_phi(horizon, d_s + d_a, d_s),
        high=PHI_MAX, above_zero=True, sizes=True,
    ),
    Option(
        "split", "samples that count for a split: own or inherited", ("inherited", "own"), "inherited", "own",
        sizes=True,
    ),
    Option("action", "point played in a ball: centre or random", ("centre", "random"), "centre", "centre"),
    Option("detect", "notice a change of the environment: off or on", ("off", "on"), "on", "off"),
)  # fmt: skip

OPTIONS: dict[str, Option] = {row.name: row for row in _ROWS}
MEMORY_OPTIONS = tuple(row.name for row in _ROWS if row.sizes)
"""Those that decide the worst case of the memory, with the mode."""


def defaults(mode: str, d_s: int, d_a: int, horizon: int) -> dict[str, Any]:
    """Every option of a mode at its default.

    >>> defaults("tracking", 1, 1, 5)["share"], defaults("paper", 1, 1, 5)["gamma"]
    ('auto', 3)
    """
    return {row.name: row.default(mode, d_s, d_a, horizon) for row in _ROWS}


@dataclass(frozen=True)
class ControllerConfig:
    """Field by field what the core's `init` takes, and the words it was made from.

    >>> config = make_config(1, 1, 5)
    >>> config.finest, config.with_seed(7).seed
    (9, 7)
    """

    d_s: int
    d_a: int
    horizon: int
    mode: int
    split_counts: int
    share: int
    when_full: int
    random_action: int
    detect: int
    auto_bonus: int
    bonus: int
    seed: int
    thresholds: tuple[int, ...]
    words: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def finest(self) -> int:
        """The finest level a ball can reach: where codes end or thresholds no longer trigger."""
        level, most = 0, level_limit(self.d_s, self.d_a)
        while level < most and self.thresholds[level] <= _spec.THRESHOLD_MAX:
            level += 1
        if self.d_s + self.d_a == 2 and not self.mode and not self.split_counts:
            level = min(level + _spec.FINEST_EXTRA, most)  # reached by early splits alone
        return level

    def with_seed(self, seed: int) -> ControllerConfig:
        return ControllerConfig(**{**self.__dict__, "seed": seed & 0xFFFF})


def level_limit(d_s: int, d_a: int) -> int:
    """The finest level that state counts (15 bits) and action codes (16 bits) can name."""
    return int(_spec.LEVEL_MAX) // max(d_s, d_a)


def make_config(
    d_s: int, d_a: int, horizon: int, options: Mapping[str, Any] | None = None, seed: int = 1
) -> ControllerConfig:
    """A configuration from a user's words; whatever the core cannot represent is refused with its limit.

    >>> make_config(2, 1, 5, {"mode": "paper", "bonus": 0.5}).words["split"]
    'own'
    """
    for name, value, most in (
        ("d_s", d_s, _spec.DIM_MAX),
        ("d_a", d_a, _spec.DIM_MAX),
        ("horizon", horizon, _spec.HORIZON_MAX),
    ):
        if not 1 <= value <= most:
            raise InputError(name, value, f"must be 1 to {most}")
    given = {name: value for name, value in (options or {}).items() if value is not None}
    for name in given:
        if name not in OPTIONS:
            raise unknown_name("option", name, OPTIONS, "the core has no such option")
    mode = OPTIONS["mode"].check(given.get("mode", "tracking"))
    words = defaults(mode, d_s, d_a, horizon)
    words |= {name: OPTIONS[name].check(value) for name, value in given.items()}
    return ControllerConfig(
        d_s=d_s,
        d_a=d_a,
        horizon=horizon,
        mode=int(mode == "paper"),
        split_counts=int(words["split"] == "own"),
        share=OPTIONS["share"].words.index(words["share"]),
        when_full=int(words["when_full"] == "freeze"),
        random_action=int(words["action"] == "random"),
        detect=int(words["detect"] == "on"),
        auto_bonus=int(words["bonus"] == "auto"),
        bonus=0 if words["bonus"] == "auto" else round(exact("bonus", words["bonus"]) * BONUS_ONE),
        seed=seed & 0xFFFF,
        thresholds=_thresholds(words["gamma"], words["phi"]),
        words=words,
    )


def _thresholds(gamma: Any, phi: Any) -> tuple[int, ...]:
    values = [threshold(level, gamma, phi) for level in range(_spec.LEVEL_MAX + 1)]
    return tuple(value if value <= _spec.THRESHOLD_MAX else _spec.THRESHOLD_NEVER for value in values)


def block_words(config: ControllerConfig, budget_bytes: int | None) -> int:
    """Words of a block within the budget (whole units); the largest block where there is none.

    >>> block_words(make_config(1, 1, 5), 4096)
    2048
    """
    from adamb.firmware_model.host import binding

    if budget_bytes is None:
        return BLOCK_BYTES_MAX // WORD_BYTES
    required = binding.required_words(config) * WORD_BYTES
    if budget_bytes < required:
        header = header_bytes(config)
        raise BudgetExceeded(
            required, budget_bytes, f"the header and the {config.horizon} steps, {format_bytes(header)}"
        )
    if budget_bytes > BLOCK_BYTES_MAX:
        raise InputError("budget", budget_bytes, MORE_THAN_A_BLOCK)
    return budget_bytes // (WORD_BYTES * _spec.UNIT_WORDS) * _spec.UNIT_WORDS


def header_bytes(config: ControllerConfig) -> int:
    """Bytes before the pool: header words, thresholds, steps, rounded up to whole units."""
    words = _spec.H_WORDS + config.finest + 1 + (config.horizon + 1) * _spec.S_WORDS
    return -(-words // _spec.UNIT_WORDS) * _spec.UNIT_WORDS * WORD_BYTES


def new_block(words: int) -> array:
    """A block of zeros."""
    return array("H", bytes(WORD_BYTES * words))
