"""A controller's options for one problem, and the structure that the C core takes for them on any target."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from adamb.budgets.bounds.thresholds import EARLY, SplitRule, from_thresholds
from adamb.firmware_model.host.errors import InputError
from adamb.firmware_model.host.options import ControllerConfig, make_config


@dataclass(frozen=True, init=False)
class DeviceSettings:
    """The options of `adamb run` for its adamb agent, for one problem's dimensions."""

    d_s: int
    d_a: int
    horizon: int
    seed: int
    options: tuple[tuple[str, Any], ...]

    def __init__(self, d_s: int, d_a: int, horizon: int, *, seed: int = 1, **options: Any) -> None:
        given = tuple((name, value) for name, value in sorted(options.items()) if value is not None)
        self.__dict__.update(d_s=d_s, d_a=d_a, horizon=horizon, seed=seed, options=given)
        # Building it finds every option that the core cannot represent.
        _ = self.controller

    @cached_property
    def controller(self) -> ControllerConfig:
        """The integers that the core takes."""
        return make_config(self.d_s, self.d_a, self.horizon, dict(self.options), self.seed)

    @property
    def mode(self) -> str:
        return str(self.controller.words["mode"])

    @property
    def is_paper(self) -> bool:
        return self.mode == "paper"

    @property
    def split_gamma(self) -> float:
        return float(self.controller.words["gamma"])

    @property
    def split_phi(self) -> float:
        return float(self.controller.words["phi"])

    @property
    def sharing(self) -> str:
        return str(self.controller.words["share"])

    @property
    def rule(self) -> SplitRule:
        """The rule by which balls split, down to the finest level that the codes of these dimensions can name."""
        made = self.controller
        kind = "own" if made.split_counts else "inherited" if self.is_paper else EARLY
        return from_thresholds(self.d_s + self.d_a, made.thresholds[: made.finest], kind)

    def fields(self) -> dict[str, Any]:
        """The members of the configuration structure."""
        made = self.controller
        numbers = {name: int(getattr(made, name)) for name in _binding().FIELDS}
        return {**numbers, "thresholds": list(made.thresholds)}

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
    return import_module("adamb.firmware_model.host.binding")
