"""A run in two pieces, in two processes or one, is the run in one piece, number for number."""

from __future__ import annotations

import numpy as np
import pytest

from adamb.budgets.errors import InputError
from adamb.host_sim import make_problem, problem_names, simulate
from adamb.host_sim.agent import Agent
from adamb.host_sim.agents import make_agent
from adamb.host_sim.agents.core import CoreAgent
from adamb.host_sim.going_on import changing, hindrance, run_key
from adamb.host_sim.problems.oil import Oil

EPISODES, CUT = 9, 5
NAMES = problem_names()
DRIFTING = [name for name in NAMES if make_problem(name, [1]).drift_width]
TASKS = [(name, {}) for name in NAMES]
TASKS += [(name, {"drift": drift}) for name in DRIFTING for drift in ("half", "walk")]
TASKS += [(name, {"continuing": True}) for name in NAMES]
COMPILED = ("adaql", "zoom", "bandit-zoom", "epsql", "epsmb", "kernel-ucbvi", "cmac")
AGENTS = {
    "the core": ("adamb", {}),
    "the core in 1 KiB, random actions": ("adamb", {"budget_bytes": 1024, "action": "random"}),
    "the Python twin": ("adamb", {"core": "python", "mode": "paper", "budget_bytes": 1024}),
    "bandit": ("bandit", {"discount": 0.9}),
    **{name: (name, {"budget_bytes": 2048}) for name in COMPILED},
    "a grid with shared counts": ("epsql", {"share": "on", "net": "multiples"}),
    "sparse counts that are full": ("epsmb", {"counts": "sparse", "budget_bytes": 1500, "planning": "full"}),
    "shared sparse counts": ("kernel-ucbvi", {"counts": "sparse", "share": "on"}),
    "shared tiles": ("cmac", {"share": "on", "epsilon": 0.3}),
    "balls that are merged": ("adaql", {"when_full": "reclaim", "size": 40, "phi": 0.1, "action": "random"}),
    "a lazy tree": ("adaql", {"layout": "lazy", "share": "on", "when_full": "reclaim", "size": 60}),
    "a stepless tree": ("adaql", {"share": "stepless"}),
    "arms that are merged": ("bandit-zoom", {"when_full": "reclaim", "size": 8, "phi": 0.1}),
    "core double": ("adamb", {"core": "double"}),
    "core double, full planning": ("adamb", {"core": "double", "planning": "full", "action": "random"}),
    "core double, the theory": ("adamb", {"core": "double", "bonus": "theory", "split": "inherited"}),
    "core double, fresh": ("adamb", {"core": "double", "estimates": "fresh", "phi": 1.0}),
    "random": ("random", {}),
    "static": ("static", {"trials": 4}),
    "optimal": ("optimal", {}),
    "a rule": ("stay", {}),
}

IN_MEMORY = [
    name for name, (agent, options) in AGENTS.items() if agent in COMPILED or options.get("core") == "double"
]


def maker(agent):
    problem = make_problem("oil-laplace", [1, 2], episodes=20)
    name, options = AGENTS[agent]
    return problem, make_agent(name, problem, **options)


def pieces(name, task, agent, options, *, episodes=EPISODES, cut=CUT, optimum=False, compiled=True):
    """The run in one piece, and the run in two; None where the first process can leave nothing."""
    kept = {}

    def make():
        problem = make_problem(name, [3, 4], episodes=episodes, **task)
        return problem, make_agent(agent, problem, **options)

    def stop(progress):
        if progress.done == cut:
            kept.update({key: array.copy() for key, array in (progress.keep() or {}).items()})
        return progress.done == cut

    asked = {"episodes": episodes, "optimum": optimum, "compiled": compiled}
    problem, made = make()
    whole = simulate(problem, made, **asked)
    first, second = make(), make()
    simulate(*first, progress=stop, **asked)
    assert bool(kept) == (hindrance(*second) is None)
    return (whole, simulate(*second, kept=kept, **asked), problem, second[0]) if kept else None


def same(whole, joined):
    for field in ("returns", "optimal", "points", "bytes", "bytes_peak", "clipped", "raw_returns"):
        first, second = getattr(whole, field), getattr(joined, field)
        assert (first is None) == (second is None), field
        assert first is None or first.tobytes() == second.tobytes(), field
    for field in ("stats", "figures"):
        first, second = getattr(whole, field), getattr(joined, field)
        assert {key: value.tolist() for key, value in first.items()} == {
            key: value.tolist() for key, value in second.items()
        }
    assert whole.digest == joined.digest and whole.interrupted == joined.interrupted


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize(("name", "task"), TASKS)
def test_on_every_problem_the_second_piece_repeats_the_run(name, task, compiled):
    found = pieces(name, task, "adamb", {"budget_bytes": 2048}, compiled=compiled)
    if found is None:
        assert task.get("continuing") and name.startswith(("cache-", "dram-")), "all others can be kept"
        return
    same(*found[:2])
    first, second = found[2:]
    assert first.describe() == second.describe() and first.statistics() == second.statistics()
    assert first.notes() == second.notes() and first.version == second.version


@pytest.mark.parametrize("cut", [1, 64, 65])
@pytest.mark.parametrize("agent", AGENTS)
def test_every_agent_that_can_be_kept_goes_on_from_any_episode(agent, cut):
    task = {"drift": "half"} if agent == "optimal" else {}
    found = pieces("oil-laplace", task, *AGENTS[agent], episodes=70, cut=cut, optimum=True)
    assert found is not None
    same(*found[:2])


