"""The paper's comparison at the paper's size, timed: `python -m adamb.tools.measure.paper_speed [PROBLEM]`.

Four algorithms (AdaMB in both modes), 200 seeds, 2000 episodes of 5 steps, one bonus, two processes. Times
are processor time, so that a busy computer does not blur them: each part's share of the clock times what the
process was given. Exit code 1 when the whole takes more than 60 s of the clock or AdaMB's own time is above
3 s. `--seeds` makes it shorter; the limits then shrink in proportion.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

from joblib import Parallel, delayed

from adamb.host_sim.agents import make_agent
from adamb.host_sim.registry import make_problem
from adamb.host_sim.runner import RunResult, simulate

EPISODES, HORIZON, BONUS, JOBS = 2000, 5, 0.3, 2
SEEDS, TOTAL_SECONDS, AGENT_SECONDS = 200, 60.0, 3.0
ALGORITHMS: dict[str, tuple[str, dict[str, Any]]] = {
    "AdaMB tracking": ("adamb", {}),
    "AdaMB paper": ("adamb", {"mode": "paper"}),
    "AdaQL": ("adaql", {}),
    "epsilonQL": ("epsql", {}),
    "epsilonMB": ("epsmb", {}),
}


def play(problem: str, algorithm: str, seeds: int) -> tuple[RunResult, float]:
    """All seeds of one algorithm, stepped together, and the share of the clock that the process was given."""
    name, options = ALGORITHMS[algorithm]
    made = make_problem(problem, range(seeds), episodes=EPISODES, horizon=HORIZON)
    agent = make_agent(name, made, bonus=BONUS, **options)
    clock, processor = time.perf_counter(), time.process_time()
    result = simulate(made, agent, record=1)
    return result, (time.process_time() - processor) / (time.perf_counter() - clock)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("problem", nargs="?", default="oil-laplace")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    given = parser.parse_args(arguments)
    share = given.seeds / SEEDS
    make_problem(given.problem, range(given.seeds)).optimal()
    began = time.perf_counter()
    run = delayed(play)
    results = Parallel(n_jobs=JOBS)(run(given.problem, name, given.seeds) for name in ALGORITHMS)
    total = time.perf_counter() - began
    found = {
        name: (result.seconds["agent"] * given_share, result.seconds["environment"] * given_share, result)
        for name, (result, given_share) in zip(ALGORITHMS, results, strict=True)
    }
    unit = found["AdaQL"][0]
    print(f"{given.problem}, seeds 0..{given.seeds - 1}, {EPISODES} episodes of {HORIZON}, bonus {BONUS}")
    print(f"{'':<16}{'agent s':>9}{'× AdaQL':>9}{'environment s':>15}{'µs a step':>11}  reward")
    for name, (agent, environment, result) in found.items():
        step = 1e6 * agent / result.returns.size / result.horizon
        numbers = f"{agent:>9.2f}{agent / unit:>9.2f}{environment:>15.2f}{step:>11.3f}"
        print(f"{name:<16}{numbers}  {result.reward()}")
    slowest = max(found[name][0] for name in ALGORITHMS if name.startswith("AdaMB"))
    limits = TOTAL_SECONDS * max(share, 0.2), AGENT_SECONDS * share
    print(f"all of it {total:.1f} s on {JOBS} processes (limit {limits[0]:.0f}), ", end="")
    print(f"AdaMB's own time {slowest:.2f} s (limit {limits[1]:.1f})")
    return int(total > limits[0] or slowest > limits[1])


if __name__ == "__main__":
    sys.exit(main())
