"""One latency measurement: what is asked for, the recorded run, its replay with a meter, and the figures of that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from rich import box
from rich.table import Table

from adamb.budgets.battery import Battery
from adamb.budgets.boards import load_board
from adamb.budgets.bounds import paper
from adamb.budgets.bounds.exact import ForestBound, TreeBound
from adamb.firmware_model.host.errors import InputError
from adamb.host_sim.agents import check_horizon
from adamb.host_sim.files import csv_bytes, json_bytes
from adamb.host_sim.results.measurements import (
    CURVES,
    LATENCY,
    BoardTimes,
    CycleEstimate,
    LatencyCurves,
    LatencySummary,
    Quantiles,
)
from adamb.tools.device.emulator import avr
from adamb.tools.device.emulator.compile import MemoryMap
from adamb.tools.device.emulator.core import HostCore
from adamb.tools.device.latency import meters
from adamb.tools.device.latency.bounds import DeepestAct, LearningBound
from adamb.tools.device.latency.meters import CallCosts, measure_micropython
from adamb.tools.device.settings import DeviceSettings
from adamb.tools.device.stream import Stream, record
from adamb.tools.options import PlayedProblem

if TYPE_CHECKING:
    from adamb.budgets.boards import Board


@dataclass(frozen=True)
class LatencyRequest:
    """A measurement to make."""

    played: PlayedProblem
    target: str
    budget_bytes: int
    options: dict[str, Any]
    optimise: str = "size"
    board: str | None = None
    battery: Battery | None = None

    @property
    def problem(self) -> str:
        return self.played.problem

    @property
    def seed(self) -> int:
        return self.played.seeds[0]


def record_stream(request: LatencyRequest) -> tuple[DeviceSettings, Stream]:
    """Play the problem on the host and write down what the controller saw."""
    made = request.played.make()
    check_horizon(made.horizon)
    settings = DeviceSettings(made.d_s, made.d_a, made.horizon, seed=request.seed & 0xFFFF, **request.options)
    config, words = settings.config(), request.budget_bytes // 2
    if words < settings.required_words():
        needed = 2 * settings.required_words()
        raise InputError("budget", request.budget_bytes, f"this configuration needs {needed} bytes")
    core = HostCore(config, words)
    return settings, record(request.problem, made, core, config, words, request.played.episodes)


def measure(
    request: LatencyRequest, settings: DeviceSettings, stream: Stream, say: Callable[[str], None] = lambda text: None
) -> meters.CallCosts:
    """Replay on the target with a meter on every call; `say` gets the progress."""
    say(f"replaying {stream.episodes} episodes on {request.target}")
    if request.target == "host":
        return meters.measure_host(stream)
    if request.target == "micropython":
        return measure_micropython(stream, settings.fields())
    if request.target in avr.PROCESSORS:
        return meters.measure_avr(stream, request.target, say=say)
    memory = None
    if request.board is not None:
        board = load_board(request.board)
        memory = MemoryMap(flash_bytes=board.flash_bytes, ram_bytes=board.ram_bytes)
    return meters.measure_cortex(stream, request.target, optimise=request.optimise, memory=memory, say=say)


def quantiles(costs: np.ndarray) -> Quantiles:
    """Mean, two tail quantiles and the worst call; a quantile is a cost that really occurred."""
    flat = costs.ravel()
    return Quantiles(
        mean=round(float(flat.mean()), 3),
        p99=float(np.quantile(flat, 0.99, method="higher")),
        p999=float(np.quantile(flat, 0.999, method="higher")),
        max=float(flat.max()),
    )


def growth_exponent(per_episode: np.ndarray) -> float:
    """x of a total cost that grows like K^x, fitted to the running sum over the last 95 % of the episodes."""
    k = np.arange(1, len(per_episode) + 1)
    kept = k > len(k) // 20
    slope, _ = np.polyfit(np.log(k[kept]), np.log(np.cumsum(per_episode)[kept]), 1)
    return round(float(slope), 4)


@dataclass(frozen=True)
class LatencyReport:
    """One measurement with everything it is compared to."""

    settings: DeviceSettings
    stream: Stream
    costs: CallCosts
    request: LatencyRequest

    @property
    def is_cortex(self) -> bool:
        return self.costs.unit == "instructions"

    @cached_property
    def _deepest(self) -> DeepestAct | None:
        if not self.is_cortex:
            return None
        return DeepestAct(self.stream.config, self.costs.target, self.request.optimise)

    @cached_property
    def bound_act(self) -> int | None:
        """No act costs more, whatever is learnt; on the Cortex targets only."""
        return self._deepest.instructions(self._deepest.deepest) if self._deepest else None

    @cached_property
    def bound_act_by_episode(self) -> np.ndarray | None:
        """The same for an act of episode k: balls cannot be finer than the upper bound on levels allows."""
        if self._deepest is None:
            return None
        forest = ForestBound(TreeBound(self.settings.rule), self.settings.horizon, self.settings.sharing)
        levels = np.array([forest.finest_leaf(k) for k in range(1, self.stream.episodes + 1)])
        depths = np.minimum(self.settings.d_s * levels, self._deepest.deepest)
        by_depth = {int(d): self._deepest.instructions(int(d)) for d in np.unique(depths)}
        return np.array([by_depth[int(d)] for d in depths])

    @cached_property
    def bound_learning(self) -> LearningBound | None:
        """No observe and no end_episode costs more; in tracking mode on the Cortex targets only."""
        if not self.is_cortex or self.settings.is_paper:
            return None
        return LearningBound.measure(self.settings, self.costs.target, self.request.optimise)

    @property
    def bound_observe_by_episode(self) -> np.ndarray | None:
        """The same in every episode."""
        bound = self.bound_learning
        return None if bound is None else np.full(self.stream.episodes, bound.observe)

    @property
    def exponent_paper(self) -> float:
        """x of the paper's total time K^x."""
        s = self.settings
        bound = paper.time(
            self.stream.episodes, horizon=s.horizon, d=s.d_s + s.d_a, d_s=s.d_s,
            gamma=float(s.split_gamma), phi=float(s.split_phi),
        )  # fmt: skip
        return float(bound.exponent or 1)

    @property
    def per_episode(self) -> np.ndarray:
        return np.asarray((self.costs.act + self.costs.observe).sum(axis=1))

    def violations(self) -> list[str]:
        """Bounds that a measured call exceeded."""
        found = []
        for name, costs, limit in (
            ("act", self.costs.act, self.bound_act_by_episode),
            ("observe", self.costs.observe, self.bound_observe_by_episode),
        ):
            if limit is None:
                continue
            worst = costs.max(axis=1)
            late = np.flatnonzero(worst > limit)
            if late.size:
                k = int(late[0])
                found.append(f"{name} took {worst[k]} instructions in episode {k}, the bound is {limit[k]}")
        measured, static = self.costs.stack_measured_bytes, self.costs.stack_bytes
        if measured is not None and static is not None and measured > static:
            found.append(f"{measured} bytes of stack were used, the analysis says {static}")
        return found

    @cached_property
    def summary(self) -> LatencySummary:
        costs, learning = self.costs, self.bound_learning
        return LatencySummary(
            problem=self.request.problem,
            target=costs.target,
            unit=costs.unit,
            note=costs.note,
            mode=self.settings.mode,
            share=self.settings.sharing,
            optimise=self.request.optimise,
            budget_bytes=self.request.budget_bytes,
            episodes=self.stream.episodes,
            horizon=self.stream.horizon,
            seed=self.request.seed,
            act=quantiles(costs.act),
            observe=quantiles(costs.observe),
            cycles=self._cycles(),
            board=self._board(),
            stack_bytes=costs.stack_bytes,
            stack_measured_bytes=costs.stack_measured_bytes,
            flash_bytes=costs.flash_bytes,
            flash_check_bytes=costs.flash_check_bytes,
            ram_bytes=costs.ram_bytes,
            start_peak=costs.start,
            bound_act=self.bound_act,
            bound_observe=None if learning is None else learning.observe,
            bound_end_episode=None if learning is None else learning.end_episode,
            exponent_measured=growth_exponent(self.per_episode),
            exponent_paper=round(self.exponent_paper, 4),
            violations=self.violations(),
        )

    def _cycles(self) -> CycleEstimate | None:
        """The Cortex-M0+ estimate: flash without wait states, and with one."""
        if self.costs.cycles_act is None or self.costs.cycles_observe is None:
            return None
        act, observe = ([quantiles(side) for side in sides] for sides in
                        (self.costs.cycles_act, self.costs.cycles_observe))  # fmt: skip
        return CycleEstimate("cortex-m0plus", [0, 1], act, observe)

    def _board(self) -> BoardTimes | None:
        """Microseconds of the worst calls at a board's clock, by its own model of cycles per instruction, and
        microjoules of the mean ones."""
        if self.request.board is None or not self.is_cortex:
            return None
        board = load_board(self.request.board)
        act, observe = (
            [round(1e6 * side, 3) for side in board.seconds(float(costs.max()), self.costs.target)]
            for costs in (self.costs.act, self.costs.observe)
        )
        means = [float(costs.mean()) for costs in (self.costs.act, self.costs.observe)]
        joules = [[round(side, 4) for side in board.energy_uj(mean, self.costs.target)] for mean in means]
        life = self._battery(board, sum(means))
        return BoardTimes(board.name, board.estimate, act, observe, joules[0], joules[1], life)

    def _battery(self, board: Board, instructions: float) -> dict[str, Any] | None:
        """The life of a battery with a mean act and a mean observe per period."""
        asked, busy = self.request.battery, board.seconds(instructions, self.costs.target)
        if asked is None:
            return None
        return {**asked.to_json(board, busy), "sentence": asked.sentence(board, busy, "mean")}

    def files(self) -> dict[str, bytes]:
        """Cost against episode number, then the summary: where that is, the folder is complete."""
        act, observe = self.costs.act, self.costs.observe
        limits = [self.bound_act_by_episode, self.bound_observe_by_episode]
        rows = (
            (
                k, act[k].mean(), act[k].max(), observe[k].mean(), observe[k].max(),
                *("" if limit is None else limit[k] for limit in limits),
            )
            for k in range(self.stream.episodes)
        )  # fmt: skip
        header = [each.name for each in fields(LatencyCurves)]
        return {CURVES: csv_bytes(header, rows), LATENCY: json_bytes(self.summary.to_json())}


