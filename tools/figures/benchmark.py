"""Bytes against score, a picture for each problem: who needs how much memory for what.

A name beside a point covers no other name and no point.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from adamb.firmware_model.host.sizes import format_bytes
from adamb.host_sim.benchmark import OURS, OWN, PAPER, PUBLISHED, STRENGTHENED, UNTUNED
from adamb.host_sim.benchmark.scores import Benchmark, Score
from adamb.tools.figures import (
    BLUE,
    DASHED,
    GREEN,
    GREY,
    PURPLE,
    SKY,
    VERMILLION,
    heading,
    house_style,
    name_lines,
    new_figure,
    render,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEIGHT, LEAST_HEIGHT = 0.17, 4.4
"""Inches of a name in the column at the right, and of a picture with few of them."""
MARKS: dict[str, Any] = {
    UNTUNED: {"color": BLUE, "marker": "o", "markersize": 8, "linewidth": 2.2, "zorder": 4},
    OURS: {"color": SKY, "marker": "s", "markersize": 5, "linewidth": 1.2},
    PUBLISHED: {"color": GREY, "marker": "^", "markersize": 5, "linewidth": 0.8},
    STRENGTHENED: {"color": GREEN, "marker": "v", "markersize": 5, "linewidth": 0.8},
    OWN: {"color": PURPLE, "marker": "D", "markersize": 6, "linewidth": 1.6},
}


def pareto_front(points: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """Points that no other beats in both bytes and score, by rising bytes."""
    found: list[tuple[int, float]] = []
    for size, score in sorted(points, key=lambda point: (point[0], -point[1])):
        if not found or score > found[-1][1]:
            found.append((size, score))
    return found


def pareto_files(benchmark: Benchmark) -> dict[str, bytes]:
    """File name -> PNG, one for each problem on which anything fitted."""
    drawn = [name for name in benchmark.problems if any(_points(benchmark, name, agent) for agent in benchmark.agents)]
    with house_style():
        return {f"pareto-{name}.png": render(pareto_figure(benchmark, name), "png") for name in drawn}


def pareto_figure(benchmark: Benchmark, problem: str) -> Figure:
    """Peak bytes of the worst seed against the share of the unit; the dashed steps are the baselines' front.

    Every contender is named at the right; points of the front and our own say the cap under which they were
    played.
    """
    from matplotlib.ticker import FuncFormatter, NullFormatter

    lines = {agent: found for agent in benchmark.agents if (found := _points(benchmark, problem, agent))}
    inches = max(LEAST_HEIGHT, HEIGHT * len(lines))
    with house_style():
        figure = new_figure(8.8, inches + 1.0)
        axes = figure.axes[0]
        for agent, points in lines.items():
            axes.plot(list(map(_bytes, points)), list(map(_percent, points)), alpha=0.9, **_style(agent, points))
        baselines = [each for agent in lines for each in lines[agent] if each.kind != OURS]
        front = _draw_front(axes, baselines, max(_bytes(each) for found in lines.values() for each in found))
        axes.margins(x=0.12, y=0.1)
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: format_bytes(round(value))))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_xlabel("bytes at the peak of the worst seed")
        axes.set_ylabel(f"% of {benchmark.references[problem]['unit']}")
        detail = "dashed: the front of the baselines (▲ published, ▼ strengthened); small: the cap of a point"
        heading(axes, f"{problem}: bytes against reward", detail)
        ends = [(_percent(found[-1]), agent, _style(agent, found)["color"]) for agent, found in lines.items()]
        name_lines(axes, ends, inches=inches, size=9)
        marks = [*front, *lines.get(UNTUNED, [])]
        everything = [(_bytes(each), _percent(each)) for found in lines.values() for each in found]
        name_points(axes, _cap_labels(marks), everything)
    return figure


def _points(benchmark: Benchmark, problem: str, agent: str) -> list[Score]:
    scores = [benchmark.score(problem, budget, agent) for budget in benchmark.budgets]
    fitting = [each for each in scores if each is not None and each.share is not None and each.bytes_peak]
    return sorted(fitting, key=_bytes)


def _style(agent: str, points: list[Score]) -> dict[str, Any]:
    """Baselines of a class look alike."""
    style = dict(MARKS.get(agent, MARKS[points[0].kind]))
    return {**style, "linestyle": ":"} if agent == PAPER else style


def _draw_front(axes: Axes, baselines: list[Score], last: int) -> list[Score]:
    """The steps; whose points they are."""
    front = pareto_front([(_bytes(each), _percent(each)) for each in baselines])
    if not front:
        return []
    ends = [*front, (max(last, front[-1][0]), front[-1][1])]
    axes.step(*zip(*ends, strict=True), where="post", color=VERMILLION, linewidth=1.2, linestyle=DASHED)
    owners = {(_bytes(each), _percent(each)): each for each in reversed(baselines)}
    return [owners[point] for point in front]


def _cap_labels(scores: list[Score]) -> dict[tuple[float, float], str]:
    """A point that is the same under several caps is named by the smallest."""
    found: dict[tuple[float, float], str] = {}
    for each in sorted(scores, key=lambda score: score.budget_bytes or 1 << 62):
        cap = "no cap" if each.budget_bytes is None else format_bytes(each.budget_bytes)
        name = "" if each.agent == UNTUNED else f"{each.agent}, "
        found.setdefault((_bytes(each), _percent(each)), f"{name}{cap}")
    return found


def _bytes(score: Score) -> int:
    return score.bytes_peak or 0


def _percent(score: Score) -> float:
    return 100.0 * (score.share.value if score.share else 0.0)


POINTS = 8
"""Size of the letters."""
MARK = 5.0
"""Half the width of a point, in pixels of the figure's own resolution."""
SIDES = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
DISTANCES = (7, 13, 20, 28, 38, 50, 64, 80)

Box = tuple[float, float, float, float]
"""Left, bottom, right, top in pixels."""


def name_points(axes: Axes, names: Mapping[tuple[float, float], str], points: Sequence[tuple[float, float]]) -> None:
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
