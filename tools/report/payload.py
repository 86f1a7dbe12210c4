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
from adamb.budgets.sizes import format_cap
from adamb.firmware_model import _spec
from adamb.host_sim.blocks.recording import OptimumPictures, Recording, byte_planes, differences
from adamb.host_sim.blocks.view import BLOCK_COUNTERS
from adamb.host_sim.results.curves import RunCurves
from adamb.host_sim.results.lines import RunLines
from adamb.host_sim.results.sweep import SummaryRow
from adamb.tools.report.bounds import RunBounds
from adamb.tools.report.sources import LatencySource, ProfileSource, RunSource, SweepSource

BLOB_BYTES = 2_400_000
"""All recorded frames of a page together, as text; the rest of the page takes well under half a megabyte."""
LINE_POINTS = 500
LEDGER_FRAMES = 30


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
    recording = run.run.recording
    return {
        "label": run.label,
        "problem": run.summary.problem,
        "cap": run.summary.budget_bytes,
        "optimal": run.summary.optimal,
        "lines": None if run.lines is None else seed_lines(run.lines),
        "curve": vars(run.run.details.curve),
        "bytes": bytes_curve(run.run.curves),
        "bounds": None if bounds is None else bounds.to_json(),
        "timeline": None if recording is None else timeline(run, recording),
        "ledger_history": None if recording is None else ledger_history(recording),
    }


def seed_lines(lines: RunLines) -> dict[str, Any]:
    """A curve for each seed, and what agents earn that do not learn."""
    references = {name: found.mean for name, found in lines.references.items()}
    return {"references": references, "episode": lines.episode, "seeds": lines.seeds, "reward": lines.reward}


def thin(count: int, points: int = LINE_POINTS) -> np.ndarray:
    """Indices of at most `points` of `count` entries, with the first and the last."""
    if count <= points:
        return np.arange(count)
    return np.unique(np.linspace(0, count - 1, points).round().astype(int))


def bytes_curve(curves: RunCurves) -> dict[str, list[float]]:
    """Bytes in use at the recorded points."""
    columns = (curves.episode, curves.bytes_mean, curves.bytes_max)
    rows = [row for row in zip(*columns, strict=True) if row[2] is not None]
    return {name: [float(row[i] or 0) for row in rows] for i, name in enumerate(("episode", "mean", "max"))}


def timeline(run: RunSource, recording: Recording) -> dict[str, Any]:
    """The counters of the recorded seed, and the episodes of its restarts."""
    kept = thin(len(recording.counter_episodes))
    restarts = recording.counters[:, BLOCK_COUNTERS.index("restarts")]
    jumps = np.flatnonzero(np.diff(restarts, prepend=0) > 0)
    asked = run.run.details.asked_episodes
    return {
        "episodes": recording.counter_episodes[kept].tolist(),
        **{
            name: recording.counters[kept, BLOCK_COUNTERS.index(name)].tolist()
            for name in ("splits", "refused", "no_room", "reclaims", "saturations")
        },
        "restarts_at": recording.counter_episodes[jumps].tolist(),
        "drift_at": asked // 2 if run.run.drift == "half" else None,
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
    curves, found = source.measured.curves, source.summary
    episodes = np.array(curves.episode, dtype=float) + 1
    edges = np.unique(np.geomspace(1, len(episodes) + 1, 140).round().astype(int)) - 1
    columns = {"episode": [float(episodes[(a + b - 1) // 2]) for a, b in _pairs(edges)]}
    for name, values, join in (
        ("act_mean", curves.act_mean, np.mean), ("act_max", curves.act_max, np.max),
        ("observe_mean", curves.observe_mean, np.mean), ("observe_max", curves.observe_max, np.max),
        ("bound_act", curves.bound_act, np.max), ("bound_observe", curves.bound_observe, np.max),
    ):  # fmt: skip
        if values and values[0] is not None:
            full = np.array(values, dtype=float)
            columns[name] = [float(f"{join(full[a:b]):.6g}") for a, b in _pairs(edges)]
    limits = {"act": found.bound_act, "observe": found.bound_observe}
    return {"label": source.label, "unit": found.unit, "curves": columns, "bounds": limits}


def _pairs(edges: np.ndarray) -> list[tuple[int, int]]:
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))


def profile_payload(source: ProfileSource) -> dict[str, Any]:
    """Bytes of every track against the upper bound, by mode."""
    tracks: dict[str, Any] = {}
    for point in source.summary.points:
        mode = tracks.setdefault(point.mode, {"episode": [], "bound": [], "by_run": {}})
        series = mode["by_run"].setdefault(point.run, {"episode": [], "bytes": []})
        series["episode"].append(point.episode)
        series["bytes"].append(point.bytes_max)
        if len(mode["by_run"]) == 1:
            mode["episode"].append(point.episode)
            mode["bound"].append(point.bound_exact)
    for mode in tracks.values():
        mode["runs"] = [{"name": name, **series} for name, series in mode.pop("by_run").items()]
    return {"label": source.label, "tracks": tracks}


def sweep_payload(source: SweepSource) -> dict[str, Any]:
    """One panel for each problem with at least two caps: reward against the cap, a line for each agent."""
    panels = []
    rows = source.sweep.rows
    for problem in dict.fromkeys(row.problem for row in rows):
        agents: dict[str, dict[str, Any]] = {}
        best: float | None = None
        for row in rows:
            mean, half = row.reward_per_episode_mean, row.reward_per_episode_ci95 or 0.0
            if row.problem != problem or row.budget_bytes is None or row.refused or mean is None:
                continue
            name = row.agent + (f" c={row.bonus}" if row.bonus not in (None, "auto") else "")
            agent = agents.setdefault(name, {"name": name, "budget": [], "reward": [], "low": [], "high": []})
            agent["budget"].append(float(row.budget_bytes))
            agent["reward"].append(mean)
            agent["low"].append(mean - half)
            agent["high"].append(mean + half)
            best = row.optimal_mean or best
        lines = [agent for agent in agents.values() if len(agent["budget"]) > 1]
        if lines:
            panels.append({"problem": problem, "agents": lines, "optimal": best})
    return {"label": source.label, "panels": panels, "seeds": [sweep_seeds(source, row) for row in rows]}


def sweep_seeds(source: SweepSource, row: SummaryRow) -> dict[str, Any] | None:
    """The seeds of one combination in columns."""
    found = source.sweep.seeds_of(row)
    if not found:
        return None
    name = " · ".join([row.problem, row.agent, format_cap(row.budget_bytes)])
    rewards = [
        None if each.reward_per_episode is None else round(each.reward_per_episode, 4) for each in found
    ]
    return {
        "name": name,
        "seed": [each.seed for each in found],
        "reward": rewards,
        "bytes": [each.bytes_peak for each in found],
    }