def table(report: LatencyReport) -> Table:
    """The figures that a person wants to see first."""
    found = report.summary
    title = f"{found.problem} on {found.target}, {found.unit} per call"
    table = Table(title=title, caption=_caption(report, found), box=box.SIMPLE_HEAD)
    for heading in ("", "mean", "p99", "p99.9", "max", "bound"):
        table.add_column(heading, justify="left" if not heading else "right")
    sides = {"act": (found.act, found.bound_act), "observe": (found.observe, found.bound_observe)}
    for name, (row, bound) in sides.items():
        table.add_row(name, *_figures(row), "" if bound is None else f"{bound:,.0f}")
        if found.cycles is not None:
            cycles = found.cycles.act if name == "act" else found.cycles.observe
            for waits, side in zip(found.cycles.wait_states, cycles, strict=True):
                table.add_row(f"  cycles, {waits} wait", *_figures(side), "")
    if found.bound_end_episode is not None:
        table.add_row("end_episode", *4 * [""], f"{found.bound_end_episode:,.0f}")
    return table


def _figures(row: Quantiles) -> list[str]:
    return [f"{value:,.0f}" for value in (row.mean, row.p99, row.p999, row.max)]


def _caption(report: LatencyReport, found: LatencySummary) -> str:
    parts = [found.note]
    if found.cycles is not None:
        parts.append("cycles are an estimate for a Cortex-M0+ with 0 and 1 flash wait states")
    for size, what in (
        (found.stack_bytes, "stack"), (found.flash_bytes, "flash"),
        (found.flash_check_bytes, "adamb_check, if linked, another"), (found.ram_bytes, "RAM"),
    ):  # fmt: skip
        if size is not None:
            parts.append(f"{what} {size:,} bytes")
    for kind, peak in (found.start_peak or {}).items():
        parts.append(f".{kind}: heap {peak['import_bytes']:,} bytes to import, {peak['init_bytes']:,} after init")
    growth = f"total cost grows like K^{found.exponent_measured:.2f}"
    parts.append(f"{growth} (paper {found.exponent_paper:.2f})")
    parts += [f"VIOLATED: {line}" for line in found.violations]
    if found.board is not None:
        low, high = found.board.act_max_us
        parts.append(f"worst act on {found.board.name}: {low:,.1f} to {high:,.1f} µs")
        energies = ((found.board.act_mean_uj, "decision"), (found.board.observe_mean_uj, "learning step"))
        for energy, what in energies:
            if energy is not None:
                parts.append(f"mean energy of a {what}: {energy[0]:.3g} to {energy[1]:.3g} µJ")
        if found.board.battery is not None:
            parts.append(found.board.battery["sentence"])
    return "; ".join(parts)
