"""How far the deposit of an oil problem is from a grid's points, which decides who wins at a fixed place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adamb.host_sim.rivals.common import TableRival


def nearest_point(places: np.ndarray, size: int, offset: float) -> float:
    """Mean distance from the places to the nearest of `size` centres of cells, moved left by the offset.

    >>> nearest_point(np.array([0.75]), 10, 0.0), round(nearest_point(np.array([0.75]), 10, 0.05), 3)
    (0.0, 0.05)
    """
    points = (np.arange(size) + 0.5) / size - offset
    return float(np.abs(np.asarray(places)[:, None] - points).min(axis=1).mean().round(12))


def deposit_notes(cells: Sequence[Any]) -> dict[tuple[str, str], str]:
    """Problem and grid -> a note, for every grid on a problem whose deposits are the same for all seeds."""
    notes: dict[tuple[str, str], str] = {}
    for cell in cells:
        place = cell.problem_label, cell.agent_label
        if place in notes or cell.instance != "paper":
            continue
        problem, make = cell.build(cell.seeds[:1])
        deposits = getattr(problem, "c", None)
        if deposits is None or problem.d_s > 1:
            notes[place] = ""
            continue
        agent = make()
        notes[place] = ""
        if isinstance(agent, TableRival):
            distance = nearest_point(deposits[0], agent.size, agent.offset)
            notes[place] = f"deposit {distance:.3g} from the net, {0.25 / agent.size:.3g} for a random place"
    return {place: text for place, text in notes.items() if text}
