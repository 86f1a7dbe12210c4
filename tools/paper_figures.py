"""The paper's figures from a finished sweep: reward and partition size, partitions over Q, Q* heat maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adamb.host_sim.partition_watch import Box
from adamb.host_sim.runner import half_widths
from adamb.tools.plots import GREY, STYLE, _render

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STEP = 1
"""The step whose Q is drawn, 0-based: the paper draws Q_2."""
COLOURS = {
    "AdaMB": "#0072B2",
    "AdaMB γ=2": "#999999",
    "AdaMB 4^l": "#56B4E9",
    "AdaMB tracking": "#004060",
    "AdaQL": "#009E73",
    "epsilonQL": "#E69F00",
    "epsilonMB": "#D55E00",
    "epsilonMB full": "#CC79A7",
}
DASHES: dict[str, Any] = {"epsilonQL": (0, (6, 3)), "epsilonMB": (3, (6, 3)), "epsilonMB full": (0, (2, 2))}
Q_COLOURS = "viridis"

Curves = Mapping[str, tuple[np.ndarray, np.ndarray, np.ndarray | None]]
"""Algorithm -> episodes (points,), reward (seeds, points), leaves (seeds, points)."""


def collect_curves(results: Sequence[tuple[Any, Mapping[str, Any]]], problem: str) -> dict[str, Any]:
    """The curves of one problem, the seeds of its cells put together."""
    parts: dict[str, list[Mapping[str, Any]]] = {}
    for cell, outcome in results:
        if cell.problem_label == problem and outcome.get("curves"):
            parts.setdefault(cell.agent_label, []).append(outcome["curves"])
    found = {}
    for agent, group in parts.items():
        leaves = [part["leaves"] for part in group]
        found[agent] = (
            np.array(group[0]["episodes"]),
            np.concatenate([np.array(part["reward"]) for part in group]),
            None if None in leaves else np.concatenate([np.array(part) for part in leaves]),
        )
    return found


def curves_figure(problem: str, curves: Curves, optimal: float | None) -> Figure:
    """Reward and partition size over the episodes, 95 % bands over the seeds."""
    from matplotlib.ticker import LogLocator, NullLocator

    figure = _figure(8.8, 6.8, 2, 1, sharex=True)
    top, bottom = figure.axes
    _lines(top, {agent: (at, reward) for agent, (at, reward, _) in curves.items()})
    _lines(bottom, {agent: (at, leaves) for agent, (at, _, leaves) in curves.items() if leaves is not None})
    if optimal is not None:
        top.axhline(optimal, color=GREY, linewidth=1.2, linestyle=(0, (5, 2)), label="optimum V*")
    top.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    seeds = max(len(reward) for _, reward, _ in curves.values())
    top.set_title(f"{problem}: {seeds} seeds, 95 % bands")
    top.set_ylabel("reward per episode")
    bottom.set_ylabel("leaves of all steps")
    bottom.set_yscale("log")
    bottom.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    bottom.yaxis.set_major_formatter("{x:.0f}")
    bottom.yaxis.set_minor_locator(NullLocator())
    bottom.set_xlabel("episode")
    return figure


def _lines(axes: Axes, lines: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> None:
    """Dashed for the grids: several of them have exactly the same size."""
    for agent, (episodes, values) in lines.items():
        colour = COLOURS.get(agent, GREY)
        mean, half = values.mean(axis=0), half_widths(values)
        axes.fill_between(episodes, mean - half, mean + half, color=colour, alpha=0.18, linewidth=0)
        style = DASHES.get(agent, "solid")
        axes.plot(episodes, mean, color=colour, linewidth=1.8, linestyle=style, label=agent)
        axes.set_xlim(0, episodes[-1])


def partition_figure(problem: str, boxes: Mapping[str, list[Box]], optimum: np.ndarray | None) -> Figure:
    """Boxes coloured by Q for each algorithm, then the exact Q*; every panel has colours of its own, because
    optimism differs more between algorithms than Q does between balls."""
    panels = len(boxes) + (optimum is not None)
    columns = (panels + 1) // 2
    figure = _figure(0.6 + 2.7 * columns, 6.2, 2, columns, sharex=True, sharey=True)
    axes = figure.axes
    for panel, (agent, found) in zip(axes, boxes.items(), strict=False):
        known = [box.q for box in found if box.visited] or [box.q for box in found]
        _draw(panel, found, (min(known), max(known)))
        panel.set_title(f"{agent}\n{len(found)} balls, Q {min(known):.2f} to {max(known):.2f}", fontsize=9)
    if optimum is not None:
        panel = axes[len(boxes)]
        panel.imshow(optimum.T, origin="lower", extent=(0, 1, 0, 1), cmap=Q_COLOURS, aspect="equal")
        panel.set_title(f"exact Q*\n{optimum.min():.2f} to {optimum.max():.2f}", fontsize=9)
    for panel in axes:
        panel.grid(False)
    for panel in axes[panels:]:
        panel.set_visible(False)
    figure.suptitle(f"{problem}: Q of step {STEP + 1}, one seed (across: state, up: action)", fontsize=12)
    return figure


def _draw(axes: Axes, boxes: list[Box], limits: tuple[float, float]) -> None:
    from matplotlib.collections import PolyCollection

    square = np.array([(0, 0), (1, 0), (1, 1), (0, 1)])
    corners = np.array([(box.state, box.action) for box in boxes])
    sides = np.array([box.side for box in boxes])
    polygons = list(corners[:, None, :] + square * sides[:, None, None])
    drawn = PolyCollection(
        polygons, array=np.array([box.q for box in boxes]), cmap=Q_COLOURS, linewidths=0.4,
        edgecolors=(1, 1, 1, 0.55),
    )  # fmt: skip
    drawn.set_clim(limits[0], max(limits[1], limits[0] + 1e-3))
    axes.add_collection(drawn)
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))


def heat_figure(optima: Mapping[str, np.ndarray]) -> Figure:
    """Q* of the problems side by side, each with colours of its own."""
    figure = _figure(0.6 + 3.6 * len(optima), 3.6, 1, len(optima))
    for axes, (problem, grid) in zip(figure.axes[: len(optima)], optima.items(), strict=True):
        axes.grid(False)
        picture = axes.imshow(grid.T, origin="lower", extent=(0, 1, 0, 1), cmap=Q_COLOURS, aspect="equal")
        axes.set_title(problem, fontsize=10)
        axes.set(xlabel="state", ylabel="action")
        figure.colorbar(picture, ax=axes, shrink=0.8)
    figure.suptitle(f"Q* of step {STEP + 1}", fontsize=12)
    return figure


def render(figures: Mapping[str, Figure]) -> dict[str, bytes]:
    """File name -> content, each figure as PNG and SVG."""
    import matplotlib

    with matplotlib.rc_context(STYLE):
        return {f"{name}.{kind}": _render(figure, kind) for name, figure in figures.items()
                for kind in ("png", "svg")}  # fmt: skip


def _figure(width: float, height: float, rows: int, columns: int, **shared: Any) -> Figure:
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)
        figure.subplots(rows, columns, **shared)
    return figure
