"""The controller's configuration as a user states it, turned into the integers that the core takes.

Everything that builds a controller (the simulator, the planner, the export for boards) goes through here, so
that one set of words, defaults and limits serves them all.
"""

from __future__ import annotations

import difflib
import math
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from adamb.budgets.errors import BudgetExceeded, InputError
from adamb.budgets.sizes import format_bytes
from adamb.budgets.thresholds import threshold
from adamb.firmware_model import _spec

WORD_BYTES = 2
BLOCK_BYTES_MAX = _spec.UNITS_MAX * _spec.UNIT_WORDS * WORD_BYTES
BONUS_ONE = 4096
"""c = 1 in the configuration's format."""

CHOICES: dict[str, tuple[str, ...]] = {
    "mode": ("tracking", "paper"),
    "split": ("inherited", "own"),
    "share": ("off", "on", "auto"),
    "when_full": ("reclaim", "freeze"),
    "action": ("centre", "random"),
    "detect": ("off", "on"),
}


@dataclass(frozen=True)
class ControllerConfig:
    """Field by field what the core's `init` takes, and the words it was made from."""

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
        return level

    def with_seed(self, seed: int) -> ControllerConfig:
        return ControllerConfig(**{**self.__dict__, "seed": seed & 0xFFFF})


def level_limit(d_s: int, d_a: int) -> int:
    """The finest level that state counts (15 bits) and action codes (16 bits) can name."""
    return min(_spec.LEVEL_MAX // d_s, {1: 14, 2: 7, 3: 4}[d_a])


def make_config(
    d_s: int, d_a: int, horizon: int, options: Mapping[str, Any] | None = None, seed: int = 1
) -> ControllerConfig:
    """A configuration from a user's words; whatever the core cannot represent is refused with its limit."""
    for name, value, most in (
        ("d_s", d_s, _spec.DIM_MAX),
        ("d_a", d_a, _spec.DIM_MAX),
        ("horizon", horizon, _spec.HORIZON_MAX),
    ):
        if not 1 <= value <= most:
            raise InputError(name, value, f"must be 1 to {most}")
    given = {name: value for name, value in (options or {}).items() if value is not None}
    mode = _choice("mode", given.pop("mode", "tracking"))
    words = {"mode": mode, **_defaults(mode, d_s, d_a, horizon)}
    for name, value in given.items():
        if name not in words:
            near = difflib.get_close_matches(name, words, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]}?" if near else f"there is {', '.join(words)}"
            raise InputError(name, value, f"the core has no such option; {hint}")
        words[name] = _choice(name, value) if name in CHOICES else value
    return ControllerConfig(
        d_s=d_s,
        d_a=d_a,
        horizon=horizon,
        paper=int(mode == "paper"),
        own=int(words["split"] == "own"),
        share=CHOICES["share"].index(words["share"]),
        freeze=int(words["when_full"] == "freeze"),
        random_action=int(words["action"] == "random"),
        detect=int(words["detect"] == "on"),
        auto_bonus=int(words["bonus"] == "auto"),
        bonus=_bonus(words["bonus"]),
        seed=seed & 0xFFFF,
        thresholds=_thresholds(words["gamma"], words["phi"]),
        words=words,
    )


def _defaults(mode: str, d_s: int, d_a: int, horizon: int) -> dict[str, Any]:
    common = {"when_full": "reclaim", "action": "centre"}
    if mode == "tracking":
        return {
            **common,
            "split": "inherited",
            "gamma": 2,
            "phi": 1,
            "bonus": "auto",
            "share": "auto",
            "detect": "on",
        }
    d = d_s + d_a
    return {
        **common,
        "split": "own",
        "gamma": d_s + 2 if d_s <= 2 else d_s,
        "phi": float(f"{horizon ** ((d + d_s) / (d + 1)):.12g}"),
        "bonus": 0.25,
        "share": "off",
        "detect": "off",
    }


def _choice(name: str, value: Any) -> str:
    if value is True or value is False:
        value = "on" if value else "off"
    if value not in CHOICES[name]:
        raise InputError(name, value, f"must be one of {', '.join(CHOICES[name])}")
    return str(value)


def _bonus(value: Any) -> int:
    if value == "auto":
        return 0
    limit = f"must be 'auto' or a number from 0 to {_spec.BONUS_MAX / BONUS_ONE:.3f}"
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InputError("bonus", value, limit) from None
    if not (math.isfinite(number) and 0 <= round(number * BONUS_ONE) <= _spec.BONUS_MAX):
        raise InputError("bonus", value, limit)
    return round(number * BONUS_ONE)


def _thresholds(gamma: Any, phi: Any) -> tuple[int, ...]:
    values = [threshold(level, gamma, phi) for level in range(_spec.LEVEL_MAX + 1)]
    return tuple(value if value <= _spec.THRESHOLD_MAX else _spec.THRESHOLD_NEVER for value in values)


def block_words(config: ControllerConfig, budget_bytes: int | None) -> int:
    """Words of a block within the budget (whole units); the largest block where there is none."""
    from adamb.firmware_model import binding

    if budget_bytes is None:
        return BLOCK_BYTES_MAX // WORD_BYTES
    required = binding.required_words(config) * WORD_BYTES
    if budget_bytes < required:
        header = header_bytes(config)
        raise BudgetExceeded(
            required, budget_bytes, f"the header and the {config.horizon} steps, {format_bytes(header)}"
        )
    if budget_bytes > BLOCK_BYTES_MAX:
        raise InputError(
            "budget", budget_bytes, f"a block has at most {BLOCK_BYTES_MAX} bytes (15-bit links)"
        )
    return budget_bytes // (WORD_BYTES * _spec.UNIT_WORDS) * _spec.UNIT_WORDS


def header_bytes(config: ControllerConfig) -> int:
    """Bytes before the pool: header words, thresholds, steps, rounded up to whole units."""
    words = _spec.H_WORDS + config.finest + 1 + config.horizon * _spec.S_WORDS
    return -(-words // _spec.UNIT_WORDS) * _spec.UNIT_WORDS * WORD_BYTES


def new_block(words: int) -> array:
    """A block of zeros."""
    return array("H", bytes(WORD_BYTES * words))
