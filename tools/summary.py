"""What a run has shown, as a table for people and as columns for a spreadsheet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.table import Table
from rich.text import Text

from adamb.budgets.sizes import format_bytes
from adamb.host_sim.runner import LAST, Estimate, half_widths

if TYPE_CHECKING:
    from adamb.host_sim.runner import RunResult

COUNTER_LABELS = {
    "leaves": "leaves",
    "refused_splits": "refused splits",
    "reclaims": "reclaims",
    "saturations": "saturations",
    "restarts": "restarts",
}
CURVES = (
    "episode",
    "reward_mean",
    "reward_ci95",
    "optimal_mean",
    "regret_mean",
    "bytes_mean",
    "bytes_max",
)


def run_title(problem: str, agent: str, core: str | None, budget_bytes: int | None) -> str:
    cap = "no cap" if budget_bytes is None else f"cap {format_bytes(budget_bytes)}"
    return f"{problem} · {agent}{f' ({core} core)' if core else ''} · {cap}"


def seeds_text(seeds: tuple[int, ...]) -> str:
    return str(seeds[0]) if len(seeds) == 1 else f"{seeds[0]}..{seeds[-1]}"


def table(result: RunResult) -> Table:
    """Every figure with its interval over the seeds; counters are means over the seeds."""
    rows = Table(
        title=run_title(result.problem, result.agent, result.core, result.budget_bytes),
        title_justify="left",
        title_style="bold",
        show_header=False,
    )
    rows.add_column("", style="cyan", no_wrap=True)
    rows.add_column("")
    for label, text in lines(result):
        rows.add_row(label, Text(text))
    return rows


def lines(result: RunResult) -> list[tuple[str, str]]:
    """The rows of the table."""
    share, recent_share, regret = result.share(), result.share(LAST), result.regret()
    last = min(LAST, result.episodes)
    rows = [
        ("reward per episode", str(result.reward())),
        (f"last {last} episodes", str(result.reward(LAST))),
    ]
    if share is not None and recent_share is not None:
        rows.append(("share of the optimum", f"{percent(share)}; last {last}: {percent(recent_share)}"))
    if regret is not None:
        rows.append(("regret", f"{regret} over {result.episodes} episodes"))
    rows.append(("memory, worst seed", _memory(result)))
    environment = 1e6 * result.seconds["environment"] / result.returns.size / result.horizon
    rows.append(
        ("time per step", f"{result.microseconds_per_step():.3g} µs (environment {environment:.3g} µs apart)")
    )
    for name, label in COUNTER_LABELS.items():
        mean = result.mean_stat(name)
        if mean is not None:
            rows.append((label, f"{mean:.4g}"))
    if result.clipped.any():
        rows.append(("clipped actions", f"{result.clipped.mean():.4g}"))
    if result.settings.get("mode"):
        rows.append(("mode", f"{result.settings['mode']}, share {result.settings.get('share')}"))
    rows.append(("episodes", f"{result.episodes} of {result.horizon} steps"))
    rows.append(("seeds", f"{seeds_text(result.seeds)} (intervals: 95 % over {len(result.seeds)} seeds)"))
    if len(result.seeds) == 1:
        rows[-1] = ("seeds", f"{result.seeds[0]} (one seed gives no interval; try --seeds 10)")
    return rows


def percent(value: Estimate) -> str:
    interval = "" if value.ci95 is None else f" ± {100 * value.ci95:.1f}"
    return f"{100 * value.mean:.1f}{interval} %"


def _memory(result: RunResult) -> str:
    peak = int(result.bytes_peak.max())
    if result.budget_bytes is None:
        return f"{format_bytes(peak)}, no cap"
    share = 100 * peak / result.budget_bytes
    return f"{format_bytes(peak)} of {format_bytes(result.budget_bytes)} ({share:.0f} %)"


def curve_rows(result: RunResult) -> list[list[object]]:
    """One row per episode under the names of CURVES; bytes only where they were recorded."""
    reward, half = result.returns.mean(axis=0), half_widths(result.returns)
    single = len(result.seeds) == 1
    recorded = {int(point): column for column, point in enumerate(result.points)}
    regret = None if result.optimal is None else np.cumsum((result.optimal - result.returns).mean(axis=0))
    best = None if result.optimal is None else result.optimal.mean(axis=0)
    rows: list[list[object]] = []
    for k in range(result.episodes):
        column = recorded.get(k + 1)
        in_use = None if column is None else result.bytes[:, column]
        rows.append(
            [
                k + 1,
                repr(float(reward[k])),
                "" if single else repr(float(half[k])),
                "" if best is None else repr(float(best[k])),
                "" if regret is None else repr(float(regret[k])),
                "" if in_use is None else repr(float(in_use.mean())),
                "" if in_use is None else int(in_use.max()),
            ]
        )
    return rows
