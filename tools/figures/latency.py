"""Cost against episode number, beside the paper's growth and the upper bound."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from adamb.tools.figures import style
from adamb.tools.figures.style import house_style, name_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from adamb.tools.device.latency.report import LatencyReport

WINDOWS = 60


def _windows(per_episode: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean and maximum over windows that are equally wide on a logarithmic axis."""
    last = len(per_episode)
    edges = np.unique(np.round(np.geomspace(1, last + 1, WINDOWS)).astype(int))
    parts = [per_episode[a - 1 : b - 1] for a, b in pairwise(edges)]
    middles = np.sqrt(edges[:-1] * (edges[1:] - 1.0))
    return middles, np.array([p.mean() for p in parts]), np.array([p.max() for p in parts])


def plot_files(report: LatencyReport) -> dict[str, bytes]:
    """latency.png and latency.svg."""
    return style.picture_files({"latency": latency_figure(report)})


def latency_figure(report: LatencyReport) -> Figure:
    """A panel for act, whose cost hardly changes, and one for observe, whose costs differ widely."""
    panels = {
        "act": (report.costs.act, report.bound_act_by_episode),
        "observe": (report.costs.observe, report.bound_observe_by_episode),
    }
    place = f"{report.request.problem} on {report.costs.target}"
    with house_style():
        figure = style.line_figure(len(panels))
        labels = []
        for axes, (name, (costs, limit)) in zip(figure.axes, panels.items(), strict=True):
            labels.append(_panel(axes, report, costs.astype(float), limit))
            unit = report.costs.unit
            style.heading(
                axes, f"{place}: {name}", f"{len(costs):,} episodes, {costs.size:,} calls, all measured"
            )
            axes.set(xscale="log", yscale="linear" if name == "act" else "log", ylabel=f"{unit} per {name}")
            if name == "act":
                axes.set_ylim(bottom=0)
            axes.set_xlim(1, 1.05 * len(costs))
        figure.axes[-1].set_xlabel("episode")
        for axes, found in zip(figure.axes, labels, strict=True):
            name_lines(axes, found)
    return figure


def _panel(
    axes: Axes, report: LatencyReport, costs: np.ndarray, limit: np.ndarray | None
) -> list[tuple[float, str, str]]:
    k, mean, _ = _windows(costs.mean(axis=1))
    _, _, worst = _windows(costs.max(axis=1))
    growth = report.exponent_paper - 1
    quarter = len(mean) // 4
    paper = max(mean[quarter], 1e-9) * (k / k[quarter]) ** growth
    lines = {
        "mean": (mean, style.BLUE, "solid", 2.0),
        "worst call": (worst, style.ORANGE, "solid", 1.2),
        f"paper: k^{growth:.2f}": (paper, style.GREY, style.DOTTED, 1.4),
    }
    for values, colour, dashes, width in lines.values():
        axes.plot(k, values, color=colour, linestyle=dashes, linewidth=width)
    labels = [(float(values[-1]), name, colour) for name, (values, colour, _, _) in lines.items()]
    if limit is not None:
        axes.plot(
            np.arange(1, len(limit) + 1), limit, color=style.VERMILLION, linestyle=style.DASHED, linewidth=1.6
        )
        labels.append((float(limit[-1]), "upper bound", style.VERMILLION))
    return labels
