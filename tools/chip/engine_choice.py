"""Which engine a chip gets: one for any block, or one that is fixed to dimensions and perhaps a horizon."""

from __future__ import annotations

import re
from dataclasses import replace

from adamb.budgets.errors import InputError
from adamb.firmware_model import _spec as spec
from adamb.firmware_model.rtl.shape import EngineShape
from adamb.host_sim.problem import Problem

ANY = "any"
FORM = f"any, or from 1+1 to {spec.DIM_MAX}+{spec.DIM_MAX}, with a horizon to {spec.HORIZON_MAX} as 1+1h5"


def engine_shape(name: str, words: int) -> EngineShape:
    """The shape that a name such as any, 1+1 or 1+1h5 stands for, on an SRAM of these words."""
    shape = EngineShape(words)
    if name == ANY:
        return shape
    found = re.fullmatch(r"(\d)\+(\d)(?:h(\d{1,2}))?", name)
    if found is None:
        raise InputError("engine", name, FORM)
    d_s, d_a, horizon = (None if part is None else int(part) for part in found.groups())
    try:
        return replace(shape, d_s=d_s, d_a=d_a, horizon=horizon)
    except ValueError as error:
        raise InputError("engine", name, FORM) from error


def check_fit(name: str, shape: EngineShape, problem: Problem) -> None:
    """An engine that was built for another problem would call every block of this one damaged."""
    for field in ("d_s", "d_a", "horizon"):
        fixed = getattr(shape, field)
        if fixed is not None and fixed != getattr(problem, field):
            raise InputError(
                "engine", name, f"the problem needs {problem.d_s}+{problem.d_a}h{problem.horizon}"
            )
