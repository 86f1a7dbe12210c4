"""A controller's configuration as words a person uses, turned into the structure the C core takes."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from adamb.budgets.bounds_paper import paper_gamma, paper_phi
from adamb.budgets.errors import InputError
from adamb.budgets.thresholds import SplitRule, split_rule
from adamb.firmware_model import _spec

MODES = ("tracking", "paper")
SHARES = ("off", "on", "auto")
FULL = ("reclaim", "freeze")
SPLITS = ("own", "inherited")
ACTIONS = ("centre", "random")
BONUS_ONE = 4096
THRESHOLDS = 15


@dataclass(frozen=True)
class Settings:
    """What `adamb run` takes for its adamb agent, for one problem's dimensions; None means the mode's own."""

    d_s: int
    d_a: int
    horizon: int
    mode: str = "tracking"
    share: str | None = None
    when_full: str = "reclaim"
    bonus: str | float | None = None
    gamma: float | None = None
    phi: float | None = None
    split: str | None = None
    action: str = "centre"
    seed: int = 1

    def __post_init__(self) -> None:
        for field, value, known in (
            ("mode", self.mode, MODES),
            ("share", self.share, (*SHARES, None)),
            ("when-full", self.when_full, FULL),
            ("split", self.split, (*SPLITS, None)),
            ("action", self.action, ACTIONS),
        ):
            if value not in known:
                raise InputError(field, value, "one of " + ", ".join(name for name in known if name))
        if isinstance(self.bonus, str) and self.bonus != "auto":
            raise InputError("bonus", self.bonus, "auto or a number")

    @property
    def is_paper(self) -> bool:
        return self.mode == "paper"

    @property
    def split_gamma(self) -> float:
        if self.gamma is not None:
            return self.gamma
        return paper_gamma(self.d_s) if self.is_paper else 2

    @property
    def split_phi(self) -> float:
        if self.phi is not None:
            return self.phi
        return paper_phi(self.horizon, self.d_s + self.d_a, self.d_s) if self.is_paper else 1

    @property
    def sharing(self) -> str:
        return self.share or ("off" if self.is_paper else "auto")

    @property
    def rule(self) -> SplitRule:
        kind = self.split or ("own" if self.is_paper else "inherited")
        return split_rule(self.d_s + self.d_a, self.split_gamma, self.split_phi, kind)

    def fields(self) -> dict[str, Any]:
        """The members of the configuration structure."""
        rule = self.rule
        automatic = self.bonus == "auto" or (self.bonus is None and not self.is_paper)
        factor = 0.25 if self.bonus in (None, "auto") else float(self.bonus or 0)
        table = list(rule.thresholds[:THRESHOLDS])
        return {
            "d_s": self.d_s,
            "d_a": self.d_a,
            "horizon": self.horizon,
            "paper": int(self.is_paper),
            "own": int(rule.rule == "own"),
            "share": {"off": 0, "on": 1, "auto": 2}[self.sharing],
            "freeze": int(self.when_full == "freeze"),
            "random_action": int(self.action == "random"),
            "detect": int(not self.is_paper),
            "auto_bonus": int(automatic),
            "bonus": round(factor * BONUS_ONE),
            "seed": self.seed,
            "thresholds": table + [int(_spec.THRESHOLD_NEVER)] * (THRESHOLDS - len(table)),
        }

    def config(self, **changes: Any) -> bytes:
        """The structure as the core reads it, with some members changed; an impossible one is named."""
        return bytes(_binding().ffi.buffer(self._structure(**changes)))

    def required_words(self) -> int:
        """The smallest block `init` accepts."""
        return int(_binding().lib.adamb_required_words(self._structure()))

    def _structure(self, **changes: Any) -> Any:
        fields = {**self.fields(), **changes}
        try:
            made = _binding().c_config(SimpleNamespace(**fields))
        except OverflowError as error:
            raise InputError("configuration", fields, str(error)) from error
        if _binding().lib.adamb_required_words(made) < 0:
            raise InputError("configuration", fields, "outside the limits of the core")
        return made


def _binding() -> Any:
    return import_module("adamb.firmware_model.binding")
