"""Pictures of growth over the episodes on logarithmic axes: cost of calls, memory, regret, each beside its bound."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from adamb.firmware_model.host.sizes import format_bytes
from adamb.host_sim.runner import half_widths
from adamb.tools.figures import (
    BLUE,
    DASHED,
    DOTTED,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    heading,
    house_style,
    line_figure,
    name_lines,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from adamb.tools.device.latency.report import LatencyReport
    from adamb.tools.measure.memory_growth import Profile


COLOURS = (BLUE, VERMILLION, GREEN, ORANGE, PURPLE, SKY)


@dataclass(frozen=True)
class Regret:
    """Regret of one algorithm (seeds, points) after some numbers of episodes (points,)."""

    episodes: np.ndarray
    values: np.ndarray


def regret_figure(
    title: str, detail: str, measured: Mapping[str, Regret], lines: Mapping[str, tuple[np.ndarray, np.ndarray]]
) -> Figure:
    """Measured regret with 95 % bands; `lines` are bounds by name: episodes and values."""
    with house_style():
        figure = line_figure(1)
        axes = figure.axes[0]
        names = []
        for colour, (name, regret) in zip(COLOURS, measured.items(), strict=False):
            mean, half = regret.values.mean(axis=0), half_widths(regret.values)
            axes.fill_between(
                regret.episodes, np.maximum(mean - half, mean / 100), mean + half, color=colour, alpha=0.18, linewidth=0
            )
            axes.plot(regret.episodes, mean, color=colour, linewidth=1.8)
            names.append((float(mean[-1]), name, colour))
        for dashes, (name, (episodes, values)) in zip((DASHED, DOTTED), lines.items(), strict=False):
            axes.plot(episodes, values, color=GREY, linewidth=1.2, linestyle=dashes)
            names.append((float(values[-1]), name, GREY))
        last = max(regret.episodes[-1] for regret in measured.values())
        first = min(regret.episodes[0] for regret in measured.values())
        axes.set(xscale="log", yscale="log", xlim=(first, last), xlabel="episodes K", ylabel="regret R(K)")
        heading(axes, title, detail)
        name_lines(axes, names)
    return figure


WINDOWS = 60


def _windows(per_episode: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean and maximum over windows that are equally wide on a logarithmic axis."""
    last = len(per_episode)
    edges = np.unique(np.round(np.geomspace(1, last + 1, WINDOWS)).astype(int))
    parts = [per_episode[a - 1 : b - 1] for a, b in pairwise(edges)]
    middles = np.sqrt(edges[:-1] * (edges[1:] - 1.0))
    return middles, np.array([p.mean() for p in parts]), np.array([p.max() for p in parts])


def latency_figure(report: LatencyReport) -> Figure:
    """A panel for act, whose cost hardly changes, and one for observe, whose costs differ widely."""
    panels = {
        "act": (report.costs.act, report.bound_act_by_episode),
        "observe": (report.costs.observe, report.bound_observe_by_episode),
    }
    place = f"{report.request.problem} on {report.costs.target}"
    with house_style():
        figure = line_figure(len(panels))
        labels = []
        for axes, (name, (costs, limit)) in zip(figure.axes, panels.items(), strict=True):
            labels.append(_latency_panel(axes, report, costs.astype(float), limit))
            unit = report.costs.unit
            heading(axes, f"{place}: {name}", f"{len(costs):,} episodes, {costs.size:,} calls, all measured")
            axes.set(xscale="log", yscale="linear" if name == "act" else "log", ylabel=f"{unit} per {name}")
            if name == "act":
                axes.set_ylim(bottom=0)
            axes.set_xlim(1, 1.05 * len(costs))
        figure.axes[-1].set_xlabel("episode")
        for axes, found in zip(figure.axes, labels, strict=True):
            name_lines(axes, found)
    return figure


def _latency_panel(
    axes: Axes, report: LatencyReport, costs: np.ndarray, limit: np.ndarray | None
) -> list[tuple[float, str, str]]:
    k, mean, _ = _windows(costs.mean(axis=1))
    _, _, worst = _windows(costs.max(axis=1))
    growth = report.exponent_paper - 1
    quarter = len(mean) // 4
    paper = max(mean[quarter], 1e-9) * (k / k[quarter]) ** growth
    lines = {
        "mean": (mean, BLUE, "solid", 2.0),
        "worst call": (worst, ORANGE, "solid", 1.2),
        f"paper: k^{growth:.2f}": (paper, GREY, DOTTED, 1.4),
    }
    for values, colour, dashes, width in lines.values():
        axes.plot(k, values, color=colour, linestyle=dashes, linewidth=width)
    labels = [(float(values[-1]), name, colour) for name, (values, colour, _, _) in lines.items()]
    if limit is not None:
        axes.plot(np.arange(1, len(limit) + 1), limit, color=VERMILLION, linestyle=DASHED, linewidth=1.6)
        labels.append((float(limit[-1]), "upper bound", VERMILLION))
    return labels


Label = tuple[float, str, str]


def profile_figure(profiles: list[Profile]) -> Figure:
    """One panel per mode, both axes logarithmic and the same in all of them, as modes are compared."""
    with house_style():
        figure = line_figure(len(profiles), sharey=True)
        labels = [_memory_panel(axes, profile) for axes, profile in zip(figure.axes, profiles, strict=True)]
        figure.axes[-1].set_xlabel("episode")
        for axes, found in zip(figure.axes, labels, strict=True):
            name_lines(axes, found)
    return figure


def _memory_panel(axes: Axes, profile: Profile) -> list[Label]:
    """Draw; the names of the lines are placed when all panels have set the common scale."""
    points = np.asarray(profile.points)
    labels: list[Label] = []
    for name, colour in (("uncapped", BLUE), ("capped", GREEN)):
        if name not in profile.tracks:
            continue
        values = profile.tracks[name]["bytes"]
        axes.fill_between(points, values.min(axis=0), values.max(axis=0), color=colour, alpha=0.2, linewidth=0)
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
    heading(axes, f"{profile.task.played.problem}, {profile.task.mode}", f"{_detail(profile)}{felt}")
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
