"""Options of the float64 reference, checked once, and the authors' deviations as named overrides.

Every switch exists twice: as an option a user may set and, where the authors' program departs from their
paper, as a named deviation. A deviation is only a set of option values, so no code path belongs to it alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache

from adamb.firmware_model.host.errors import InputError, unknown_name
from adamb.firmware_model.host.options import OPTIONS, defaults, threshold

MAX_LEVEL = 30
MAX_DIMENSIONS = 4

#: What only the reference has.
CHOICES: dict[str, tuple[str, ...]] = {
    "planning": ("one-step", "full"),
    "initial": ("remaining", "horizon"),
    "q_rule": ("free", "decreasing"),
    "v_rule": ("free", "decreasing"),
    "transitions": ("dyadic", "induced", "nearest"),
    "cells": ("half-open", "closed"),
    "ties": ("low", "high"),
}

#: Options of the core that the reference has too, with its words.
CHOICES |= {name: OPTIONS[name].words for name in ("split", "action")}

#: What the authors' program does differently from the paper, each by name.
DEVIATIONS: dict[str, dict[str, object]] = {
    "root-bonus": {"bonus": 0.5},  # bonus only c/sqrt(n); any number for `bonus` agrees with it
    "gamma-2": {"gamma": 2.0, "phi": 1.0},  # threshold 2^(2*level)
    "inherited-counts": {"split": "inherited"},
    "initial-horizon": {"initial": "horizon"},  # Q and V start at H at every step, not at H-h+1
    "monotone-q": {"q_rule": "decreasing"},  # Q clipped to H and never rising, not only V
    "random-action": {"action": "random"},
    "no-envelope": {"envelope": False},
    "induced-transitions": {"transitions": "induced"},  # next states over the cells of the next step's V
    "nearest-cell": {"transitions": "nearest"},  # ... and there the cell with the nearest centre
    "closed-cells": {"cells": "closed"},  # a state on a border is in both halves
    "last-tie": {"ties": "low"},  # children are listed from high to low, so their last one is the lowest code
}


@dataclass(frozen=True)
class ReferenceSettings:
    """Everything one learner needs, with the defaults filled in."""

    d_s: int
    d_a: int
    horizon: int
    episodes: int
    bonus: float | str
    gamma: float
    phi: float
    split: str
    planning: str
    action: str
    envelope: bool
    delta: float
    L_r: float
    L_T: float
    L_V: float
    c_T: float
    initial: str
    q_rule: str
    v_rule: str
    transitions: str
    cells: str
    ties: str

    @property
    def thresholds(self) -> list[int]:
        """n_+(l) = ceil(phi * 2^(gamma*l)), the integers that the bounds and the core use too."""
        return list(_thresholds(self.gamma, self.phi))

    def describe(self) -> dict[str, object]:
        """With the words that the core has for this: mode paper, and a tree for each step."""
        return {**asdict(self), "mode": "paper", "share": "off"}


@cache
def _thresholds(gamma: float, phi: float) -> tuple[int, ...]:
    """Exact roots take long, and a sweep makes thousands of learners."""
    return tuple(threshold(level, gamma, phi) for level in range(MAX_LEVEL))


def make_settings(d_s: int, d_a: int, horizon: int, episodes: int, options: Mapping[str, object]) -> ReferenceSettings:
    """Check the options and fill in what they (and the deviations) leave open."""
    for field, size, limit in (("d_s", d_s, MAX_DIMENSIONS), ("d_a", d_a, MAX_DIMENSIONS)):
        if not 1 <= size <= limit:
            raise InputError(field, size, f"must be 1 to {limit}")
    if horizon < 1:
        raise InputError("horizon", horizon, "must be at least 1")
    if episodes < 1:
        raise InputError("episodes", episodes, "must be at least 1")
    given = {name: value for name, value in options.items() if value is not None}
    overrides = _deviation_values(given.pop("deviations", None))
    if (mode := given.pop("mode", "paper")) != "paper":
        raise InputError("mode", mode, "must be paper; cores c and python have tracking")
    values = {**_defaults(d_s, d_a, horizon), **overrides}
    for name, value in given.items():
        if name not in values:
            raise unknown_name("option of agent adamb (reference)", name, [*values, "mode", "deviations"])
        checked = _check(name, value)
        if name in overrides and not _agrees(name, checked, overrides[name]):
            raise InputError(name, value, f"contradicts the deviation that sets it to {overrides[name]!r}")
        values[name] = checked
    if values["envelope"] is None:
        values["envelope"] = values["bonus"] == "theory"
    return ReferenceSettings(d_s=d_s, d_a=d_a, horizon=horizon, episodes=episodes, **values)  # type: ignore[arg-type]


def _defaults(d_s: int, d_a: int, horizon: int) -> dict[str, object]:
    """Those of the core's mode paper, and what only the reference has.

    The envelope follows the bonus unless it is asked for: the concentration lemmas need a Lipschitz V,
    c/sqrt(n) does not.
    """
    core = defaults("paper", d_s, d_a, horizon)
    return {
        **{name: core[name] for name in ("bonus", "split", "action")},
        **{name: float(core[name]) for name in ("gamma", "phi")},
        "planning": "one-step", "envelope": None, "delta": 0.05, "L_r": 1.0, "L_T": 1.0, "L_V": 1.0,
        "c_T": 1.0, "initial": "remaining", "transitions": "dyadic", "cells": "half-open", "ties": "low",
        "q_rule": "free", "v_rule": "decreasing",
    }  # fmt: skip


def _deviation_values(chosen: object) -> dict[str, object]:
    if chosen is None or chosen == "none":
        return {}
    if isinstance(chosen, str):
        names = list(DEVIATIONS) if chosen == "authors" else [name.strip() for name in chosen.split(",")]
    elif isinstance(chosen, Iterable):
        names = [str(name) for name in chosen]
    else:
        raise InputError("deviations", chosen, "must be 'authors', 'none' or names of deviations")
    for name in names:
        if name not in DEVIATIONS:
            raise unknown_name("deviations", name, ["authors", "none", *DEVIATIONS])
    values: dict[str, object] = {}
    for name in sorted(names, key=list(DEVIATIONS).index):  # nearest-cell refines induced-transitions
        values.update(DEVIATIONS[name])
    return values


def _agrees(name: str, value: object, override: object) -> bool:
    if name == "bonus":
        return not isinstance(value, str)
    return value == override


def _check(name: str, value: object) -> object:
    if name in CHOICES:
        return _choice(name, value)
    if name == "envelope":
        return _flag(name, value)
    if name == "bonus" and value in ("theory", "auto"):
        return value
    low, high = {
        "bonus": (0.0, 100.0), "gamma": (1.0, 8.0), "phi": (1e-6, 1e6), "delta": (1e-12, 1.0),
        "L_r": (0.0, 1e6), "L_T": (0.0, 1e6), "L_V": (0.0, 1e6), "c_T": (0.0, 1e6),
    }[name]  # fmt: skip
    also = ", 'theory' or 'auto'" if name == "bonus" else ""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise InputError(name, value, f"must be a number from {low:g} to {high:g}{also}") from None
    if not low <= number <= high:
        raise InputError(name, value, f"must be a number from {low:g} to {high:g}{also}")
    return number


def _choice(name: str, value: object) -> str:
    if value not in CHOICES[name]:
        raise InputError(name, value, f"must be one of {', '.join(CHOICES[name])}")
    return str(value)


def _flag(name: str, value: object) -> bool:
    known = {"on": True, "true": True, "off": False, "false": False}
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in known:
        return known[value.lower()]
    raise InputError(name, value, "must be on or off")
