"""Pictures of a run: reward and share of the optimum over the episodes, bytes against the cap, and the partition of
every step: boxes coloured by Q, with the exact Q* beside it where known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adamb.firmware_model.host.reader import BlockView
from adamb.firmware_model.host.sizes import format_bytes
from adamb.host_sim.results.run import running_mean
from adamb.host_sim.runner import half_widths
from adamb.tools.figures import (
    BLUE,
    DASHED,
    GREEN,
    Q_COLOURS,
    VERMILLION,
    house_style,
    line_figure,
    name_lines,
    new_figure,
    picture_files,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from adamb.host_sim.agents import Agent
    from adamb.host_sim.parameter import Range
    from adamb.host_sim.problem import Problem
    from adamb.host_sim.recording import OptimumPictures
    from adamb.host_sim.runner import RunResult


def plot_files(result: RunResult) -> dict[str, bytes]:
    """File name -> content of every picture of a run, each as PNG and SVG."""
    with house_style():
        return picture_files({"reward": reward_figure(result), "bytes": bytes_figure(result)})


def reward_figure(result: RunResult) -> Figure:
    """Smoothed reward with its 95 % band against V*, and the share of the optimum below where V* is known."""
    figure = line_figure(2 if result.optimal is not None else 1)
    top = figure.axes[0]
    window = smoothing_window(result.episodes)
    episodes = _ends(result.episodes)
    rewards = running_mean(result.returns, episodes, window)
    _band(top, episodes, rewards, BLUE)
    top.set_ylabel("reward per episode")
    top.set_title(_title(result, "95 % band"))
    labels = [(float(rewards.mean(axis=0)[-1]), result.agent, BLUE)]
    if result.optimal is not None:
        best = running_mean(result.optimal, episodes, window)
        top.plot(episodes, best.mean(axis=0), color=VERMILLION, linewidth=1.6, linestyle=DASHED)
        labels.append((float(best.mean(axis=0)[-1]), "optimum V*", VERMILLION))
        _share_axes(figure.axes[1], episodes, rewards, best)
    top.set_ylim(bottom=0, top=1.1 * max(label[0] for label in labels) or 1)
    name_lines(top, labels)
    figure.axes[-1].set_xlabel(f"episode ({_window_note(window)})")
    return figure


def _share_axes(axes: Axes, episodes: np.ndarray, rewards: np.ndarray, best: np.ndarray) -> None:
    share = 100 * rewards / np.maximum(best, 1e-12)
    _band(axes, episodes, share, GREEN)
    axes.axhline(100, color=VERMILLION, linewidth=1.6, linestyle=DASHED)
    axes.set_ylabel("share of the optimum, %")
    axes.set_ylim(0, max(110.0, 1.05 * float(share.mean(axis=0).max())))
    last = float(share.mean(axis=0)[-1])
    name_lines(axes, [(last, f"{last:.1f} %", GREEN), (100.0, "100 %", VERMILLION)])


def bytes_figure(result: RunResult) -> Figure:
    """Bytes in use, mean and worst seed, under the cap."""
    from matplotlib.ticker import MultipleLocator

    figure = line_figure(1)
    axes = figure.axes[0]
    mean, worst = result.bytes.mean(axis=0), result.bytes.max(axis=0)
    axes.fill_between(result.points, result.bytes.min(axis=0), worst, color=BLUE, alpha=0.18, linewidth=0)
    axes.plot(result.points, mean, color=BLUE, linewidth=2)
    labels = [(float(mean[-1]), f"mean {format_bytes(mean[-1])}", BLUE)]
    top = float(worst.max())
    if result.budget_bytes is not None:
        axes.axhline(result.budget_bytes, color=VERMILLION, linewidth=1.6, linestyle=DASHED)
        labels.append((float(result.budget_bytes), f"cap {format_bytes(result.budget_bytes)}", VERMILLION))
        top = max(top, float(result.budget_bytes))
    axes.set_ylim(0, 1.12 * top or 1)
    axes.set_xlim(0, result.episodes)
    axes.yaxis.set_major_locator(MultipleLocator(2 ** max(0, math.ceil(math.log2(max(top, 1) / 8)))))
    axes.yaxis.set_major_formatter(lambda value, _: format_bytes(value))
    axes.set_ylabel("memory in use")
    axes.set_xlabel("episode")
    axes.set_title(_title(result, "band: all of them"))
    name_lines(axes, labels)
    return figure


def smoothing_window(episodes: int) -> int:
    return max(1, episodes // 50)


def _ends(episodes: int) -> np.ndarray:
    """At most a thousand episodes to draw: a picture has no room for more, and an SVG grows with each."""
    return np.unique(np.linspace(1, episodes, min(episodes, 1000)).round().astype(int))


def _window_note(window: int) -> str:
    return "mean of one episode" if window == 1 else f"running mean of {window}"


def _band(axes: Axes, episodes: np.ndarray, values: np.ndarray, colour: str) -> None:
    mean, half = values.mean(axis=0), half_widths(values)
    axes.fill_between(episodes, mean - half, mean + half, color=colour, alpha=0.2, linewidth=0)
    axes.plot(episodes, mean, color=colour, linewidth=2)
    axes.set_xlim(0, episodes[-1])


def _title(result: RunResult, band: str) -> str:
    cap = "no cap" if result.budget_bytes is None else f"cap {format_bytes(result.budget_bytes)}"
    count = len(result.seeds)
    seeds = f"seed {result.seeds[0]}" if count == 1 else f"{count} seeds ({band})"
    core = f" ({result.core} core)" if result.core else ""
    return f"{result.problem}: {result.agent}{core}, {cap}, {seeds}"


PANEL_INCHES = 2.1
MOST_STEPS, COLUMNS = 12, 6
"""So many steps are drawn, so many of them in a row at most; the title says when that is not all."""
RASTER_ABOVE = 1500
"""A drawing with more boxes than this stores them as pixels, or an SVG grows past a megabyte."""
SCALE = "Q / steps left"
"""The coloured quantity. Q itself shrinks from step to step, so that no one scale would show every step."""


def partition_files(
    words: np.ndarray, title: str, optimum: OptimumPictures | None = None, ranges: Sequence[Range] = ()
) -> dict[str, bytes]:
    """partition.png and partition.svg of one block; `ranges` name its axes."""
    return picture_files({"partition": partition_figure(BlockView(words), title, optimum, ranges)})


def agent_files(agent: Agent, result: RunResult, problem: Problem, title: str) -> dict[str, bytes]:
    """Pictures of the first learner's partition, where it has one in a block."""
    from adamb.host_sim.recording import optimum_now

    blocks = getattr(agent, "blocks", None)
    if blocks is None:
        return {}
    title = f"{title}, seed {result.seeds[0]}"
    return partition_files(blocks[0], title, optimum_now(problem), problem.coordinates)


