"""Pictures of a run: reward and share of the optimum over the episodes, and bytes against the cap."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from adamb.budgets.sizes import format_bytes
from adamb.host_sim.runner import half_widths
from adamb.tools.figures.style import (
    BLUE,
    DASHED,
    GREEN,
    VERMILLION,
    house_style,
    line_figure,
    name_lines,
    picture_files,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
    episodes = _trailing_positions(result.episodes, window)
    rewards = smooth(result.returns, window)
    _band(top, episodes, rewards, BLUE)
    top.set_ylabel("reward per episode")
    top.set_title(_title(result, "95 % band"))
    labels = [(float(rewards.mean(axis=0)[-1]), result.agent, BLUE)]
    if result.optimal is not None:
        best = smooth(result.optimal, window)
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


def smooth(values: np.ndarray, window: int) -> np.ndarray:
    """Mean of the last `window` columns, or of as many as there are: the first episodes stay visible."""
    sums = np.cumsum(np.pad(values, ((0, 0), (1, 0))), axis=1)
    ends = _trailing_positions(values.shape[1], window)
    starts = np.maximum(ends - window, 0)
    return (sums[:, ends] - sums[:, starts]) / (ends - starts)


def _trailing_positions(episodes: int, window: int) -> np.ndarray:
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
