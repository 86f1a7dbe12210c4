"""Time and energy of a planned job under MicroPython, from what was measured there (native_costs.toml).

A mean call is that of the measurement with the job's dimensions. The worst one is the C core's, which plan
runs on the emulated processor, times the instructions that this form needs for one of the C core: that range
was measured over all dimensions. Both are instructions of a Cortex-M0, which a board turns into times.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adamb.tools.device.micropython.costs import (
    CORES,
    PLANNED,
    ShapeCost,
    kept,
    shape_conditions,
    shape_rows,
)
from adamb.tools.measure.job_costs import JobCosts

if TYPE_CHECKING:
    from adamb.budgets.boards import Board
    from adamb.budgets.cores import Range
    from adamb.budgets.planner import PlannedJob

FORMS = {"micropython": "bytecode", "usermod": "module"}
"""What runs under each runtime of `adamb plan`."""
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
        """Of the form that was asked for; None where none was measured."""
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
    """What a job costs under `micropython` or `usermod`, where the C core alone costs so much."""
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
