"""Bytes against score, a picture for each problem: who needs how much memory for what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adamb.budgets.sizes import format_bytes
from adamb.host_sim.bench_protocol import OURS, PAPER, PUBLISHED, STRENGTHENED, UNTUNED
from adamb.host_sim.bench_scores import League, Score
from adamb.tools.plots import BLUE, GREEN, GREY, STYLE, VERMILLION, _render

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKS: dict[str, Any] = {
    UNTUNED: {"color": BLUE, "marker": "o", "markersize": 8, "linewidth": 2.2, "zorder": 4},
    OURS: {"color": "#56B4E9", "marker": "s", "markersize": 5, "linewidth": 1.2},
    PUBLISHED: {"color": GREY, "marker": "^", "markersize": 5, "linewidth": 0.8},
    STRENGTHENED: {"color": GREEN, "marker": "v", "markersize": 5, "linewidth": 0.8},
}


def pareto_front(points: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """Points that no other beats in both bytes and score, by rising bytes."""
    found: list[tuple[int, float]] = []
    for size, score in sorted(points, key=lambda point: (point[0], -point[1])):
        if not found or score > found[-1][1]:
            found.append((size, score))
    return found


def pareto_files(league: League) -> dict[str, bytes]:
    """File name -> PNG, one for each problem."""
    import matplotlib

    with matplotlib.rc_context(STYLE):
        return {f"pareto-{name}.png": _render(pareto_figure(league, name), "png") for name in league.problems}


def pareto_figure(league: League, problem: str) -> Figure:
    """Peak bytes of the worst seed against the share of the unit; the dashed steps are the rivals' front."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter

    figure = Figure(figsize=(8.4, 5.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    points = [each for agent in league.agents for each in _points(league, problem, agent)]
    named: set[str] = set()
    for agent in league.agents:
        _draw(axes, agent, [each for each in points if each.agent == agent], named)
    _draw_front(axes, [each for each in points if each.kind != OURS], max(_bytes(each) for each in points))
    axes.margins(x=0.12)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: format_bytes(round(value))))
    axes.set_xlabel("bytes at the peak of the worst seed")
    axes.set_ylabel(f"% of {league.references[problem]['unit']}")
    axes.set_title(f"{problem}: bytes against reward")
    axes.legend(fontsize=9, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.12))
    return figure


def _points(league: League, problem: str, agent: str) -> list[Score]:
    scores = [league.score(problem, budget, agent) for budget in league.budgets]
    fitting = [each for each in scores if each is not None and each.share is not None and each.bytes_peak]
    return sorted(fitting, key=_bytes)


def _draw(axes: Axes, agent: str, points: list[Score], named: set[str]) -> None:
    """A line for each contender; rivals of a class look alike, those that matter are named on the front."""
    if not points:
        return
    kind = points[0].kind
    name = agent if kind == OURS else kind
    style = dict(MARKS.get(agent, MARKS[kind]))
    if agent == PAPER:
        style["linestyle"] = ":"
    label = None if name in named else name
    named.add(name)
    axes.plot(list(map(_bytes, points)), list(map(_percent, points)), label=label, alpha=0.9, **style)


def _draw_front(axes: Axes, rivals: list[Score], last: int) -> None:
    front = pareto_front([(_bytes(each), _percent(each)) for each in rivals])
    if not front:
        return
    ends = [*front, (max(last, front[-1][0]), front[-1][1])]
    axes.step(*zip(*ends, strict=True), where="post", color=VERMILLION, linewidth=1.2, linestyle="--",
              label="front of the rivals")  # fmt: skip
    owners = {(_bytes(each), _percent(each)): each.agent for each in reversed(rivals)}
    for point in front:
        place: Any = {"xytext": (-4, 5), "textcoords": "offset points", "ha": "right"}
        axes.annotate(owners[point], point, fontsize=8, **place)


def _bytes(score: Score) -> int:
    return score.bytes_peak or 0


def _percent(score: Score) -> float:
    return 100.0 * (score.share.value if score.share else 0.0)
