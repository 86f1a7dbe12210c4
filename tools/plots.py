"""Pictures of a run: reward and share of the optimum over the episodes, and bytes against the cap.

Colours are those of Okabe and Ito, which stay apart for every kind of colour vision; each line is also named
beside it, so nothing depends on colour alone.
"""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from adamb.budgets.sizes import format_bytes
from adamb.host_sim.runner import half_widths

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from adamb.host_sim.runner import RunResult

BLUE, VERMILLION, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#666666"
AXES_INCHES = 2.7
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


def plot_files(result: RunResult) -> dict[str, bytes]:
    """File name -> content of every picture of a run, each as PNG and SVG."""
    import matplotlib

    with matplotlib.rc_context(STYLE):
        figures = {"reward": reward_figure(result), "bytes": bytes_figure(result)}
        return {
            f"{name}.{kind}": _render(figure, kind)
            for name, figure in figures.items()
            for kind in ("png", "svg")
        }


def reward_figure(result: RunResult) -> Figure:
    """Smoothed reward with its 95 % band against V*, and the share of the optimum below where V* is known."""
    figure = _figure(2 if result.optimal is not None else 1)
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
        top.plot(episodes, best.mean(axis=0), color=VERMILLION, linewidth=1.6, linestyle=(0, (5, 2)))
        labels.append((float(best.mean(axis=0)[-1]), "optimum V*", VERMILLION))
        _share_axes(figure.axes[1], episodes, rewards, best)
    top.set_ylim(bottom=0, top=1.1 * max(label[0] for label in labels) or 1)
    _name_lines(top, labels)
    figure.axes[-1].set_xlabel(f"episode ({_window_note(window)})")
    return figure


def _share_axes(axes: Axes, episodes: np.ndarray, rewards: np.ndarray, best: np.ndarray) -> None:
    share = 100 * rewards / np.maximum(best, 1e-12)
    _band(axes, episodes, share, GREEN)
    axes.axhline(100, color=VERMILLION, linewidth=1.6, linestyle=(0, (5, 2)))
    axes.set_ylabel("share of the optimum, %")
    axes.set_ylim(0, max(110.0, 1.05 * float(share.mean(axis=0).max())))
    last = float(share.mean(axis=0)[-1])
    _name_lines(axes, [(last, f"{last:.1f} %", GREEN), (100.0, "100 %", VERMILLION)])


def bytes_figure(result: RunResult) -> Figure:
    """Bytes in use, mean and worst seed, under the cap."""
    from matplotlib.ticker import MultipleLocator

    figure = _figure(1)
    axes = figure.axes[0]
    mean, worst = result.bytes.mean(axis=0), result.bytes.max(axis=0)
    axes.fill_between(result.points, result.bytes.min(axis=0), worst, color=BLUE, alpha=0.18, linewidth=0)
    axes.plot(result.points, mean, color=BLUE, linewidth=2)
    labels = [(float(mean[-1]), f"mean {format_bytes(mean[-1])}", BLUE)]
    top = float(worst.max())
    if result.budget_bytes is not None:
        axes.axhline(result.budget_bytes, color=VERMILLION, linewidth=1.6, linestyle=(0, (5, 2)))
        labels.append((float(result.budget_bytes), f"cap {format_bytes(result.budget_bytes)}", VERMILLION))
        top = max(top, float(result.budget_bytes))
    axes.set_ylim(0, 1.12 * top or 1)
    axes.set_xlim(0, result.episodes)
    axes.yaxis.set_major_locator(MultipleLocator(2 ** max(0, math.ceil(math.log2(max(top, 1) / 8)))))
    axes.yaxis.set_major_formatter(lambda value, _: format_bytes(value))
    axes.set_ylabel("memory in use")
    axes.set_xlabel("episode")
    axes.set_title(_title(result, "band: all of them"))
    _name_lines(axes, labels)
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


def _name_lines(axes: Axes, labels: list[tuple[float, str, str]]) -> None:
    """Names at the right end of the lines, pushed apart around their middle where the lines meet."""
    low, high = axes.get_ylim()
    gap = 16 * (high - low) / (72 * AXES_INCHES)
    labels = sorted(labels)
    positions = np.array([label[0] for label in labels])
    for i in range(1, len(labels)):
        positions[i] = max(positions[i], positions[i - 1] + gap)
    positions -= np.mean(positions - [label[0] for label in labels])
    for position, (_, text, colour) in zip(positions, labels, strict=True):
        axes.annotate(
            text,
            xy=(1, position),
            xycoords=("axes fraction", "data"),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            color=colour,
            fontsize=10,
            annotation_clip=False,
        )


def _title(result: RunResult, band: str) -> str:
    cap = "no cap" if result.budget_bytes is None else f"cap {format_bytes(result.budget_bytes)}"
    count = len(result.seeds)
    seeds = f"seed {result.seeds[0]}" if count == 1 else f"{count} seeds ({band})"
    core = f" ({result.core} core)" if result.core else ""
    return f"{result.problem}: {result.agent}{core}, {cap}, {seeds}"


def _figure(rows: int) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.4, 0.9 + (AXES_INCHES + 0.3) * rows), layout="constrained")
    FigureCanvasAgg(figure)
    figure.subplots(rows, 1, sharex=True)
    return figure


def _render(figure: Figure, kind: str) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format=kind, dpi=160, metadata={"Date": None} if kind == "svg" else None)
    return buffer.getvalue()
