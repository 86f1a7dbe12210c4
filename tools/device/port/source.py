"""What a port is made from: dimensions that are typed, a problem, or a run with its options and its block."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adamb.budgets.controller import OPTIONS
from adamb.budgets.errors import InputError
from adamb.firmware_model import _spec
from adamb.host_sim.results.run import BLOCK, RUN, RunFolder
from adamb.tools.device.port.common import PLANT_PROBLEM, PLANTS, PortJob
from adamb.tools.device.settings import DeviceSettings

SHAPE = {"state-dims": 1, "action-dims": 1, "horizon": 5}
"""What is exported when nothing says otherwise."""
THEIR = {"state-dims": "dimensions", "action-dims": "dimensions", "horizon": "horizon"}


@dataclass(frozen=True)
class PortSource:
    """Shape and options of a controller; of a run also its cap and the snapshot of its first seed."""

    d_s: int
    d_a: int
    horizon: int
    options: dict[str, Any] = field(default_factory=dict)
    budget_bytes: int | None = None
    trained: bytes | None = None
    plant: str = PortJob.plant

    def settings(self, changed: dict[str, Any], seed: int) -> DeviceSettings:
        """The controller with some options changed; what was trained keeps those it was trained with."""
        if self.trained is not None and changed:
            name, value = next(iter(changed.items()))
            raise InputError(OPTIONS[name].flag[2:], value, "a trained block keeps the options of its run")
        return DeviceSettings(self.d_s, self.d_a, self.horizon, seed=seed, **{**self.options, **changed})


def read_source(text: str | None, shape: dict[str, int], *, trained: bool) -> PortSource:
    """From a problem's name, the folder of a run, or the shape alone, of which some is typed."""
    if text is None:
        if trained:
            raise InputError("trained", "on", "name the folder of a run made with --record")
        d_s, d_a, horizon = (shape.get(name, default) for name, default in SHAPE.items())
        return PortSource(d_s, d_a, horizon)
    is_run = (Path(text) / RUN).is_file()
    if not is_run and (trained or Path(text).is_dir()):
        field = "trained" if trained else "source"
        raise InputError(field, text, "is no folder of a run; make one with adamb run --record --out DIR")
    source = _from_run(Path(text), trained=trained) if is_run else _from_problem(text)
    for name, value in shape.items():
        raise InputError(name, value, f"{text} has its own {THEIR[name]}; leave it out")
    return source


def _from_problem(name: str) -> PortSource:
    from adamb.host_sim.registry import make_problem

    problem = make_problem(name, [0])
    said = f"adamb run {name} --out DIR with settings that fit, then adamb port DIR"
    if problem.horizon > _spec.HORIZON_MAX:
        limit = f"has {problem.horizon} steps, at most {_spec.HORIZON_MAX} are planned: {said} (--horizon)"
        raise InputError("source", name, limit)
    if max(problem.d_s, problem.d_a) > _spec.DIM_MAX:
        limit = f"has {problem.d_s}+{problem.d_a} dimensions, at most {_spec.DIM_MAX} each: {said}"
        raise InputError("source", name, limit)
    return PortSource(problem.d_s, problem.d_a, problem.horizon, plant=_plant(name))


def _plant(problem: str) -> str:
    """The loop that goes with a problem: of one that is no plant, the heater's as an example."""
    name = problem.removeprefix(PLANT_PROBLEM)
    return name if name in PLANTS else PortJob.plant


def _from_run(folder: Path, *, trained: bool) -> PortSource:
    run = RunFolder.read(folder)
    if run.summary.agent != "adamb":
        raise InputError("source", str(folder), f"is a run of {run.summary.agent}; a board runs adamb")
    options = {name: value for name, value in run.details.settings.items() if name in OPTIONS}
    snapshot, size = None, run.summary.budget_bytes
    if trained:
        from adamb.tools.inspect.snapshot_file import pack

        if not (folder / BLOCK).is_file():
            raise InputError("trained", str(folder), f"has no {BLOCK}; add --record to adamb run")
        snapshot, size = pack(folder / BLOCK)
        if run.summary.budget_bytes is None:
            kept = f"its run had no cap, and a trained block keeps its {size} bytes"
            limit = f"{kept}; run it with --budget 4KiB"
            raise InputError("trained", str(folder), limit)
    plant = _plant(run.summary.problem)
    return PortSource(*run.details.dimensions, run.summary.horizon, options, size, snapshot, plant)
