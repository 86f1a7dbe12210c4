"""Rows about where the controller ran, if that was not here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adamb.host_sim.runner import RunResult

TARGET_LABELS = {"act": "act", "observe": "observe", "end_episode": "end of episode"}


def target_lines(result: RunResult) -> list[tuple[str, str]]:
    """What was measured there."""
    found = result.target
    if found is None:
        return []
    rows = [("target", f"{', '.join(found['names'])}: {found['software']}")]
    for name, label in TARGET_LABELS.items():
        if name in found:
            cost, unit = found[name], found["unit"]
            text = f"{cost['mean']:.5g} {unit} (99 %: {cost['p99']:.5g}, most {cost['most']})"
            rows.append((f"{label}, on the target", text))
    rows += _energy_lines(found.get("energy"))
    if "no_energy" in found:
        rows.append(("energy", found["no_energy"]))
    line = found["link"]
    again = f", {line['repeats']} sent again" if line["repeats"] else ""
    back = f"; the target came back {line['returns']} times" if line["returns"] else ""
    rows.append(("link", f"{line['calls']} calls{again}{back}"))
    same = "could not be read" if result.digest is None else f"{result.digest}, as --core c gives it"
    rows.append(("digest of its block", same))
    return rows


def _energy_lines(found: dict[str, Any] | None) -> list[tuple[str, str]]:
    """Energy of a mean call on the board that was named, and its battery."""
    if found is None:
        return []
    rows = []
    for call, what in (("act", "a decision"), ("observe", "a learning step")):
        low, high = found[f"{call}_uj"]
        rows.append((f"energy of {call}", f"{low:.3g} to {high:.3g} µJ {what} on {found['board']}, mean"))
    if "battery" in found:
        rows.append(("battery", found["battery"]["sentence"]))
    return rows
