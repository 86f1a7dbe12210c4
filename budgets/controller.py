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
from typing import Any

from adamb.budgets.bounds.paper import paper_gamma, paper_phi
from adamb.budgets.errors import BudgetExceeded, InputError, unknown_name
from adamb.budgets.sizes import format_bytes
from adamb.budgets.thresholds import GAMMA_MAX, PHI_MAX, exact, threshold
from adamb.firmware_model import _spec

WORD_BYTES = 2
BLOCK_BYTES_MAX = _spec.UNITS_MAX * _spec.UNIT_WORDS * WORD_BYTES
MORE_THAN_A_BLOCK = f"a block has at most {BLOCK_BYTES_MAX} bytes (15-bit links)"


BONUS_ONE = 4096
"""c = 1 in the configuration's format."""

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
    def flag(self) -> str:
        """Its name on the command line."""
        return "--" + self.name.replace("_", "-")

    @property
    def expected(self) -> str:
        """What a value must be, for error messages."""
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


def _paper_gamma(d_s: int, d_a: int, horizon: int) -> int:
    return int(paper_gamma(d_s))


def _paper_phi(d_s: int, d_a: int, horizon: int) -> float:
    return paper_phi(horizon, d_s + d_a, d_s)


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
        _spec.DEFAULT_GAMMA, _paper_gamma,
        high=GAMMA_MAX, above_zero=True, sizes=True,
    ),
    Option(
        "phi", "factor of the split threshold phi * 2^(gamma * level)", (),
        _spec.DEFAULT_PHI, _paper_phi,
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
    paper: int
    own: int
    share: int
    freeze: int
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
        if self.d_s + self.d_a == 2 and not self.paper and not self.own:
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
        paper=int(mode == "paper"),
        own=int(words["split"] == "own"),
        share=OPTIONS["share"].words.index(words["share"]),
        freeze=int(words["when_full"] == "freeze"),
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
    words = _spec.H_WORDS + config.finest + 1 + config.horizon * _spec.S_WORDS
    return -(-words // _spec.UNIT_WORDS) * _spec.UNIT_WORDS * WORD_BYTES


def new_block(words: int) -> array:
    """A block of zeros."""
    return array("H", bytes(WORD_BYTES * words))
