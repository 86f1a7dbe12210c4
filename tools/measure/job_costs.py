"""Instructions, stack, time and energy of a planned job: bounds measured on the compiled core for Cortex-M0.

The worst calls are run on the emulated processor (adamb.tools.device); how deep a job can get comes from the
upper bounds. Paper mode refreshes every cell under the ball at once, so its observe has no bound, and none is
given.

Under MicroPython (measured in native_costs.toml) a mean call is that of the measurement with the job's
dimensions. The worst one is the C core's times the instructions that this form needs for one of the C core: that
range was measured over all dimensions. All are instructions of a Cortex-M0, which a board turns into times.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from adamb.budgets.planner import PlannedJob
from adamb.tools.device.micropython.costs import CORES, PLANNED, ShapeCost, kept, shape_conditions, shape_rows

if TYPE_CHECKING:
    from adamb.budgets.boards import Board
    from adamb.budgets.cores import Range
    from adamb.budgets.planner import PlannedJob
    from adamb.tools.device.settings import DeviceSettings

TARGET = "cortex-m0"
PAPER_NOTE = "paper mode refreshes every state cell under the ball at once: no bound"


@dataclass(frozen=True)
class JobCosts:
    """Worst cases in Cortex-M0 instructions; None where there is no bound."""

    act: int
    observe: int | None
    end_episode: int | None
    stack_bytes: int
    balls: int | None
    """Those that a scan visits at most."""

    depth: int
    note: str = ""
    mean: tuple[int, int] | None = None
    """Instructions of act and observe, in the steps that the forms of MicroPython were measured with; mode tracking."""

    steps: str = ""
    """Which those were."""

    def to_json(self, board: Board | None) -> dict[str, Any]:
        """The numbers; with a board also time and energy, as ranges."""
        content: dict[str, Any] = {
            "instructions": {
                "target": TARGET,
                "act": self.act,
                "observe": self.observe,
                "end_episode": self.end_episode,
                "balls": self.balls,
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
            "end_episode": None if self.end_episode is None else list(board.seconds(self.end_episode)),
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


def measure_costs(job: PlannedJob) -> JobCosts | str:
    """The worst cases of a job, or why they cannot be had here (compiler or emulator not installed)."""
    from adamb.tools.device.emulator import core
    from adamb.tools.device.emulator.callgraph import stack_report
    from adamb.tools.device.extras import DeviceToolFailed, DeviceToolMissing
    from adamb.tools.device.latency.bounds import DeepestAct

    settings = _settings(job)
    try:
        deepest = DeepestAct(settings.config(), TARGET)
        depth = min(job.d_s * job.bound.forest.finest_leaf(job.episodes), deepest.deepest)
        act = deepest.instructions(depth)
        stack = stack_report(core.core_image(TARGET), core.HOT_PATH).bytes
        if job.mode == "paper":
            return JobCosts(act, None, None, stack, None, depth, PAPER_NOTE)
        worst = _learning_bound(settings)
        mean, steps = _mean(f"{job.d_s}+{job.d_a}")
        return JobCosts(act, worst.observe, worst.end_episode, stack, worst.balls, depth, mean=mean, steps=steps)
    except (DeviceToolMissing, DeviceToolFailed) as reason:
        return str(reason)


def _mean(dims: str) -> tuple[tuple[int, int], str]:
    from adamb.tools.device.micropython.costs import shape_conditions, shape_rows

    row = next(iter(shape_rows(dims).values()))
    return (row.c_act, row.c_observe), shape_conditions(dims)


@lru_cache(maxsize=16)
def _learning_bound(settings: DeviceSettings) -> Any:
    from adamb.tools.device.latency.bounds import LearningBound

    return LearningBound.measure(settings, TARGET)


def _settings(job: PlannedJob) -> DeviceSettings:
    from adamb.tools.device.settings import DeviceSettings

    return DeviceSettings(job.d_s, job.d_a, job.horizon, mode=job.mode, **job.settings)


FORMS = {"micropython": "bytecode", "usermod": "module"}
"""Form that runs under each runtime of `adamb plan`."""
CALLS = ("act", "observe")
PAPER_MEANS = "means were measured in mode tracking only"


@dataclass(frozen=True)
class RuntimeCosts:
    """Mean calls of all forms, the worst calls of the C core alone, and what one costs in this form."""

    form: str
    rows: dict[str, ShapeCost]
    ratios: dict[str, Range]
    alone: JobCosts | str
    measured: str
    note: str = ""

    @property
    def means(self) -> ShapeCost | None:
        """Means of the form that was asked for; None where none was measured."""
        return None if self.note else self.rows[self.form]

    def others(self, board: Board) -> dict[str, ShapeCost]:
        """Means of the other forms that the board has room for."""
        forms = {"bytecode": ("viper", "module"), "module": ("bytecode",)}[self.form]
        needs = {form: "usermod" if form == "module" else "micropython" for form in forms}
        fitting = [form for form in forms if board.available_bytes(needs[form])]
        return {} if self.note else {form: self.rows[form] for form in fitting}

    def worst(self, call: str) -> Range | None:
        """Instructions of the worst call, at the fewest and the most for one of the C core; no mean is above
        it."""
        bound = None if isinstance(self.alone, str) else getattr(self.alone, call)
        if bound is None:
            return None
        low, high = (bound * ratio for ratio in self.ratios[call])
        return max(low, getattr(self.means, call, 0)), high

    def worst_seconds(self, call: str, board: Board) -> Range | None:
        found = self.worst(call)
        return None if found is None else (board.seconds(found[0])[0], board.seconds(found[1])[1])

    def to_json(self, board: Board | None) -> dict[str, Any]:
        means = {
            form: {call: _cost(getattr(row, call), board) for call in CALLS}
            for form, row in ({} if self.note else self.rows).items()
        }
        worst: dict[str, Any] = {}
        for call in CALLS:
            found = self.worst(call)
            worst[call] = found and {"instructions": list(found)}
            if found and board is not None:
                worst[call]["seconds"] = list(self.worst_seconds(call, board) or ())
        ratios = {call: list(pair) for call, pair in self.ratios.items()}
        why = {"note": self.note or (self.alone if isinstance(self.alone, str) else self.alone.note)}
        said = {"form": self.form, "measured": self.measured, "mean": means, "worst": worst}
        return {"micropython": {**said, "instructions_per_c_instruction": ratios, **why}}


def _cost(instructions: int, board: Board | None) -> dict[str, Any]:
    if board is None:
        return {"instructions": instructions}
    seconds, energy = list(board.seconds(instructions)), list(board.energy_uj(instructions))
    return {"instructions": instructions, "seconds": seconds, "energy_uj": energy}


def runtime_costs(job: PlannedJob, runtime: str, alone: JobCosts | str) -> RuntimeCosts:
    """Costs of a job under `micropython` or `usermod`, where the C core alone costs so much."""
    content, form, dims = kept(), FORMS[runtime], f"{job.d_s}+{job.d_a}"
    shapes = [ShapeCost(**row) for row in content["shapes"]]
    per_call: dict[str, Range] = {}
    for call in CALLS:
        found = [getattr(row, call) / getattr(row, f"c_{call}") for row in shapes if row.core == form]
        per_call[call] = min(found), max(found)
    rows = shape_rows(dims)
    measured = f"MicroPython {content['micropython']} in QEMU, {shape_conditions(dims)}"
    note = PAPER_MEANS if job.mode == "paper" else ""
    return RuntimeCosts(form, {each: rows[each] for each in PLANNED}, per_call, alone, measured, note)


def form_name(form: str) -> str:
    return CORES[form].replace("`", "")
