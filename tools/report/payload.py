"""What the page draws, packed small: curves as fine as a screen, blocks as compressed differences."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adamb.budgets.ledger import OWNERS, Ledger, read_ledger
from adamb.firmware_model import _spec
from adamb.host_sim.block_view import COUNTERS
from adamb.host_sim.recording import OptimumPictures, Recording, byte_planes, differences
from adamb.tools.report.bounds import RunBounds
from adamb.tools.report.sources import LatencySource, ProfileSource, RunSource, SweepSource

BLOB_BYTES = 2_400_000
"""All recorded frames of a page together, as text; the rest of the page takes well under half a megabyte."""
LINE_POINTS = 500
LEDGER_FRAMES = 30
SMOOTHING = 50


@dataclass
class Explorer:
    """One replay: what the page reads first, and the texts it reads when the replay is opened."""

    info: dict[str, Any]
    blobs: dict[str, str] = field(default_factory=dict)


def spec_constants() -> dict[str, Any]:
    """Positions and constants of the layout by name, for the decoder in the page."""
    found: dict[str, Any] = {
        name: int(value)
        for name, value in vars(_spec).items()
        if name.isupper() and isinstance(value, int) and not isinstance(value, bool)
    }
    found["RECIPROCAL"] = list(struct.unpack(f"<{len(_spec.RECIPROCAL) // 2}H", _spec.RECIPROCAL))
    return found


def explorer(
    number: int,
    label: str,
    frames: Sequence[np.ndarray],
    episodes: Sequence[int],
    optimum: OptimumPictures | None,
    limit: int = BLOB_BYTES,
) -> Explorer:
    """Pack a replay into at most `limit` characters; every second frame goes until it fits."""
    pictures = None if optimum is None else packed(optimum.scaled.ravel())
    if optimum is not None and pictures is not None and len(pictures) > limit // 3:
        optimum = OptimumPictures(optimum.episodes[-1:], optimum.scaled[-1:])
        pictures = packed(optimum.scaled.ravel())
    left = limit - len(pictures or "")
    kept = list(range(len(frames)))
    while True:
        text = packed(differences([frames[i] for i in kept]))
        if len(text) <= left or len(kept) <= 2:
            break
        kept = sorted({0, *kept[::2], kept[-1]})
    made = Explorer(
        {
            "id": number,
            "label": label,
            "blob": f"frames-{number}",
            "lengths": [len(frames[i]) for i in kept],
            "episodes": [int(episodes[i]) for i in kept],
            "recorded_frames": len(frames),
            "optimum": None,
        },
        {f"frames-{number}": text},
    )
    if optimum is not None and pictures is not None:
        made.blobs[f"optimum-{number}"] = pictures
        made.info["optimum"] = {
            "blob": f"optimum-{number}",
            "shape": list(optimum.scaled.shape),
            "episodes": optimum.episodes.tolist(),
        }
    return made


def packed(words: np.ndarray) -> str:
    """16-bit words as text."""
    return base64.b64encode(zlib.compress(byte_planes(words).tobytes(), 9)).decode()


def run_payload(run: RunSource, bounds: RunBounds | None) -> dict[str, Any]:
    recording = run.recording
    return {
        "label": run.label,
        "cap": run.budget_bytes,
        "curve": run.details.get("curve") or curve_from_csv(run),
        "bytes": bytes_curve(run),
        "bounds": None if bounds is None else bounds.to_json(),
        "timeline": None if recording is None else timeline(run, recording),
        "ledger_history": None if recording is None else ledger_history(recording),
    }


def thin(count: int, points: int = LINE_POINTS) -> np.ndarray:
    """Indices of at most `points` of `count` entries, with the first and the last."""
    if count <= points:
        return np.arange(count)
    return np.unique(np.linspace(0, count - 1, points).round().astype(int))


def curve_from_csv(run: RunSource) -> dict[str, Any] | None:
    """A running mean where a folder has no details; without the seeds there is no band for it."""
    rewards = run.curves.get("reward_mean")
    if not rewards:
        return None
    best = run.curves.get("optimal_mean") or []
    window = max(1, len(rewards) // SMOOTHING)
    kept = thin(len(rewards))
    known = bool(best) and best[0] is not None
    return {
        "window": window,
        "episode": (kept + 1).tolist(),
        "reward": _running(rewards, kept, window),
        "reward_ci95": None,
        "optimal": _running(best, kept, window) if known else None,
    }


def _running(values: Sequence[float | None], kept: np.ndarray, window: int) -> list[float]:
    sums = np.concatenate([[0.0], np.cumsum([value or 0.0 for value in values])])
    starts = np.maximum(kept + 1 - window, 0)
    return [float(f"{value:.5g}") for value in (sums[kept + 1] - sums[starts]) / (kept + 1 - starts)]


def bytes_curve(run: RunSource) -> dict[str, list[float]]:
    """Bytes in use at the recorded points."""
    columns = (run.curves.get(name, []) for name in ("episode", "bytes_mean", "bytes_max"))
    rows = [row for row in zip(*columns, strict=True) if row[2] is not None]
    return {name: [float(row[i] or 0) for row in rows] for i, name in enumerate(("episode", "mean", "max"))}


def timeline(run: RunSource, recording: Recording) -> dict[str, Any]:
    """The counters of the recorded seed, and the episodes of its restarts."""
    kept = thin(len(recording.counter_episodes))
    restarts = recording.counters[:, COUNTERS.index("restarts")]
    jumps = np.flatnonzero(np.diff(restarts, prepend=0) > 0)
    problem = run.details.get("problem") or recording.meta.get("problem", {})
    asked = int(run.details.get("asked_episodes") or run.data["episodes"])
    return {
        "episodes": recording.counter_episodes[kept].tolist(),
        **{
            name: recording.counters[kept, COUNTERS.index(name)].tolist()
            for name in ("splits", "refused", "no_room", "reclaims", "saturations")
        },
        "restarts_at": recording.counter_episodes[jumps].tolist(),
        "drift_at": asked // 2 if problem.get("drift") == "half" else None,
    }


def frame_ledger(frame: np.ndarray) -> Ledger:
    """The ledger of the whole block of which a frame is the used part."""
    return read_ledger(frame.tolist(), length=int(frame[_spec.H_UNITS]) * int(_spec.UNIT_WORDS))


def ledger_history(recording: Recording) -> dict[str, Any]:
    """Bytes in use by owner at some of the frames."""
    kept = thin(len(recording.frames), LEDGER_FRAMES)
    ledgers = [frame_ledger(recording.frames[i]) for i in kept]
    owners = [
        owner
        for owner in OWNERS
        if owner not in ("free", "tail") and any(ledger.bytes[owner] for ledger in ledgers)
    ]
    return {
        "episodes": recording.episodes[kept].tolist(),
        "owners": owners,
        "bytes": [[ledger.bytes[owner] for ledger in ledgers] for owner in owners],
    }


def latency_payload(source: LatencySource) -> dict[str, Any]:
    curves = source.curves
    columns = None
    if curves.get("episode"):
        episodes = np.array(curves["episode"], dtype=float) + 1
        edges = np.unique(np.geomspace(1, len(episodes) + 1, 140).round().astype(int)) - 1
        columns = {"episode": [float(episodes[(a + b - 1) // 2]) for a, b in _pairs(edges)]}
        for name, join in (
            ("act_mean", np.mean), ("act_max", np.max), ("observe_mean", np.mean), ("observe_max", np.max),
            ("bound_act", np.max), ("bound_observe", np.max),
        ):  # fmt: skip
            values = curves.get(name, [])
            if values and values[0] is not None:
                full = np.array(values, dtype=float)
                columns[name] = [float(f"{join(full[a:b]):.6g}") for a, b in _pairs(edges)]
    limits = {kind: source.data.get(f"bound_{kind}") for kind in ("act", "observe")}
    return {"label": source.label, "unit": source.data.get("unit", ""), "curves": columns, "bounds": limits}


def _pairs(edges: np.ndarray) -> list[tuple[int, int]]:
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))


def profile_payload(source: ProfileSource) -> dict[str, Any]:
    """Bytes of every track against the exact bound, by mode."""
    tracks: dict[str, Any] = {}
    for point in source.data["points"]:
        mode = tracks.setdefault(str(point.get("mode")), {"episode": [], "bound": [], "by_run": {}})
        series = mode["by_run"].setdefault(str(point.get("run")), {"episode": [], "bytes": []})
        series["episode"].append(point["episode"])
        series["bytes"].append(point.get("bytes_max", point.get("bytes")))
        if len(mode["by_run"]) == 1:
            mode["episode"].append(point["episode"])
            mode["bound"].append(point.get("bound_exact"))
    for mode in tracks.values():
        mode["runs"] = [{"name": name, **series} for name, series in mode.pop("by_run").items()]
    return {"label": source.label, "tracks": tracks}


def sweep_payload(source: SweepSource) -> dict[str, Any]:
    """One panel for each problem with at least two caps: reward against the cap, a line for each agent."""
    panels = []
    for problem in dict.fromkeys(row["problem"] for row in source.rows):
        agents: dict[str, dict[str, Any]] = {}
        best: float | None = None
        for row in source.rows:
            if row["problem"] != problem or not row.get("budget_bytes") or row.get("refused"):
                continue
            name = row["agent"] + (f" c={row['bonus']}" if row.get("bonus") not in (None, "", "auto") else "")
            agent = agents.setdefault(name, {"name": name, "budget": [], "reward": [], "low": [], "high": []})
            mean, half = float(row["reward_per_episode_mean"]), float(row["reward_per_episode_ci95"] or 0)
            agent["budget"].append(float(row["budget_bytes"]))
            agent["reward"].append(mean)
            agent["low"].append(mean - half)
            agent["high"].append(mean + half)
            best = float(row["optimal_mean"]) if row.get("optimal_mean") else best
        lines = [agent for agent in agents.values() if len(agent["budget"]) > 1]
        if lines:
            panels.append({"problem": problem, "agents": lines, "optimal": best})
    return {"label": source.label, "panels": panels}
