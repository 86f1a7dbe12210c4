"""The paper's figures from a finished sweep: reward and partition size, partitions over Q, Q* heat maps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adamb.firmware_model.host.errors import InputError
from adamb.firmware_model.host.reader import BlockView
from adamb.host_sim.agents import Agent
from adamb.host_sim.runner import half_widths, simulate
from adamb.tools.figures import DASHED, GREY, Q_COLOURS, heading, house_style, new_figure
from adamb.tools.figures.run import draw_boxes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Box:
    """A ball or cell: its lower corner, its side, its Q, and whether it was ever played."""

    state: float
    action: float
    side: float
    q: float
    visited: bool


def play_and_view(problem: Any, make: Callable[[], Agent]) -> Callable[[int], list[Box]]:
    """Let one learner play all episodes; the answer gives the boxes of a step.

    AdaMB's partition is read from its block, that of a compiled tree by asking for the balls at points. A grid is
    watched from outside while it plays. (Grids with a model renew a state's other actions as well; the picture
    shows each cell as it was when last played.)
    """
    if (problem.d_s, problem.d_a, problem.n) != (1, 1, 1):
        raise InputError("dims", f"{problem.d_s}+{problem.d_a}", "a partition is drawn for 1+1 and one seed")
    agent = make()
    blocks = getattr(agent, "blocks", None)
    if blocks is not None:
        simulate(problem, agent)
        return lambda h: _block_boxes(BlockView(blocks[0]), h)
    if hasattr(agent, "balls"):
        simulate(problem, agent)
        return lambda h: _tree_boxes(agent, h)
    watcher = Watcher(agent)
    simulate(problem, watcher)
    return watcher.boxes


def _block_boxes(view: BlockView, h: int) -> list[Box]:
    found = []
    for ball in view.balls(h):
        (state, action), side = view.box(ball)
        found.append(Box(state, action, side, view.q(ball, h), ball.visited))
    return found


def _tree_boxes(agent: Any, h: int) -> list[Box]:
    """From the whole square down: a part whose ball is smaller has four parts."""
    found: list[Box] = []
    corners, level = np.zeros((1, 2)), 0
    while len(corners):
        side = 0.5**level
        middles = corners + side / 2
        balls = agent.balls(0, h, middles[:, :1], middles[:, 1:])
        whole = balls[:, 1] == level
        for (state, action), (q, _, n) in zip(corners[whole], balls[whole], strict=True):
            found.append(Box(float(state), float(action), side, float(q), bool(n)))
        parts = [corners[~whole] + np.array((i, j)) * side / 2 for i in (0, 1) for j in (0, 1)]
        corners, level = np.concatenate(parts), level + 1
    return found


class Watcher(Agent):
    """Stands between a problem and one grid, and writes down what is played."""

    def __init__(self, agent: Any) -> None:
        super().__init__(agent.shape)
        if not hasattr(agent, "played") or not hasattr(agent, "offset"):
            raise InputError("agent", agent.name, "has no partition to draw")
        self.agent, self.name = agent, agent.name
        self.seen: list[dict[tuple[int, int], float]] = [{} for _ in range(agent.horizon)]
        self._at: list[tuple[float, float]] = [(0.0, 0.0)] * agent.horizon

    def act(self, h: int, states: np.ndarray) -> np.ndarray:
        actions = self.agent.act(h, states)
        self._at[h] = float(states[0, 0]) + self.agent.offset, float(actions[0, 0]) + self.agent.offset
        return actions

    def observe(self, h: int, rewards: np.ndarray, next_states: np.ndarray) -> None:
        self.agent.observe(h, rewards, next_states)
        size = self.agent.size
        state, action = (min(int(at * size), size - 1) for at in self._at[h])
        self.seen[h][state, action] = self.agent.played(0, h)[0]

    def end_episode(self) -> None:
        self.agent.end_episode()

    def stats(self) -> dict[str, np.ndarray]:
        return self.agent.stats()

    def boxes(self, h: int) -> list[Box]:
        size, most = self.agent.size, float(self.horizon - h)
        seen, offset = self.seen[h], self.agent.offset
        return [
            Box(i / size - offset, j / size - offset, 1 / size, seen.get((i, j), most), (i, j) in seen)
            for i in range(size)
            for j in range(size)
        ]


STEP = 1
"""The step whose Q is drawn, 0-based: the paper draws Q_2."""
COLOURS = {
    "AdaMB": "#0072B2",
    "AdaMB γ=3": "#56B4E9",
    "AdaMB tracking": "#004060",
    "AdaQL": "#009E73",
    "epsilonQL": "#E69F00",
    "epsilonMB": "#D55E00",
    "epsilonMB full": "#CC79A7",
}
DASHES: dict[str, Any] = {"epsilonQL": (0, (6, 3)), "epsilonMB": (3, (6, 3)), "epsilonMB full": (0, (2, 2))}
HEAT_COLUMNS = 4

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

    figure = new_figure(8.8, 6.8, 2, 1, sharex=True)
    top, bottom = figure.axes
    _lines(top, {agent: (at, reward) for agent, (at, reward, _) in curves.items()})
    _lines(bottom, {agent: (at, leaves) for agent, (at, _, leaves) in curves.items() if leaves is not None})
    if optimal is not None:
        top.axhline(optimal, color=GREY, linewidth=1.2, linestyle=DASHED, label="optimum V*")
    top.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    seeds = max(len(reward) for _, reward, _ in curves.values())
    with house_style():
        heading(top, problem, f"{seeds} seeds, 95 % bands; the constants of each algorithm are tuned")
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
    """Boxes coloured by Q for each algorithm, then the exact Q*, all on one scale."""
    from matplotlib.colors import Normalize

    panels = len(boxes) + (optimum is not None)
    columns = (panels + 1) // 2
    ranges = {agent: _range(found) for agent, found in boxes.items()}
    exact = [] if optimum is None else [(float(optimum.min()), float(optimum.max()))]
    scale = Normalize(*_span([*ranges.values(), *exact]))
    with house_style():
        figure = new_figure(1.5 + 2.5 * columns, 6.4, 2, columns, sharex=True, sharey=True)
        axes = figure.axes
        for panel, (agent, found) in zip(axes, boxes.items(), strict=False):
            corners = np.array([(box.state, box.action) for box in found])
            sides, q = np.array([box.side for box in found]), np.array([box.q for box in found])
            draw_boxes(panel, corners, sides, q, scale)
            low, high = ranges[agent]
            heading(panel, agent, f"{len(found)} balls, Q {low:.2f} to {high:.2f}")
        if optimum is not None:
            _heat(axes[len(boxes)], optimum, scale)
            heading(axes[len(boxes)], "exact Q*", f"{optimum.min():.2f} to {optimum.max():.2f}")
        _finish(figure, axes, panels, scale, f"{problem}: Q of step {STEP + 1}, one seed")
    return figure


def _range(boxes: list[Box]) -> tuple[float, float]:
    """Range of Q of the visited balls; where none is, of all."""
    known = [box.q for box in boxes if box.visited] or [box.q for box in boxes]
    return min(known), max(known)


def _span(ranges: Sequence[tuple[float, float]]) -> tuple[float, float]:
    low, high = min(each[0] for each in ranges), max(each[1] for each in ranges)
    return low, max(high, low + 1e-3)


def _heat(axes: Axes, grid: np.ndarray, scale: Any) -> None:
    axes.imshow(grid.T, origin="lower", extent=(0, 1, 0, 1), cmap=Q_COLOURS, norm=scale, aspect="equal")
    axes.set(xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))


def _finish(figure: Figure, axes: Sequence[Axes], panels: int, scale: Any, title: str) -> None:
    """The colour bar of the one scale, names of the axes, the title; places that stay empty are hidden."""
    from matplotlib.cm import ScalarMappable

    for panel in axes:
        panel.grid(False)
    for panel in axes[panels:]:
        panel.set_visible(False)
    figure.colorbar(ScalarMappable(scale, Q_COLOURS), ax=list(axes), label="Q", shrink=0.9, aspect=30)
    figure.supxlabel("state", fontsize=11)
    figure.supylabel("action", fontsize=11)
    figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")


def heat_figure(optima: Mapping[str, np.ndarray]) -> Figure:
    """Q* of the problems side by side, on one scale."""
    from matplotlib.colors import Normalize

    columns = min(len(optima), HEAT_COLUMNS)
    rows = -(-len(optima) // columns)
    scale = Normalize(*_span([(float(grid.min()), float(grid.max())) for grid in optima.values()]))
    with house_style():
        figure = new_figure(1.7 + 2.6 * columns, 0.9 + 2.8 * rows, rows, columns, sharex=True, sharey=True)
        axes = list(figure.axes)
        for panel, (problem, grid) in zip(axes, optima.items(), strict=False):
            _heat(panel, grid, scale)
            panel.set_title(problem, fontsize=10)
        _finish(figure, axes, len(optima), scale, f"Q* of step {STEP + 1}")
    return figure