@pytest.mark.parametrize("agent", IN_MEMORY)
def test_what_has_grown_in_compiled_memory_goes_on(agent):
    """Pools that were moved, and merged where they were full."""
    found = pieces("ambulance-2", {}, *AGENTS[agent], episodes=420, cut=400)
    assert found is not None
    same(*found[:2])
    if "merged" in agent:
        assert (found[0].stats["reclaims"] > 0).all()


@pytest.mark.parametrize("agent", IN_MEMORY)
def test_damaged_memory_is_refused_or_does_no_harm(agent):
    """Any word of it: what C takes for an index leads nowhere else, and every action is one."""
    rng, refused = np.random.default_rng(7), 0
    wrong = np.array([-(2**31), -1, 0, 1, 2, 9, 2**16, 2**31 - 1], dtype=np.int64).astype(np.int32)
    memory = kept_of(*AGENTS[agent])["agent_memory"]
    for cut in (memory[:-8], memory[:-1], memory[:0], np.append(memory, np.uint8(0))):
        assert maker(agent)[1].refuses({"memory": cut}) is not None
    for _ in range(200):
        damaged = memory[: memory.size // 4 * 4].copy()
        at = rng.integers(damaged.size // 4, size=rng.integers(1, 3))
        damaged.view(np.int32)[at] = rng.choice(wrong, len(at))
        kept = {"memory": np.concatenate([damaged, memory[damaged.size :]])}
        problem, other = maker(agent)
        if other.refuses(kept) is not None:
            refused += 1
            continue
        other.go_on(1, kept)
        for _ in range(3):
            states = problem.begin_episode()
            for h in range(problem.horizon):
                actions = other.act(h, states)
                assert (actions > -1).all() and (actions <= 1).all()
                rewards, states = problem.step(h, actions)
                other.observe(h, rewards, states)
            other.end_episode()
    assert refused or AGENTS[agent][0] in ("epsql", "cmac"), "those have numbers and no indices"


@pytest.mark.parametrize("name", ["oil-quadratic", "dram-lite"])
def test_values_of_a_drifting_optimum_are_those_of_the_run(name):
    found = pieces(name, {"drift": "walk"}, "adamb", {}, optimum=True)
    assert found is not None
    same(*found[:2])


def test_what_is_not_kept_is_named():
    problem = make_problem("oil-laplace", [1])

    class Mine(Oil):
        """May remember anything."""

    class Learner(CoreAgent):
        """Likewise."""

    assert hindrance(problem, make_agent("random", problem)) is None
    assert "core reference" in (hindrance(problem, make_agent("adamb", problem, core="reference")) or "")
    assert "problem mine" in (hindrance(Mine([1], name="mine"), make_agent("random", problem)) or "")
    assert changing(Learner(problem.shape)) is None
    heater = make_problem("plant-heater", [1])
    assert "agent pi" in (hindrance(heater, make_agent("pi", heater)) or ""), "its integral would be lost"


def kept_of(agent, options):
    problem, found = make_problem("oil-laplace", [1, 2], episodes=20), []
    made = make_agent(agent, problem, **options)
    simulate(problem, made, progress=lambda progress: found.append(progress.keep()) or progress.done == 19)
    return {name: array.copy() for name, array in found[-1].items()}


@pytest.mark.parametrize("spoil", ["shape", "kind", "missing", "episodes", "block"])
def test_arrays_that_are_not_of_the_run_are_refused_before_anything_changes(spoil):
    kept = kept_of("adamb", {"budget_bytes": 1024})
    if spoil == "shape":
        kept["returns"] = kept["returns"][:, :0]
    elif spoil == "kind":
        kept["agent_blocks"] = kept["agent_blocks"].astype(np.int64)
    elif spoil == "missing":
        del kept["problem_state"]
    elif spoil == "episodes":
        kept["done"] = np.array(21)
    else:
        kept["agent_blocks"][1, 40:] ^= 0x5555
    problem = make_problem("oil-laplace", [1, 2], episodes=20)
    agent = make_agent("adamb", problem, budget_bytes=1024)
    before = agent.digest()
    with pytest.raises(InputError, match="kept"):
        simulate(problem, agent, episodes=20, kept=kept)
    assert agent.digest() == before and problem.episode == -1


def test_the_key_tells_everything_that_decides_a_run(tmp_path, monkeypatch):
    demand = tmp_path / "demand.csv"
    demand.write_text("demand\n" + "0.5\n" * 100)

    def key(seeds=(1, 2), agent="adamb", options=None, **task):
        problem = make_problem(task.pop("name", "oil-laplace"), seeds, **task)
        return run_key(problem, make_agent(agent, problem, **(options or {})), episodes=20)

    keys = [
        key(), key(seeds=(1, 3)), key(agent="random"), key(drift="walk"), key(continuing=True),
        key(horizon=3), key(params={"lam": 9}), key(options={"budget_bytes": 1024}),
        key(options={"gamma": 3}), key(options={"core": "python"}), key(episodes=3000),
    ]  # fmt: skip
    traced = {"name": "allocation-2x1", "params": {"demand": str(demand)}}
    keys.append(key(**dict(traced)))
    demand.write_text("demand\n" + "0.25\n" * 100)
    keys.append(key(**dict(traced)))
    assert key() == keys[0]
    monkeypatch.setattr("adamb.host_sim.going_on.program_hash", lambda: "another build")
    keys.append(key())
    assert len({*keys}) == len(keys)


def test_an_agent_without_the_hook_is_played_as_ever():
    class Halfway(Agent):
        def act(self, h, states):
            return np.full((self.n, self.d_a), 0.5)

    problem, said = make_problem("oil-laplace", [1], episodes=3), []
    simulate(problem, Halfway(problem.shape), progress=lambda progress: said.append(progress.keep()))
    assert said == [None] * len(said) and said
