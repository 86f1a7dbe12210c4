"""Rows of `adamb plan` for instructions, stack, time and energy; a range where the cycles are a range."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adamb.tools.measure.job_costs import CALLS, TARGET, JobCosts, RuntimeCosts, form_name

if TYPE_CHECKING:
    from adamb.budgets.boards import Board
    from adamb.budgets.cores import Range

Row = tuple[str, str, str]
TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
ENERGIES = ((1e3, "mJ"), (1.0, "µJ"))
OTHERS = {
    "viper": ("with fast.py", ""),
    "module": ("C in the firmware", "; --runtime usermod"),
    "bytecode": ("Python core", "; --runtime micropython"),
}


def cost_rows(costs: JobCosts | RuntimeCosts, board: Board | None) -> list[Row]:
    return _of_c(costs, board) if isinstance(costs, JobCosts) else _of_micropython(costs, board)


def _of_c(costs: JobCosts, board: Board | None) -> list[Row]:
    balls = costs.note or f"the worst; a scan visits up to {costs.balls} balls"
    rows = [
        *_code(costs, board),
        ("act", str(costs.act), f"instructions of the C core; {costs.depth} levels of V, {TARGET}"),
        ("observe", "no bound" if costs.observe is None else str(costs.observe), f"instructions; {balls}"),
        ("end_episode", "no bound" if costs.end_episode is None else str(costs.end_episode), "instructions; the worst"),
    ]
    if board is None:
        return rows
    rows.append(("time of act", _span(board.seconds(costs.act), 1e6, "µs"), _clock(board)))
    if costs.observe is not None:
        rows.append(("time of observe", _span(board.seconds(costs.observe), 1e3, "ms"), "the worst, for a watchdog"))
    energy = _span(board.energy_uj(costs.act), 1, "µJ")
    rows.append(("energy of act", energy, f"per decision; {_drawn(board)}"))
    if costs.observe is not None:
        energy = _span(board.energy_uj(costs.observe), 1e-3, "mJ")
        rows.append(("energy of observe", energy, "per learning step, at the worst"))
    if costs.mean is not None:
        count = costs.mean[1]
        energy = _in(board.energy_uj(count), ENERGIES)
        rows.append(("mean observe", _time(count, board), f"{count} instructions, {energy}; {costs.steps}"))
    return rows


def _code(costs: JobCosts, board: Board | None) -> list[Row]:
    """Stack and, where the board's processor says so, flash and tables."""
    code = board.core.code if board else None
    if board is None or code is None:
        return [("stack", f"{costs.stack_bytes} B", f"deepest call chain, {TARGET}")]
    tables = f"deepest seen in simavr; tables take {code.tables} B more of the reserve"
    share = f"of the plain loop with -Os -flto, {code.share_of(board.flash_bytes)}"
    return [("flash", f"{code.flash} B", share), ("stack", f"{code.stack} B", tables)]


def _of_micropython(costs: RuntimeCosts, board: Board | None) -> list[Row]:
    """Mean calls, the worst ones, and the means of the other forms; nothing that was not measured."""
    rows: list[Row] = []
    means = costs.means
    if means is not None:
        clock = "" if board is None else f"; {_clock(board)}"
        why = {"act": f"{form_name(costs.form)}{clock}", "observe": costs.measured}
        for call in CALLS:
            rows.append((f"mean {call}", _time(getattr(means, call), board), why[call]))
    for call in CALLS:
        found = costs.worst(call)
        if found is not None and not isinstance(costs.alone, str):
            fewest, most = costs.ratios[call]
            bound = getattr(costs.alone, call)
            shown = _in(costs.worst_seconds(call, board), TIMES) if board else _span(found, 1, "instr.")
            why_worst = f"{bound} instructions of the C core, each {fewest:.3g} to {most:.3g} here"
            rows.append((f"worst {call}", shown, why_worst))
    if board is None or means is None:
        return rows
    for call in CALLS:
        energy = board.energy_uj(getattr(means, call))
        rows.append((f"energy of {call}", _in(energy, ENERGIES), f"mean; {_drawn(board)}"))
    for form, row in costs.others(board).items():
        name, option = OTHERS[form]
        rows.append((name, _time(row.act, board), f"mean act; observe {_time(row.observe, board)}{option}"))
    return rows


def _clock(board: Board) -> str:
    low, high = board.cycles_per_instruction
    cycles = f"{low:.2f}–{high:.2f} cycles" + (" (estimate)" if board.estimate else "")
    return f"{board.clock_hz / 1e6:g} MHz, {board.core.model}, {cycles}"


def _drawn(board: Board) -> str:
    current = board.figures["active_current_ua"]
    return f"{_span((current.low, current.high), 1e-3, 'mA')} at {board.figures['supply_mv'].low / 1000:g} V"


def _time(instructions: int, board: Board | None) -> str:
    return f"{instructions} instr." if board is None else _in(board.seconds(instructions), TIMES)


def _in(pair: Range | None, units: tuple[tuple[float, str], ...]) -> str:
    """In the unit that suits the higher end."""
    assert pair is not None
    size, unit = next((each for each in units if pair[1] >= each[0]), units[-1])
    return _span(pair, 1 / size, unit)


def _span(pair: Range, scale: float, unit: str) -> str:
    low, high = map(_number, (pair[0] * scale, pair[1] * scale))
    return f"{low} {unit}" if low == high else f"{low}–{high} {unit}"


def _number(value: float) -> str:
    """Three digits, and no exponent."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