def shown_steps(horizon: int) -> list[int]:
    """All steps, or as many as fit, with the first and the last."""
    return sorted({round(i) for i in np.linspace(0, horizon - 1, min(horizon, MOST_STEPS))})


def partition_figure(
    view: BlockView, title: str, optimum: OptimumPictures | None = None, ranges: Sequence[Range] = ()
) -> Figure:
    """Rows of steps; below each, Q* of the same steps; one scale of colours for all of it."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    steps = shown_steps(view.horizon)
    kinds = 1 if optimum is None else 2
    lines = -(-len(steps) // COLUMNS)
    columns, rows = -(-len(steps) // lines), kinds * lines
    grids = {h: None if optimum is None else plane(optimum.grid(-1, h), view.d_s) / (view.horizon - h) for h in steps}
    scale = Normalize(*limits(view, steps, grids))
    total = sum(len(view.balls(h)) for h in range(view.trees))
    width, height = 2.0 + PANEL_INCHES * columns, 1.0 + (PANEL_INCHES + 0.1) * rows
    with house_style():
        figure = new_figure(width, height, rows, columns, sharex=True, sharey=True, squeeze=False)
        axes = np.array(figure.axes).reshape(rows, columns)
        for panel in axes.ravel():
            panel.set_visible(False)
        for i, h in enumerate(steps):
            row, column = kinds * (i // columns), i % columns
            draw_step(_prepare(axes[row, column]), view, h, scale, raster=total > RASTER_ABOVE)
            axes[row, column].set_title(f"h = {h}")
            if (grid := grids[h]) is not None:
                _prepare(axes[row + 1, column]).imshow(
                    grid.T, origin="lower", extent=(0, 1, 0, 1), cmap=Q_COLOURS, norm=scale, aspect="equal",
                    interpolation="bilinear",
                )  # fmt: skip
        _name_axes(axes, view, kinds, ranges)
        picture = ScalarMappable(scale, Q_COLOURS)
        figure.colorbar(picture, ax=axes.ravel().tolist(), label=SCALE, shrink=0.9, aspect=30)
        detail = describe(view, steps, total)
        figure.suptitle(f"{title}\n{detail}", x=0.01, ha="left", fontsize=12, fontweight="bold")
    return figure


def _prepare(panel: Axes) -> Axes:
    panel.set_visible(True)
    panel.grid(False)
    return panel


def _name_axes(axes: np.ndarray, view: BlockView, kinds: int, ranges: Sequence[Range]) -> None:
    state, action = ("state" if view.d_s == 1 else "state 1"), ("action" if view.d_a == 1 else "action 1")
    if ranges:
        state, action = str(ranges[0]), str(ranges[view.d_s])
    for row in range(len(axes)):
        name = ("learned", "exact Q*")[row % kinds]
        axes[row, 0].set_ylabel(f"{name}\n{action}")
        for panel in axes[row]:
            below = axes[row + 1 :, list(axes[row]).index(panel)]
            if panel.get_visible() and not any(each.get_visible() for each in below):
                panel.set_xlabel(state)
                panel.xaxis.set_tick_params(labelbottom=True)


def describe(view: BlockView, steps: list[int], total: int) -> str:
    """The second line of the title: what is drawn, and what is not."""
    parts = [f"{total} balls" + (", one partition for all steps" if view.shared else "")]
    if len(steps) < view.horizon:
        parts.append(f"{len(steps)} of {view.horizon} steps are shown")
    if view.d_s + view.d_a > 2:
        parts.append("other axes at ½")
    return "; ".join(parts)


def limits(view: BlockView, steps: list[int], grids: dict[int, np.ndarray | None]) -> tuple[float, float]:
    """The scale covers visited balls and Q* of all steps, above it lie only unvisited balls."""
    low, high = [], []
    for h in steps:
        _, _, q, visited = slice_boxes(view, h)
        known = q / (view.horizon - h)
        low += known.tolist()
        high += known[visited].tolist()
        if (grid := grids[h]) is not None:
            low.append(float(grid.min()))
            high.append(float(grid.max()))
    top = max(high, default=1.0)
    return min(low), max(top, min(low) + 1e-3)


def draw_step(axes: Axes, view: BlockView, h: int, scale: Any, *, raster: bool = False) -> Any:
    """The boxes of one step on axes."""
    corners, side, q, _ = slice_boxes(view, h)
    return draw_boxes(axes, corners, side, q / (view.horizon - h), scale, raster=raster)


def draw_boxes(
    axes: Axes, corners: np.ndarray, sides: np.ndarray, values: np.ndarray, scale: Any, *, raster: bool = False
) -> Any:
    """Squares of the unit square, coloured on a scale."""
    from matplotlib.collections import PolyCollection

    square = np.array([(0, 0), (1, 0), (1, 1), (0, 1)])
    boxes = PolyCollection(
        list(corners[:, None, :] + square * sides[:, None, None]), array=values, cmap=Q_COLOURS, norm=scale,
        linewidths=0.4, edgecolors=(1, 1, 1, 0.55), rasterized=raster,
    )  # fmt: skip
    axes.add_collection(boxes)
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))
    return boxes


def slice_boxes(view: BlockView, h: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Corner on the first state and first action axis, side, Q and visited of some balls: those that the
    plane through the middle of the other axes cuts."""
    corners, sides, q, visited = [], [], [], []
    others = [axis for axis in range(view.d_s + view.d_a) if axis not in (0, view.d_s)]
    for ball in view.balls(h):
        low, side = view.box(ball)
        if all(low[axis] <= 0.5 < low[axis] + side for axis in others):
            corners.append((low[0], low[view.d_s]))
            sides.append(side)
            q.append(view.q(ball, h))
            visited.append(ball.visited)
    return np.array(corners), np.array(sides), np.array(q), np.array(visited)


def plane(grid: np.ndarray, d_s: int) -> np.ndarray:
    """Q* over the first state and first action axis, through the middle of the others."""
    index = tuple(slice(None) if axis in (0, d_s) else size // 2 for axis, size in enumerate(grid.shape))
    return grid[index]
