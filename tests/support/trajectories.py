"""Print a digest of every trajectory that a seed decides: states, actions and rewards, bit for bit.

    python tests trajectories [--quick] [--library FILE] [NAME ...]

One line for each problem and each agent or rule policy of it. Two machines on which a seed gives the same
print the same lines; `test_same_everywhere.py` compares them under several settings of one machine.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import types
from collections.abc import Callable, Iterator

import numpy as np
from cffi import FFI

from adamb import host_sim
from adamb.firmware_model.host.errors import InputError
from adamb.host_sim import _sim_build

#: Few episodes for every pair; the learners of the second list play until a last digit would show.
EPISODES, LONG_EPISODES, SEEDS = 12, 400, (3, 4)
LONG = ("adamb", "adaql", "cmac", "epsmb", "kernel-ucbvi")
#: Problems that simulate every request: a tenth of the episodes.
SIMULATED = ("cache-2x1", "cache-scan", "cache-slow", "dram-1x1", "dram-2x1", "dram-3x2")
#: What the registered presets leave out.
VARIANTS = {
    "oil-laplace walk": {"drift": "walk"},
    "oil-2d paper": {"instance": "paper"},
    "oil-sparse authors": {"params": {"survey": "authors"}, "continuing": True},
    "ambulance-1 shape": {"params": {"beta": (0.6, 0.8)}},
    "ambulance-2 walk": {"drift": "walk", "continuing": True},
    "ambulance-3 shifting": {"params": {"arrivals": "shifting"}},
    "allocation-2x1 erlang": {"params": {"service": "erlang"}},
    "allocation-2x1 budget": {"params": {"service": "budget"}, "drift": "half"},
    "cache-lite walk": {"drift": "walk"},
    "dram-lite walk": {"drift": "walk", "continuing": True},
}


def use_library(path: str) -> None:
    """Play with the host's C as compiled into a shared library, in place of the installed extension."""
    assert "adamb.host_sim.draws" not in sys.modules, "the installed extension is in use already"
    module = types.ModuleType("adamb.host_sim._sim")
    module.ffi = FFI()
    module.ffi.cdef(_sim_build.declarations(_sim_build.HEADERS))
    module.lib = module.ffi.dlopen(path)
    sys.modules[module.__name__] = host_sim._sim = module


def trajectory(problem, act: Callable, learn: Callable, end: Callable, episodes: int) -> str:
    """SHA-256 of everything that happens."""
    digest = hashlib.sha256()
    for _ in range(episodes):
        states = problem.begin_episode()
        digest.update(states.tobytes())
        for h in range(problem.horizon):
            actions = np.asarray(act(h, states), dtype=float)
            rewards, states = problem.step(h, actions)
            learn(h, rewards, states)
            for part in (actions, rewards, states):
                digest.update(np.ascontiguousarray(part).tobytes())
        end()
    return digest.hexdigest()[:16]


def nothing(*_: object) -> None:
    return None


def lines(name: str, quick: bool) -> Iterator[str]:
    """The lines of one problem or variant."""
    base, options = name.split()[0], VARIANTS.get(name, {})
    slow = base in SIMULATED

    def fresh(episodes):
        return host_sim.make_problem(base, SEEDS, episodes=episodes, **options)

    for agent_name in [*host_sim.agent_names(), "adamb reference"]:
        long = LONG_EPISODES // (20 if slow else 1) // (4 if quick else 1)
        episodes = long if agent_name in LONG else 3 if slow else EPISODES
        problem = fresh(episodes)
        own = {"static": {"trials": 4 if slow else 16}, "adamb reference": {"core": "reference"}}
        try:
            agent = host_sim.make_agent(agent_name.split()[0], problem, **own.get(agent_name, {}))
        except InputError:
            yield f"{name} | {agent_name} | does not apply"
            continue
        found = trajectory(problem, agent.act, agent.observe, agent.end_episode, episodes)
        yield f"{name} | {agent_name} | {found}"
    episodes = 2 if slow else EPISODES
    for policy_name in sorted(fresh(episodes).rules()):
        if quick and slow and policy_name == "best-static":
            continue
        problem = fresh(episodes)
        found = trajectory(problem, problem.rules()[policy_name], nothing, nothing, episodes)
        yield f"{name} | policy {policy_name} | {found}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a quarter of the long ones")
    parser.add_argument("--library", help="shared library of the files under host_sim/c")
    parser.add_argument("names", nargs="*", help="problems or variants (default: all)")
    options = parser.parse_args()
    if options.library:
        use_library(options.library)
    for name in options.names or [*host_sim.problem_names(), *VARIANTS]:
        for line in lines(name, options.quick):
            print(line, flush=True)
    return 0
