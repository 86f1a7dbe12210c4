"""What `--record` costs a run: `python -m adamb.tools.measure.recording_speed`.

Times are processor time and the recording is timed inside the run, so that a busy machine slows both alike.
Exit code 1 above 5 % of the run.
"""

from __future__ import annotations

import sys
import time

from adamb.host_sim.agent import Progress
from adamb.host_sim.agents import make_agent
from adamb.host_sim.blocks.recording import Recorder
from adamb.host_sim.registry import make_problem
from adamb.host_sim.runner import simulate

EPISODES, SEEDS, BUDGET, LIMIT = 20_000, 5, 4096, 0.05


def main() -> int:
    problem = make_problem("oil-laplace", range(SEEDS), episodes=EPISODES)
    agent = make_agent("adamb", problem, budget_bytes=BUDGET, core="c")
    problem.optimal()  # solved before the clock starts
    spent, clock = 0.0, time.process_time
    recorder = Recorder(problem, agent, EPISODES)

    def progress(state: Progress) -> bool:
        nonlocal spent
        start = clock()
        recorder(state.done)
        spent += clock() - start
        return False

    start = clock()
    simulate(problem, agent, progress=progress)
    run = clock() - start - spent
    start = clock()
    content = recorder.finish(EPISODES).to_bytes()
    spent += clock() - start
    print(f"{EPISODES} episodes, seeds 0..{SEEDS - 1}: run {run:.2f} s, recording {spent:.2f} s, ", end="")
    print(f"{spent / run:.1%} of it, {len(content)} bytes")
    return int(spent > LIMIT * run)


if __name__ == "__main__":
    sys.exit(main())
