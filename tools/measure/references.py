"""What agents earn that do not learn, on the seeds of a run: random actions, and the best fixed one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adamb.budgets.errors import AdambError
from adamb.host_sim.runner import Estimate, simulate

if TYPE_CHECKING:
    from adamb.tools.options import PlayedProblem

REFERENCES: dict[str, dict[str, Any]] = {"random": {}, "static": {"trials": 16}}
"""Agents and their options; few trials find the best action well enough for a line in a picture."""
EPISODES = 200
"""They earn the same in every episode, so a part tells it; where the world changes, all are played."""


def play_references(played: PlayedProblem) -> tuple[dict[str, Estimate], int]:
    """Mean reward of an episode by agent, and the episodes played; one that cannot play here is left out."""
    changes = played.drift != "none" or "trace" in (played.parameters or {})
    episodes = played.episodes if changes else min(played.episodes, EPISODES)
    found: dict[str, Estimate] = {}
    for agent, options in REFERENCES.items():
        try:
            played_by = simulate(played.make(), agent, episodes=episodes, optimum=False, **options)
        except AdambError:
            continue
        except KeyboardInterrupt:  # the run itself is done, and must be kept
            return {}, 0
        found[agent] = played_by.reward()
    return found, episodes
