"""Names beside points of a scatter, each where it covers no other name and no point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS = 8
"""Size of the letters."""
MARK = 5.0
"""Half the width of a point, in pixels of the figure's own resolution."""
SIDES = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
DISTANCES = (7, 13, 20, 28, 38, 50, 64, 80)

Box = tuple[float, float, float, float]
"""Left, bottom, right, top in pixels."""


def name_points(
    axes: Axes, names: Mapping[tuple[float, float], str], points: Sequence[tuple[float, float]]
) -> None:
    """Write each name near its point: the nearest place that is free and inside the axes.

    The limits of the axes must stand already. A name far from its point gets a thin line to it.
    """
    from matplotlib.patheffects import withStroke

    figure: Any = axes.figure
    figure.canvas.draw()  # the layout decides where pixels are
    renderer = figure.canvas.get_renderer()
    frame = axes.get_window_extent(renderer)
    points_per_pixel = 72 / figure.dpi  # a file has more pixels, but as many points
    taken = [_around(place) for place in axes.transData.transform(list(points))] if points else []
    for point, name in names.items():
        text = axes.annotate(
            name, point, xytext=(0, 0), textcoords="offset points", fontsize=POINTS, color="#333333",
            ha="center", va="center", zorder=5, path_effects=[withStroke(linewidth=2.5, foreground="white")],
            arrowprops={"arrowstyle": "-", "color": "#999999", "linewidth": 0.5, "shrinkA": 0, "shrinkB": 2},
        )  # fmt: skip
        size = text.get_window_extent(renderer)
        middle = axes.transData.transform(point)
        places = _places(middle, size.width, size.height)
        inside = [(dx, dy, box) for dx, dy, box in places if _holds(frame, box)]
        free = [each for each in inside if not any(_meet(each[2], other) for other in taken)]
        dx, dy, box = (free or inside or list(places))[0]
        text.set_position((dx * points_per_pixel, dy * points_per_pixel))
        taken.append(box)


def _places(middle: Any, width: float, height: float) -> list[tuple[float, float, Box]]:
    """Offsets of the middle of a text, near ones first, with the box that it then covers."""
    found = []
    for distance in DISTANCES:
        for right, up in SIDES:
            dx, dy = right * (distance + width / 2), up * (distance + height / 2)
            x, y = middle[0] + dx, middle[1] + dy
            box = (x - width / 2, y - height / 2, x + width / 2, y + height / 2)
            found.append((dx, dy, box))
    return found


def _around(place: Any) -> Box:
    return place[0] - MARK, place[1] - MARK, place[0] + MARK, place[1] + MARK


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _holds(frame: Any, box: Box) -> bool:
    return bool(frame.x0 <= box[0] and box[2] <= frame.x1 and frame.y0 <= box[1] and box[3] <= frame.y1)
