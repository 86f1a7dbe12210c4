"""Instructions, stack, time and energy of a planned job: bounds measured on the compiled core for Cortex-M0.

The worst act and the constants of the worst observe are run on the emulated processor (adamb.tools.device);
how deep and how wide a job can get comes from the upper bounds. Paper mode refreshes every cell under the
ball at once, so its observe has no bound of this form, and none is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from adamb.budgets.bounds.exact import TreeBound
from adamb.budgets.planner import UNIT_BYTES, PlannedJob
from adamb.budgets.thresholds import from_thresholds

if TYPE_CHECKING:
    from adamb.budgets.boards import Board
    from adamb.tools.device.settings import DeviceSettings

TARGET = "cortex-m0"
PAPER_NOTE = "paper mode refreshes every state cell under the ball at once: no bound of this form"


@dataclass(frozen=True)
class JobCosts:
    """Worst cases in Cortex-M0 instructions; `observe` is None where there is no bound."""

    act: int
    observe: int | None
    stack_bytes: int
    relevant_balls: int
    depth: int
    note: str = ""
    mean: tuple[int, int] | None = None
    """Of act and observe, in the steps that the forms of MicroPython were measured with; mode tracking."""

    steps: str = ""
    """Which those were."""

    def to_json(self, board: Board | None) -> dict[str, Any]:
        """The numbers; with a board also time and energy, as ranges."""
        content: dict[str, Any] = {
            "instructions": {
                "target": TARGET,
                "act": self.act,
                "observe": self.observe,
                "relevant_balls": self.relevant_balls,
                "depth": self.depth,
                "note": self.note,
            },
            "stack_bytes": self.stack_bytes,
        }
        if self.mean is not None:
            content["instructions"]["mean"] = dict(zip(("act", "observe"), self.mean, strict=True))
        if board is None:
            return content
        if board.core.code is not None:
            content |= {"stack_bytes": board.core.code.stack, "flash_bytes": board.core.code.flash}
        both = None if self.observe is None else self.act + self.observe
        low, high = board.cycles_per_instruction
        content["seconds"] = {
            "act": list(board.seconds(self.act)),
            "observe": None if self.observe is None else list(board.seconds(self.observe)),
        }
        content["energy_uj"] = {
            "act": list(board.energy_uj(self.act)),
            "observe": None if self.observe is None else list(board.energy_uj(self.observe)),
            "decision": None if both is None else list(board.energy_uj(both)),
        }
        content["cycles_per_instruction"] = {
            "model": board.core.model,
            "low": low,
            "high": high,
            "estimate": board.estimate,
        }
        return content


def relevant_balls(job: PlannedJob, block_bytes: int | None) -> int:
    """The most balls that one state can have: those over it split 2^d_a ways, at the same cost in samples."""
    rule = job.bound.rule
    column = TreeBound(from_thresholds(job.d_a, rule.thresholds, rule.rule))
    most = max(column.leaves(samples) for _, samples in job.bound.forest.shapes(job.episodes))
    if block_bytes is None:
        return most
    return min(most, 1 + ((1 << job.d_a) - 1) * (block_bytes // UNIT_BYTES))


def measure_costs(job: PlannedJob, block_bytes: int | None) -> JobCosts | str:
    """The worst cases of a job, or why they cannot be had here (compiler or emulator not installed)."""
    from adamb.tools.device.emulator import core
    from adamb.tools.device.emulator.callgraph import stack_report
    from adamb.tools.device.extras import DeviceToolFailed, DeviceToolMissing
    from adamb.tools.device.latency.meters import DeepestAct

    settings = _settings(job)
    try:
        deepest = DeepestAct(settings.config(), TARGET)
        depth = min(job.d_s * job.bound.forest.finest_leaf(job.episodes), deepest.deepest)
        act = deepest.instructions(depth)
        stack = stack_report(core.core_image(TARGET), core.HOT_PATH).bytes
        balls = relevant_balls(job, block_bytes)
        if job.mode == "paper":
            return JobCosts(act, None, stack, balls, depth, PAPER_NOTE)
        constants = _observe_constants(settings)
        worst = int(constants.instructions(balls))
        mean, steps = _mean(f"{job.d_s}+{job.d_a}")
        return JobCosts(act, worst, stack, balls, depth, mean=mean, steps=steps)
    except (DeviceToolMissing, DeviceToolFailed) as reason:
        return str(reason)


def _mean(dims: str) -> tuple[tuple[int, int], str]:
    from adamb.tools.device.micropython.costs import shape_conditions, shape_rows

    row = next(iter(shape_rows(dims).values()))
    return (row.c_act, row.c_observe), shape_conditions(dims)


@lru_cache(maxsize=16)
def _observe_constants(settings: DeviceSettings) -> Any:
    from adamb.tools.device.latency.observe_bound import ObserveBound

    return ObserveBound.measure(settings, TARGET)


def _settings(job: PlannedJob) -> DeviceSettings:
    from adamb.tools.device.settings import DeviceSettings

    return DeviceSettings(job.d_s, job.d_a, job.horizon, mode=job.mode, **job.settings)
