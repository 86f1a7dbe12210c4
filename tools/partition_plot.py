"""The partition of every step as a picture: boxes coloured by Q, with the exact Q* beside it where known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adamb.host_sim.block_view import BlockView
from adamb.tools.plots import STYLE, _render

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from adamb.host_sim.recording import OptimumPictures

COLOURS = "viridis"
PANEL_INCHES = 2.1
RASTER_ABOVE = 1500
"""A drawing with more boxes than this stores them as pixels, or an SVG grows past a megabyte."""


def plot_files(words: np.ndarray, title: str, optimum: OptimumPictures | None = None) -> dict[str, bytes]:
    """partition.png and partition.svg of one block."""
    import matplotlib

    with matplotlib.rc_context(STYLE):
        figure = partition_figure(BlockView(words), title, optimum)
        return {f"partition.{kind}": _render(figure, kind) for kind in ("png", "svg")}


def partition_figure(view: BlockView, title: str, optimum: OptimumPictures | None = None) -> Figure:
    """A row of steps; below it, with the same colours, Q* of the same steps."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    columns = min(view.horizon, 8)
    steps = sorted({round(i) for i in np.linspace(0, view.horizon - 1, columns)})
    rows = 1 if optimum is None else 2
    figure = Figure(
        figsize=(1.2 + PANEL_INCHES * len(steps), 1.0 + (PANEL_INCHES + 0.35) * rows), layout="constrained"
    )
    FigureCanvasAgg(figure)
    axes = figure.subplots(rows, len(steps), sharex=True, sharey=True, squeeze=False)
    total = sum(len(view.balls(h)) for h in range(view.trees))
    for column, h in enumerate(steps):
        top = axes[0][column]
        grid = None if optimum is None else plane(optimum.grid(-1, h), view.d_s)
        boxes = draw_step(top, view, h, grid, raster=total > RASTER_ABOVE)
        top.set_title(f"h = {h}")
        if grid is not None:
            axes[1][column].grid(False)
            axes[1][column].imshow(
                grid.T, origin="lower", extent=(0, 1, 0, 1), cmap=COLOURS, clim=boxes.get_clim(),
                aspect="equal", interpolation="bilinear",
            )  # fmt: skip
        bar = figure.colorbar(boxes, ax=axes[:, column].tolist(), orientation="horizontal", shrink=0.9)
        bar.ax.tick_params(labelsize=8)
        axes[-1][column].set_xlabel("state" if view.d_s == 1 else "state 1")
    for row, name in zip(axes, ("Q of each ball", "exact Q*"), strict=False):
        row[0].set_ylabel(f"{name}\naction" + ("" if view.d_a == 1 else " 1"))
    sliced = "" if view.d_s + view.d_a == 2 else ", other axes at ½"
    leaves = f"{total} balls" + (", one partition for all steps" if view.shared else "")
    figure.suptitle(f"{title}: {leaves}{sliced}", x=0.01, ha="left", fontsize=12, fontweight="bold")
    return figure


def draw_step(
    axes: Axes, view: BlockView, h: int, optimum: np.ndarray | None = None, *, raster: bool = False
) -> Any:
    """The boxes of one step on axes; the colours end where visited balls and Q* do, above is only hope."""
    from matplotlib.collections import PolyCollection

    corners, side, q, visited = slice_boxes(view, h)
    known = [] if optimum is None else [optimum.min(), optimum.max()]
    low = min([*q.tolist(), *known])
    high = max([*q[visited].tolist(), *known], default=float(view.horizon - h))
    square = np.array([(0, 0), (1, 0), (1, 1), (0, 1)])
    boxes = PolyCollection(
        list(corners[:, None, :] + square * side[:, None, None]), array=q, cmap=COLOURS, linewidths=0.4,
        edgecolors=(1, 1, 1, 0.55), rasterized=raster,
    )  # fmt: skip
    boxes.set_clim(low, max(high, low + 1e-3))
    axes.add_collection(boxes)
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))
    axes.grid(False)
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
