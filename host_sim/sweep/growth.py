"""The second part of a sweep: the same runs with more and more episodes, told how many there are.

A table `growth` in a sweep file has the keys of a sweep, but a list of `episodes`. Every number of episodes
is a sweep of its own inside one folder, so that options are tuned for each and learners whose size follows
from the number of episodes have the size for each.
"""

from __future__ import annotations

from typing import Any

from adamb.budgets.errors import InputError
from adamb.host_sim.sweep.reader import spec_of
from adamb.host_sim.sweep.spec import Cell, SweepSpec

LEAST_LENGTHS = 2
INHERITED = ("horizon", "drift", "continuing")
"""Keys of the whole sweep that hold here too, unless the table has its own."""


def growth_spec(spec: SweepSpec) -> SweepSpec | None:
    """None where the file has no such table."""
    table = spec.values.get("growth")
    if table is None:
        return None
    lengths = table.get("episodes")
    whole = isinstance(lengths, list) and all(isinstance(k, int) and k > 0 for k in lengths)
    if not whole or len(set(lengths)) < LEAST_LENGTHS or sorted(lengths) != lengths:
        raise InputError(f"{spec.path}, growth.episodes", lengths, "expected two or more growing numbers")
    shared = {key: spec.values[key] for key in INHERITED if key in spec.values}
    cells: list[Cell] = []
    for episodes in lengths:
        problems = [_labelled(entry, episodes) for entry in table.get("problems", [])]
        values = {**shared, **table, "episodes": episodes, "problems": problems}
        cells += spec_of(values, spec.text, spec.path).cells
    values = {**shared, **table, "name": f"{spec.name}, growth"}
    return SweepSpec(spec.path, spec.text, values, tuple(cells), spec.quick)


def _labelled(entry: Any, episodes: int) -> Any:
    """Options are tuned for a label, so each length needs its own."""
    table = {"name": entry} if isinstance(entry, str) else entry
    if not isinstance(table, dict):
        return entry
    return {**table, "label": with_length(str(table.get("label", table.get("name"))), episodes)}


def with_length(label: str, episodes: int) -> str:
    return f"{label}, K = {episodes}"
