"""What the fresher Q of the integer core is worth: `python -m adamb.tools.measure.fresher_q`.

The text renews Q of a ball only when it is played. The integer core in mode paper keeps Q as a surplus over
today's expectation of V, so Q follows V at once. Both play oil-laplace on the same seeds with the same bonus
and split threshold, the text in doubles: once with a Q that never rises, as in the core, so that only the
fresher Q differs (and rounding and clamping), once as it is printed.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np

from adamb.host_sim.registry import make_problem
from adamb.host_sim.runner import Estimate, estimate, simulate

PROBLEM, EPISODES, SEEDS, GAMMA = "oil-laplace", 2000, 400, 2
PLACES = {"random": "deposits at random places", "paper": "deposit at .75"}
RULES = ("decreasing", "free")


def earned(instance: str, seeds: int, **options: Any) -> np.ndarray:
    """Mean return of an episode, per seed; every episode starts at a random place."""
    start = {"start": "random"}
    problem = make_problem(PROBLEM, range(seeds), instance=instance, episodes=EPISODES, params=start)
    played = simulate(problem, "adamb", mode="paper", gamma=GAMMA, **options)
    return np.asarray(played.returns.mean(axis=1))


def effects(instance: str, seeds: int) -> dict[str, Estimate]:
    """By rule of Q: by how many per cent of the text's reward the core earns more, paired by seed."""
    core, found = earned(instance, seeds, core="c"), {}
    for rule in RULES:
        text = earned(instance, seeds, core="double", q_rule=rule)
        found[rule] = estimate(100 * (core - text) / text.mean())
    return found


def written(effect: Estimate) -> str:
    return f"{effect.mean:+.1f} ± {effect.ci95 or 0:.1f} %"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--seeds", type=int, default=SEEDS)
    given = parser.parse_args(arguments)
    print("Reward of the integer core in mode paper above that of the text in doubles, in per cent of it,")
    print(f"{PROBLEM}, γ = {GAMMA}, {EPISODES} episodes, {given.seeds} paired seeds, 95 % intervals.\n")
    print(f"| place | {' | '.join(f'`q_rule={rule}`' for rule in RULES)} |\n|---|---|---|")
    for instance, place in PLACES.items():
        found = effects(instance, given.seeds)
        print(f"| {place} | {' | '.join(written(found[rule]) for rule in RULES)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
