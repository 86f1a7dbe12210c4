"""The picture of a profile: measured bytes with their band, both bounds, the cap and where it was felt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adamb.budgets.sizes import format_bytes
from adamb.tools.figures.style import (
    BLUE,
    DASHED,
    DOTTED,
    GREEN,
    GREY,
    VERMILLION,
    heading,
    house_style,
    line_figure,
    name_lines,
    picture_files,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from adamb.tools.measure.memory_growth import Profile

Label = tuple[float, str, str]


def plot_files(profiles: list[Profile]) -> dict[str, bytes]:
    """File name -> content, as PNG and SVG."""
    return picture_files({"profile": profile_figure(profiles)})


def profile_figure(profiles: list[Profile]) -> Figure:
    """One panel per mode, both axes logarithmic and the same in all of them, as modes are compared."""
    with house_style():
        figure = line_figure(len(profiles), sharey=True)
        labels = [_panel(axes, profile) for axes, profile in zip(figure.axes, profiles, strict=True)]
        figure.axes[-1].set_xlabel("episode")
        for axes, found in zip(figure.axes, labels, strict=True):
            name_lines(axes, found)
    return figure


def _panel(axes: Axes, profile: Profile) -> list[Label]:
    """Draw; the names of the lines are placed when all panels have set the common scale."""
    points = np.asarray(profile.points)
    labels: list[Label] = []
    for name, colour in (("uncapped", BLUE), ("capped", GREEN)):
        if name not in profile.tracks:
            continue
        values = profile.tracks[name]["bytes"]
        axes.fill_between(
            points, values.min(axis=0), values.max(axis=0), color=colour, alpha=0.2, linewidth=0
        )
        style = DASHED if labels else "solid"
        axes.plot(points, values.mean(axis=0), color=colour, linewidth=1.8, linestyle=style)
        labels.append((float(values.mean(axis=0)[-1]), name, colour))
    axes.plot(points, profile.bounds["bytes"], color=VERMILLION, linewidth=1.6, linestyle=DASHED)
    labels.append((profile.bounds["bytes"][-1], "upper bound", VERMILLION))
    axes.plot(points, profile.paper["bytes"], color=GREY, linewidth=1.4, linestyle=DOTTED)
    met = "" if profile.paper_met else " (for scale)"
    labels.append((profile.paper["bytes"][-1], f"paper's bound{met}", GREY))
    felt = _draw_cap(axes, profile, labels)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylabel("bytes")
    heading(axes, f"{profile.task.problem}, {profile.task.mode}", f"{_detail(profile)}{felt}")
    axes.set_xlim(1, points[-1] * 1.05)
    return labels


def _draw_cap(axes: Axes, profile: Profile, labels: list[Label]) -> str:
    """The cap as a line, a mark at the median episode without room, and the words for the heading."""
    track = profile.tracks.get("capped")
    if track is None or track.budget_bytes is None:
        return ""
    axes.axhline(track.budget_bytes, color="black", linewidth=1)
    labels.append((track.budget_bytes, f"cap {format_bytes(track.budget_bytes)}", "black"))
    felt = track.cap_bound_at[track.cap_bound_at > 0]
    if not len(felt):
        return "; no capped seed ran out of room"
    axes.plot(np.median(felt), track.budget_bytes, marker="v", color="black", markersize=7, linestyle="")
    return f"; ▼ room ran out in episode {int(felt.min())} to {int(felt.max())}"


def _detail(profile: Profile) -> str:
    fit, seeds = profile.exponent, len(profile.task.seeds)
    text = f"{seeds} seeds, band: all of them"
    if fit is not None:
        interval = "" if fit.ci95 is None else f" ± {fit.ci95:.3f}"
        text += f"; pool grows as K^({fit.measured:.3f}{interval})"
    return text
