"""Pictures; here the style of all of them: fonts and colours, names beside lines, files with the same bytes every time.

Colours are those of Okabe and Ito, which every kind of colour vision can distinguish; each line is also named
beside it, so nothing depends on colour alone.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


BLUE, VERMILLION, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#666666"
SKY, PURPLE, ORANGE = "#56B4E9", "#CC79A7", "#E69F00"
Q_COLOURS = "viridis"
DASHED, DOTTED = (0, (5, 2)), (0, (1, 2))
AXES_INCHES = 2.7
NAME_POINTS = 10
"""Size of the names beside lines."""
LINE_HEIGHT = 1.35
STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 11,
    "axes.titlesize": 12,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.grid": True,
    "grid.color": "#E3E3E3",
    "grid.linewidth": 0.8,
    "axes.axisbelow": True,
    "xtick.color": "#333333",
    "ytick.color": "#333333",
    "svg.hashsalt": "adamb",
    "svg.fonttype": "none",
}


def house_style() -> Any:
    """A context in which figures are made and rendered."""
    import matplotlib

    return matplotlib.rc_context(STYLE)


def new_figure(width: float, height: float, rows: int = 1, columns: int = 1, **shared: Any) -> Figure:
    """A figure without a window; its axes are in `figure.axes`, row by row."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with house_style():
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)
        figure.subplots(rows, columns, **shared)
    return figure


def line_figure(rows: int, **shared: Any) -> Figure:
    """Panels below one another, of one width."""
    return new_figure(8.4, 0.9 + (AXES_INCHES + 0.3) * rows, rows, 1, sharex=True, **shared)


def render(figure: Figure, kind: str) -> bytes:
    """A file of a figure, with the same bytes every time: without the date."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=kind, dpi=160, metadata={"Date": None} if kind == "svg" else None)
    return buffer.getvalue()


def picture_files(figures: dict[str, Figure]) -> dict[str, bytes]:
    """File name -> content, each figure as PNG and SVG."""
    with house_style():
        return {f"{name}.{kind}": render(figure, kind) for name, figure in figures.items() for kind in ("png", "svg")}


def heading(axes: Axes, text: str, detail: str = "") -> None:
    """A heading, and below it in small letters what else there is to know."""
    axes.set_title(text, pad=22 if detail else 8)
    if detail:
        axes.annotate(
            detail, (0, 1), xytext=(0, 7), xycoords="axes fraction", textcoords="offset points", fontsize=9,
            color=GREY, annotation_clip=False,
        )  # fmt: skip


def spread(places: Sequence[float], gap: float, low: float, high: float) -> np.ndarray:
    """The places, moved as little as they must be for a gap between neighbours and for the ends.

    Neighbours that are too close become a group around the mean of their places; groups that then meet are
    joined. Where even the whole range is too small, the gap is.
    """
    order = np.argsort(places, kind="stable")
    gap = min(gap, (high - low) / max(1, len(places) - 1))
    groups: list[tuple[float, int]] = []
    for place in np.clip(np.asarray(places, dtype=float)[order], low, high):
        middle, count = float(place), 1
        while groups and _bottom(middle, count, gap, low, high) < _top(*groups[-1], gap, low, high) + gap:
            before, number = groups.pop()
            middle, count = (middle * count + before * number) / (count + number), count + number
        groups.append((middle, count))
    moved = [_bottom(*group, gap, low, high) + i * gap for group in groups for i in range(group[1])]
    found = np.empty(len(places))
    found[order] = moved
    return found


def _bottom(middle: float, count: int, gap: float, low: float, high: float) -> float:
    """Place of the first of a group whose middle is as near as the ends allow."""
    return min(max(middle - gap * (count - 1) / 2, low), high - gap * (count - 1))


def _top(middle: float, count: int, gap: float, low: float, high: float) -> float:
    return _bottom(middle, count, gap, low, high) + gap * (count - 1)


def name_lines(
    axes: Axes, labels: Sequence[tuple[float, str, str]], *, inches: float = AXES_INCHES, size: int = NAME_POINTS
) -> None:
    """Names right of the lines' ends, (value, text, colour) each, moved apart where lines end close together;
    thin lines lead to them where one had to move far. The limits of the axes must stand already."""
    height = axes.transData.transform([(1, value) for value, _, _ in labels])[:, 1]
    low, high = axes.transAxes.transform([(0, 0), (0, 1)])[:, 1]
    ends = (height - low) / (high - low)
    gap = LINE_HEIGHT * size / (72 * inches)
    places = spread(ends, gap, 0.0, 1.0)
    moved = bool((np.abs(places - ends) > gap / 2).any())
    start = 1.045 if moved else 1.012
    for end, place, (_, text, colour) in zip(ends, places, labels, strict=True):
        axes.text(start, place, text, transform=axes.transAxes, va="center", color=colour, fontsize=size)
        if moved:
            line: Any = ((1.005, start - 0.005), (float(np.clip(end, 0, 1)), place))
            axes.plot(*line, transform=axes.transAxes, color=colour, linewidth=0.7, clip_on=False)
