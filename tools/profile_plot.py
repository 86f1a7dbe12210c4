"""The picture of a profile: measured bytes with their band, both bounds, the cap and where it was felt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adamb.budgets.sizes import format_bytes
from adamb.tools.plots import BLUE, GREEN, GREY, STYLE, VERMILLION, _figure, _render

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from adamb.tools.profiling import Profile

LABEL_GAP = 0.07
"""Between two names, as a share of the panel's height."""


def plot_files(profiles: list[Profile]) -> dict[str, bytes]:
    """File name -> content, as PNG and SVG."""
    import matplotlib

    with matplotlib.rc_context(STYLE):
        figure = profile_figure(profiles)
        return {f"profile.{kind}": _render(figure, kind) for kind in ("png", "svg")}


def profile_figure(profiles: list[Profile]) -> Figure:
    """One panel per mode, both axes logarithmic."""
    figure = _figure(len(profiles))
    for axes, profile in zip(figure.axes, profiles, strict=True):
        _panel(axes, profile)
    figure.axes[-1].set_xlabel("episode")
    return figure


def _panel(axes: Axes, profile: Profile) -> None:
    points, labels = np.asarray(profile.points), []
    for name, colour in (("uncapped", BLUE), ("capped", GREEN)):
        if name not in profile.tracks:
            continue
        values = profile.tracks[name]["bytes"]
        axes.fill_between(
            points, values.min(axis=0), values.max(axis=0), color=colour, alpha=0.2, linewidth=0
        )
        axes.plot(points, values.mean(axis=0), color=colour, linewidth=1.8)
        labels.append((float(values.mean(axis=0)[-1]), name, colour))
    axes.plot(points, profile.bounds["bytes"], color=VERMILLION, linewidth=1.6, linestyle=(0, (5, 2)))
    labels.append((profile.bounds["bytes"][-1], "exact bound", VERMILLION))
    axes.plot(points, profile.paper["bytes"], color=GREY, linewidth=1.4, linestyle=(0, (1, 2)))
    met = "" if profile.paper_met else " (condition not met)"
    labels.append((profile.paper["bytes"][-1], f"paper's bound{met}", GREY))
    _draw_cap(axes, profile)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylabel("bytes")
    axes.set_title(_title(profile))
    axes.set_xlim(1, points[-1] * 1.05)
    _name_lines(axes, labels)


def _name_lines(axes: Axes, labels: list[tuple[float, str, str]]) -> None:
    """Names right of the lines' ends, moved apart where lines end close together."""
    bottom, top = np.log10(axes.get_ylim())
    lowest = 0.0
    for value, text, colour in sorted(labels):
        height = max(lowest, (np.log10(value) - bottom) / (top - bottom))
        axes.text(1.01, height, text, transform=axes.transAxes, color=colour, va="center", fontsize=9)
        lowest = height + LABEL_GAP


def _draw_cap(axes: Axes, profile: Profile) -> None:
    """The cap as a line, and a mark at the earliest and the median episode that felt it."""
    track = profile.tracks.get("capped")
    if track is None or track.budget_bytes is None:
        return
    axes.axhline(track.budget_bytes, color="black", linewidth=1)
    axes.annotate(
        f"cap {format_bytes(track.budget_bytes)}", (1, track.budget_bytes), xytext=(4, 3),
        textcoords="offset points", fontsize=9,
    )  # fmt: skip
    felt = track.cap_bound_at[track.cap_bound_at > 0]
    if len(felt):
        axes.plot(np.median(felt), track.budget_bytes, marker="v", color="black", markersize=7, linestyle="")
        middle, late = float(np.median(felt)), np.median(felt) ** 2 > profile.points[-1]
        axes.annotate(
            f"felt at episode {int(felt.min())} to {int(felt.max())}", (middle, track.budget_bytes),
            xytext=(-6 if late else 6, 8), textcoords="offset points", fontsize=9,
            ha="right" if late else "left",
        )  # fmt: skip


def _title(profile: Profile) -> str:
    fit, seeds = profile.exponent, len(profile.task.seeds)
    growth = ""
    if fit is not None:
        interval = "" if fit.ci95 is None else f" ± {fit.ci95:.3f}"
        growth = f", pool grows as K^({fit.measured:.3f}{interval})"
    return f"{profile.task.problem}, {profile.task.mode}, {seeds} seeds (band: all of them){growth}"
