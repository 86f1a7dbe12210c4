"""Bytes against score, a picture for each problem: who needs how much memory for what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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


def pareto_front(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points that no other beats in both bytes and score, by rising bytes."""
    found: list[tuple[float, float]] = []
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
    """Peak bytes of the worst seed against the share of the unit; the grey steps are the rivals' front."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.4, 5.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    rivals = []
    for agent in league.agents:
        points = _points(league, problem, agent)
        if points:
            _draw(axes, agent, points)
            rivals += [] if points[0].kind == OURS else points
    front = pareto_front([(float(each.bytes_peak or 0), _percent(each)) for each in rivals])
    if front:
        axes.step(*zip(*front, strict=True), where="post", color=VERMILLION, linewidth=1.4, linestyle="--",
                  label="front of the rivals")  # fmt: skip
    axes.set_xscale("log", base=2)
    axes.set_xlabel("bytes at the peak")
    axes.set_ylabel(f"% of {league.references[problem]['unit']}")
    axes.set_title(f"{problem}: bytes against reward")
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    return figure


def _points(league: League, problem: str, agent: str) -> list[Score]:
    scores = [league.score(problem, budget, agent) for budget in league.budgets]
    fitting = [each for each in scores if each is not None and each.share is not None and each.bytes_peak]
    return sorted(fitting, key=lambda each: each.bytes_peak or 0)


def _draw(axes: Axes, agent: str, points: list[Score]) -> None:
    style = dict(MARKS.get(agent, MARKS[points[0].kind]))
    if agent == PAPER:
        style["linestyle"] = ":"
    sizes = [each.bytes_peak or 0 for each in points]
    axes.plot(sizes, [_percent(each) for each in points], label=agent, alpha=0.9, **style)


def _percent(score: Score) -> float:
    return 100.0 * (score.share.value if score.share else 0.0)
