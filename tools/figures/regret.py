"""True regret beside a bound, on logarithmic axes: there a power of K is a straight line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adamb.host_sim.runner import half_widths
from adamb.tools.figures import style
from adamb.tools.figures.style import GREY, heading, house_style, line_figure, name_lines

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = (style.BLUE, style.VERMILLION, style.GREEN, style.ORANGE, style.PURPLE, style.SKY)


@dataclass(frozen=True)
class Regret:
    """Regret of one algorithm (seeds, points) after some numbers of episodes (points,)."""

    episodes: np.ndarray
    values: np.ndarray


def regret_figure(
    title: str,
    detail: str,
    measured: Mapping[str, Regret],
    lines: Mapping[str, tuple[np.ndarray, np.ndarray]],
) -> Figure:
    """Measured regret with 95 % bands; `lines` are bounds by name: episodes and values."""
    with house_style():
        figure = line_figure(1)
        axes = figure.axes[0]
        names = []
        for colour, (name, regret) in zip(COLOURS, measured.items(), strict=False):
            mean, half = regret.values.mean(axis=0), half_widths(regret.values)
            axes.fill_between(
                regret.episodes,
                np.maximum(mean - half, mean / 100),
                mean + half,
                color=colour,
                alpha=0.18,
                linewidth=0,
            )
            axes.plot(regret.episodes, mean, color=colour, linewidth=1.8)
            names.append((float(mean[-1]), name, colour))
        for dashes, (name, (episodes, values)) in zip(
            (style.DASHED, style.DOTTED), lines.items(), strict=False
        ):
            axes.plot(episodes, values, color=GREY, linewidth=1.2, linestyle=dashes)
            names.append((float(values[-1]), name, GREY))
        last = max(regret.episodes[-1] for regret in measured.values())
        first = min(regret.episodes[0] for regret in measured.values())
        axes.set(xscale="log", yscale="log", xlim=(first, last), xlabel="episodes K", ylabel="regret R(K)")
        heading(axes, title, detail)
        name_lines(axes, names)
    return figure
