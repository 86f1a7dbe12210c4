"""Energy of the calls of a run on a target, and the life of a battery with them.

An emulated Cortex-M0 counts instructions, which the profile of a board turns into time; so does a Cortex-M3,
for boards that execute its instructions. A board that runs the controller itself measures the time. Other
targets (other instructions, a computer) say nothing about a board.
"""

from __future__ import annotations

from typing import Any

from adamb.budgets.battery import Battery
from adamb.budgets.boards import Board, load_board
from adamb.budgets.cores import Range
from adamb.firmware_model.host.errors import InputError

CALLS = ("act", "observe")
ON_BOARD = "board:"
NEEDS = "needs the currents of a --board, and --core cortex-m0 or board:PORT"


def measures_a_board(core: object, board: Board) -> bool:
    """True if every target of `--core` gives figures that the board's profile can be applied to."""
    names = [name.strip() for name in str(core).split(",")]
    return all(name.startswith(ON_BOARD) or board.cycles_of(name) is not None for name in names)


def why_no_energy(found: dict[str, Any], board: Board) -> str:
    """The reason why there is no energy, and the remedy."""
    names, other = ", ".join(found["names"]), "take --core cortex-m0 or board:PORT"
    if not found["unit"]:
        return f"none: {names} has no clock; take --core cortex-m0, or a board that has one"
    if all(name.startswith("micropython") for name in found["names"]):
        other += f", or ask adamb plan --board {board.name}"
    return f"none: what {names} counts is not what {board.name} executes; {other}"


def asked_battery(battery: str | None, board: str | None, core: object) -> Battery | None:
    asked = Battery.asked(battery)
    if asked is not None and (board is None or not measures_a_board(core, load_board(board))):
        raise InputError("battery", battery, NEEDS)
    return asked


def _seconds(found: dict[str, Any], call: str, board: Board) -> Range | None:
    """Of a mean call."""
    mean = float(found[call]["mean"]) if call in found else None
    if mean is None:
        return None
    unit, names = found["unit"], found["names"]
    if unit == "instructions":
        cycles = board.cycles_of(names[0]) if len(set(names)) == 1 else None
        return cycles and (mean * cycles[0] / board.clock_hz, mean * cycles[1] / board.clock_hz)
    if not all(name.startswith(ON_BOARD) for name in names) or unit not in ("µs", "cycles"):
        return None
    time = mean * 1e-6 if unit == "µs" else mean / board.clock_hz
    return time, time


def energy(found: dict[str, Any], board: Board, battery: Battery | None) -> dict[str, Any] | None:
    """Microjoules of a mean act and observe, and the battery if one was asked about; None without times."""
    times = [_seconds(found, call, board) for call in CALLS]
    if None in times:
        return None
    current, volts = board.figures["active_current_ua"], board.figures["supply_mv"].low / 1000
    made: dict[str, Any] = {"board": board.name}
    busy = [0.0, 0.0]
    for call, time in zip(CALLS, times, strict=True):
        assert time is not None
        made[f"{call}_uj"] = [time[0] * current.low * volts, time[1] * current.high * volts]
        busy = [busy[0] + time[0], busy[1] + time[1]]
    if battery is not None:
        made["battery"] = _lasting(battery, board, (busy[0], busy[1]))
    return made


def _lasting(battery: Battery, board: Board, busy: Range) -> dict[str, Any]:
    """A period that the calls do not fit into is known after the run: it costs the sentence, not the run."""
    try:
        return {
            **battery.to_json(board, busy), "sentence": battery.sentence(board, busy, "the mean"),
        }  # fmt: skip
    except InputError as error:
        return {"sentence": f"does not last: {error}"}
