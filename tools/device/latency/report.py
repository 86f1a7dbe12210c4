"""Figures of a latency measurement: quantiles, bounds, exponents, and the table that shows them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from rich import box
from rich.table import Table

from adamb.budgets.boards import load_board
from adamb.budgets.bounds import paper
from adamb.budgets.bounds.exact import ForestBound, TreeBound
from adamb.host_sim.files import csv_bytes, json_bytes
from adamb.host_sim.results.latency import (
    CURVES,
    LATENCY,
    BoardTimes,
    CycleEstimate,
    LatencyCurves,
    LatencySummary,
    Quantiles,
)
from adamb.tools.device.latency.meters import CallCosts, DeepestAct
from adamb.tools.device.latency.observe_bound import ObserveBound

if TYPE_CHECKING:
    from adamb.budgets.boards import Board
    from adamb.tools.device.latency.heaviest import Worst
    from adamb.tools.device.latency.measurement import LatencyRequest
    from adamb.tools.device.settings import DeviceSettings
    from adamb.tools.device.stream import Stream


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
    worst: Worst | None = None

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
    def _observe_bound(self) -> ObserveBound | None:
        if not self.is_cortex or self.settings.is_paper:
            return None
        return ObserveBound.measure(self.settings, self.costs.target, self.request.optimise)

    @cached_property
    def bound_observe_by_episode(self) -> np.ndarray | None:
        """No observe of episode k costs more; in tracking mode on the Cortex targets only."""
        bound = self._observe_bound
        if bound is None:
            return None
        relevant = bound.relevant_by_episode(self.stream.episodes, 2 * self.stream.words)
        return np.asarray(bound.instructions(relevant))

    @property
    def bound_observe(self) -> int | None:
        """No observe within the episodes measured can cost more."""
        limit = self.bound_observe_by_episode
        return None if limit is None else int(limit[-1])

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
        costs = self.costs
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
            worst_of=None if self.worst is None else self.worst.to_json(),
            cycles=self._cycles(),
            board=self._board(),
            stack_bytes=costs.stack_bytes,
            stack_measured_bytes=costs.stack_measured_bytes,
            flash_bytes=costs.flash_bytes,
            flash_check_bytes=costs.flash_check_bytes,
            ram_bytes=costs.ram_bytes,
            start_peak=costs.start,
            bound_act=self.bound_act,
            bound_observe=self.bound_observe,
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
        """How long a battery lasts with a mean act and a mean observe in each period."""
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
    """What a person wants to see first."""
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
        parts.append(
            f".{kind}: heap {peak['import_bytes']:,} bytes to import, {peak['init_bytes']:,} after init"
        )
    if report.worst is not None:
        seen = report.worst
        parts.append(f"worst observe of {seen.steps:,} steps {seen.observe_max:,} (mean {seen.observe_mean})")
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
