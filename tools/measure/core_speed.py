"""What the C core costs, and how that grows with episodes: `python -m adamb.tools.measure.core_speed`.

Two measures on oil-laplace, no cap. Nanoseconds of one act and one observe in the batch entry, which the
machine's other work disturbs; and the core's own count of work (blocks, nodes and entries looked at), from a
build that counts, which nothing disturbs. The exponent is the slope of log cost over log K from 1000 on.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from adamb.firmware_model.host import binding
from adamb.host_sim.agents import build
from adamb.host_sim.agents.core import CoreAgent
from adamb.host_sim.registry import make_problem
from adamb.host_sim.runner import simulate

SEEDS = range(20)
POINTS = (500, 1000, 2000, 4000, 8000, 16000)
STEP_LIMIT_NS, EXPONENT_LIMIT = 1000.0, 0.1
COUNTER = """#include <stdint.h>
extern uint64_t adamb_work_n;
#define ADAMB_WORK() (adamb_work_n++)
"""


def counting_library(folder: Path) -> tuple[Any, Any]:
    """The core and its batch entry with a counter at every ADAMB_WORK()."""
    from cffi import FFI

    from adamb.firmware_model.host import _binding_build as sources

    (folder / "work.h").write_text(COUNTER)
    (folder / "work.c").write_text("#include <stdint.h>\nuint64_t adamb_work_n;\n")
    flags = [*sources.FLAGS, *(f"-I{sources.FIRMWARE / name}" for name in sources.FOLDERS)]
    target = folder / "counting.so"
    hook = ["-include", str(folder / "work.h")]
    binding.compile_library([*sources.SOURCES, folder / "work.c"], target, [*hook, *flags])
    ffi = FFI()
    ffi.cdef(sources.declarations() + "\nextern uint64_t adamb_work_n;")
    return ffi, ffi.dlopen(str(target))


def task(episodes: int) -> Any:
    return make_problem("oil-laplace", SEEDS, instance="paper", episodes=episodes, params={"start": "random"})


def nanoseconds(share: str) -> float:
    """act + observe at K = 2000, the fastest of five runs."""
    best = float("inf")
    for _ in range(5):
        problem = task(2000)
        result = simulate(problem, build(CoreAgent, problem, budget_bytes=None, share=share))
        best = min(best, 1000 * result.microseconds_per_step())
    return best


def work_by_episode(share: str, lib: Any) -> np.ndarray:
    """Work of one step, averaged over steps and seeds, for every episode."""
    problem = task(POINTS[-1])
    agent = build(CoreAgent, problem, budget_bytes=None, share=share)
    work = np.empty(problem.episodes)
    for k in range(problem.episodes):
        before = lib.adamb_work_n
        states = problem.begin_episode()
        for h in range(problem.horizon):
            rewards, states = problem.step(h, agent.act(h, states))
            agent.observe(h, rewards, states)
        agent.end_episode()
        work[k] = (lib.adamb_work_n - before) / problem.horizon / problem.n
    return work


def exponent(work: np.ndarray) -> float:
    """Slope of log(mean work of the second half of K episodes) over log K."""
    points = [k for k in POINTS if k >= 1000]
    costs = [work[k // 2 : k].mean() for k in points]
    return float(np.polyfit(np.log(points), np.log(costs), 1)[0])


def main() -> int:
    ok = True
    times = {share: nanoseconds(share) for share in ("off", "on")}
    with tempfile.TemporaryDirectory() as folder:
        ffi, lib = counting_library(Path(folder))
        binding.ffi, binding.lib = ffi, lib
        for share, step_ns in times.items():
            work = work_by_episode(share, lib)
            slope = exponent(work)
            costs = ", ".join(f"{k}: {work[k // 2 : k].mean():.1f}" for k in POINTS)
            print(f"share={share}: {step_ns:.0f} ns a step, {step_ns / STEP_LIMIT_NS:.2f} of the limit")
            print(f"    work a step by K: {costs}; grows as K^{slope:.3f} (limit K^{EXPONENT_LIMIT})")
            ok &= step_ns < STEP_LIMIT_NS and slope <= EXPONENT_LIMIT
    print(f"seeds {SEEDS[0]}-{SEEDS[-1]}; {'within the limits' if ok else 'a limit is exceeded'}")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
