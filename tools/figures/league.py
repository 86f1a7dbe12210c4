"""Bytes against score, a picture for each problem: who needs how much memory for what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adamb.budgets.sizes import format_bytes
from adamb.host_sim.league.protocol import OURS, OWN, PAPER, PUBLISHED, STRENGTHENED, UNTUNED
from adamb.host_sim.league.scores import League, Score
from adamb.tools.figures.labels import name_points
from adamb.tools.figures.style import (
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


def pareto_files(league: League) -> dict[str, bytes]:
    """File name -> PNG, one for each problem on which anything fitted."""
    drawn = [name for name in league.problems if any(_points(league, name, agent) for agent in league.agents)]
    with house_style():
        return {f"pareto-{name}.png": render(pareto_figure(league, name), "png") for name in drawn}


def pareto_figure(league: League, problem: str) -> Figure:
    """Peak bytes of the worst seed against the share of the unit; the dashed steps are the rivals' front.

    Every contender is named at the right; points of the front and our own say the cap under which they were
    played.
    """
    from matplotlib.ticker import FuncFormatter, NullFormatter

    lines = {agent: found for agent in league.agents if (found := _points(league, problem, agent))}
    inches = max(LEAST_HEIGHT, HEIGHT * len(lines))
    with house_style():
        figure = new_figure(8.8, inches + 1.0)
        axes = figure.axes[0]
        for agent, points in lines.items():
            axes.plot(
                list(map(_bytes, points)), list(map(_percent, points)), alpha=0.9, **_style(agent, points)
            )
        rivals = [each for agent in lines for each in lines[agent] if each.kind != OURS]
        front = _draw_front(axes, rivals, max(_bytes(each) for found in lines.values() for each in found))
        axes.margins(x=0.12, y=0.1)
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: format_bytes(round(value))))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_xlabel("bytes at the peak of the worst seed")
        axes.set_ylabel(f"% of {league.references[problem]['unit']}")
        detail = "dashed: the front of the rivals (▲ published, ▼ strengthened); small: the cap of a point"
        heading(axes, f"{problem}: bytes against reward", detail)
        ends = [(_percent(found[-1]), agent, _style(agent, found)["color"]) for agent, found in lines.items()]
        name_lines(axes, ends, inches=inches, size=9)
        marks = [*front, *lines.get(UNTUNED, [])]
        everything = [(_bytes(each), _percent(each)) for found in lines.values() for each in found]
        name_points(axes, _cap_labels(marks), everything)
    return figure


def _points(league: League, problem: str, agent: str) -> list[Score]:
    scores = [league.score(problem, budget, agent) for budget in league.budgets]
    fitting = [each for each in scores if each is not None and each.share is not None and each.bytes_peak]
    return sorted(fitting, key=_bytes)


def _style(agent: str, points: list[Score]) -> dict[str, Any]:
    """Rivals of a class look alike."""
    style = dict(MARKS.get(agent, MARKS[points[0].kind]))
    return {**style, "linestyle": ":"} if agent == PAPER else style


def _draw_front(axes: Axes, rivals: list[Score], last: int) -> list[Score]:
    """The steps; whose points they are."""
    front = pareto_front([(_bytes(each), _percent(each)) for each in rivals])
    if not front:
        return []
    ends = [*front, (max(last, front[-1][0]), front[-1][1])]
    axes.step(*zip(*ends, strict=True), where="post", color=VERMILLION, linewidth=1.2, linestyle=DASHED)
    owners = {(_bytes(each), _percent(each)): each for each in reversed(rivals)}
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
