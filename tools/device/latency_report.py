"""Figures of a latency measurement: quantiles, bounds, exponents, and the table that shows them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from adamb.budgets import bounds_paper
from adamb.budgets.bounds_exact import ForestBound, TreeBound
from adamb.tools.device.measure import Costs, DeepestAct
from adamb.tools.device.observe_bound import ObserveBound

if TYPE_CHECKING:
    from rich.table import Table

    from adamb.tools.device.heaviest import Worst
    from adamb.tools.device.settings import Settings
    from adamb.tools.device.stream import Stream
    from adamb.tools.latency_command import Request

CSV_HEADER = (
    "episode", "act_mean", "act_max", "observe_mean", "observe_max", "bound_act", "bound_observe",
)  # fmt: skip


def quantiles(costs: np.ndarray) -> dict[str, float]:
    """Mean, two tail quantiles and the worst call; a quantile is a cost that really occurred."""
    flat = costs.ravel()
    return {
        "mean": round(float(flat.mean()), 3),
        "p99": float(np.quantile(flat, 0.99, method="higher")),
        "p999": float(np.quantile(flat, 0.999, method="higher")),
        "max": float(flat.max()),
    }


def growth_exponent(per_episode: np.ndarray) -> float:
    """x of a total cost that grows like K^x, fitted to the running sum over the last 95 % of the episodes."""
    k = np.arange(1, len(per_episode) + 1)
    kept = k > len(k) // 20
    slope, _ = np.polyfit(np.log(k[kept]), np.log(np.cumsum(per_episode)[kept]), 1)
    return round(float(slope), 4)


@dataclass(frozen=True)
class Report:
    """One measurement with everything it is compared to."""

    settings: Settings
    stream: Stream
    costs: Costs
    request: Request
    worst: Worst | None = None

    @classmethod
    def build(
        cls, settings: Settings, stream: Stream, costs: Costs, request: Request, worst: Worst | None = None
    ) -> Report:
        return cls(settings, stream, costs, request, worst)

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
        """The same for an act of episode k: balls cannot be finer than the exact bound on levels allows."""
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
        bound = bounds_paper.time(
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

    def to_json(self) -> dict[str, Any]:
        costs = self.costs
        return {
            "problem": self.request.problem,
            "target": costs.target,
            "unit": costs.unit,
            "note": costs.note,
            "mode": self.settings.mode,
            "share": self.settings.sharing,
            "optimise": self.request.optimise,
            "budget_bytes": self.request.budget_bytes,
            "episodes": self.stream.episodes,
            "horizon": self.stream.horizon,
            "seed": self.request.seed,
            "act": quantiles(costs.act),
            "observe": quantiles(costs.observe),
            "worst_of": None if self.worst is None else self.worst.to_json(),
            "cycles": self._cycles(),
            "board": self._board(),
            "stack_bytes": costs.stack_bytes,
            "stack_measured_bytes": costs.stack_measured_bytes,
            "flash_bytes": costs.flash_bytes,
            "flash_check_bytes": costs.flash_check_bytes,
            "ram_bytes": costs.ram_bytes,
            "start_peak": costs.start,
            "bound_act": self.bound_act,
            "bound_observe": self.bound_observe,
            "exponent_measured": growth_exponent(self.per_episode),
            "exponent_paper": round(self.exponent_paper, 4),
            "violations": self.violations(),
        }

    def _cycles(self) -> dict[str, Any] | None:
        """The Cortex-M0+ estimate: flash without wait states, and with one."""
        if self.costs.cycles_act is None or self.costs.cycles_observe is None:
            return None
        return {
            "core": "cortex-m0plus",
            "wait_states": [0, 1],
            "act": [quantiles(side) for side in self.costs.cycles_act],
            "observe": [quantiles(side) for side in self.costs.cycles_observe],
        }

    def _board(self) -> dict[str, Any] | None:
        """Microseconds of the worst calls at a board's clock, by its own model of cycles per instruction."""
        if self.request.board is None or not self.is_cortex:
            return None
        from adamb.budgets.boards import load_board

        board = load_board(self.request.board)
        found: dict[str, Any] = {"name": board.name, "estimate": board.estimate}
        for name, costs in (("act", self.costs.act), ("observe", self.costs.observe)):
            found[f"{name}_max_us"] = [round(1e6 * side, 3) for side in board.seconds(float(costs.max()))]
        return found

    def csv(self) -> bytes:
        """Cost against episode number."""
        from adamb.tools.outputs import csv_bytes

        act, observe = self.costs.act, self.costs.observe
        limits = [self.bound_act_by_episode, self.bound_observe_by_episode]
        rows = (
            (
                k, act[k].mean(), act[k].max(), observe[k].mean(), observe[k].max(),
                *("" if limit is None else limit[k] for limit in limits),
            )
            for k in range(self.stream.episodes)
        )  # fmt: skip
        return csv_bytes(CSV_HEADER, rows)


def table(report: Report) -> Table:
    """What a person wants to see first."""
    from rich import box
    from rich.table import Table

    costs, content = report.costs, report.to_json()
    title = f"{content['problem']} on {content['target']}, {costs.unit} per call"
    table = Table(title=title, caption=_caption(report, content), box=box.SIMPLE_HEAD)
    for heading in ("", "mean", "p99", "p99.9", "max", "bound"):
        table.add_column(heading, justify="left" if not heading else "right")
    for name in ("act", "observe"):
        row, bound = content[name], content[f"bound_{name}"]
        figures = [f"{row[key]:,.0f}" for key in ("mean", "p99", "p999", "max")]
        table.add_row(name, *figures, "" if bound is None else f"{bound:,.0f}")
        if content["cycles"]:
            for waits, side in zip(content["cycles"]["wait_states"], content["cycles"][name], strict=True):
                figures = [f"{side[key]:,.0f}" for key in ("mean", "p99", "p999", "max")]
                table.add_row(f"  cycles, {waits} wait", *figures, "")
    return table


def _caption(report: Report, content: dict[str, Any]) -> str:
    parts = [report.costs.note]
    if content["cycles"]:
        parts.append("cycles are an estimate for a Cortex-M0+ with 0 and 1 flash wait states")
    for key, what in (
        ("stack_bytes", "stack"), ("flash_bytes", "flash"),
        ("flash_check_bytes", "adamb_check, if linked, another"), ("ram_bytes", "RAM"),
    ):  # fmt: skip
        if content[key] is not None:
            parts.append(f"{what} {content[key]:,} bytes")
    for kind, peak in (report.costs.start or {}).items():
        parts.append(
            f".{kind}: heap {peak['import_bytes']:,} bytes to import, {peak['init_bytes']:,} after init"
        )
    if report.worst is not None:
        seen = report.worst
        parts.append(
            f"dearest observe of {seen.steps:,} steps {seen.observe_max:,} (mean {seen.observe_mean})"
        )
    growth = f"total cost grows like K^{content['exponent_measured']:.2f}"
    parts.append(f"{growth} (paper {content['exponent_paper']:.2f})")
    parts += [f"VIOLATED: {line}" for line in content["violations"]]
    if content["board"]:
        low, high = content["board"]["act_max_us"]
        parts.append(f"worst act on {content['board']['name']}: {low:,.1f} to {high:,.1f} µs")
    return "; ".join(parts)
