"""Cost against episode number, beside the paper's growth and the exact bound."""

from __future__ import annotations

import io
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from adamb.tools.device.latency_report import Report

WINDOWS = 60


def _windows(per_episode: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean and maximum over windows that are equally wide on a logarithmic axis."""
    last = len(per_episode)
    edges = np.unique(np.round(np.geomspace(1, last + 1, WINDOWS)).astype(int))
    parts = [per_episode[a - 1 : b - 1] for a, b in pairwise(edges)]
    middles = np.sqrt(edges[:-1] * (edges[1:] - 1.0))
    return middles, np.array([p.mean() for p in parts]), np.array([p.max() for p in parts])


def plot_files(report: Report) -> dict[str, bytes]:
    """latency.png and latency.svg."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharex=True, layout="constrained")
    for axis, name, costs in zip(
        axes, ("act", "observe"), (report.costs.act, report.costs.observe), strict=True
    ):
        k, mean, worst = _windows(costs.astype(float).mean(axis=1))
        _, _, worst = _windows(costs.astype(float).max(axis=1))
        axis.plot(k, mean, color="C0", label="mean")
        axis.plot(k, worst, color="C1", linewidth=1, label="worst call")
        anchor = max(mean[len(mean) // 4], 1e-9)
        growth = report.exponent_paper - 1
        axis.plot(
            k, anchor * (k / k[len(k) // 4]) ** growth, "--", color="0.5", label=f"paper: k^{growth:.2f}"
        )
        limit = report.bound_act_by_episode if name == "act" else report.bound_observe_by_episode
        if limit is not None:
            axis.plot(np.arange(1, len(limit) + 1), limit, color="C3", label="bound")
        axis.set(
            xscale="log", yscale="log", xlabel="episode", ylabel=f"{report.costs.unit} per call", title=name
        )
        axis.grid(True, which="both", alpha=0.25)
        axis.legend(frameon=False)
    figure.suptitle(f"{report.request.problem} on {report.costs.target}")
    files = {}
    for kind in ("png", "svg"):
        buffer = io.BytesIO()
        figure.savefig(buffer, format=kind, dpi=130)
        files[f"latency.{kind}"] = buffer.getvalue()
    plt.close(figure)
    return files
