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
AGENTS = {
    "the core": ("adamb", {}),
    "the core in 1 KiB, random actions": ("adamb", {"budget_bytes": 1024, "action": "random"}),
    "the Python twin": ("adamb", {"core": "python", "mode": "paper", "budget_bytes": 1024}),
    "bandit": ("bandit", {"discount": 0.9}),
    "random": ("random", {}),
    "static": ("static", {"trials": 4}),
    "optimal": ("optimal", {}),
    "a rule": ("stay", {}),
}


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
    assert "agent adaql" in (hindrance(problem, make_agent("adaql", problem)) or "")
    assert "core reference" in (hindrance(problem, make_agent("adamb", problem, core="reference")) or "")
    assert "problem mine" in (hindrance(Mine([1], name="mine"), make_agent("random", problem)) or "")
    assert changing(Learner(problem.shape)) is None
    heater = make_problem("plant-heater", [1])
    assert "agent pi" in (hindrance(heater, make_agent("pi", heater)) or ""), "its integral would be lost"


def kept_of(agent, options):
    problem, found = make_problem("oil-laplace", [1, 2], episodes=20), []
    made = make_agent(agent, problem, **options)
    simulate(problem, made, episodes=20, progress=lambda progress: found.append(progress.keep()) or True)
    return {name: array.copy() for name, array in found[0].items()}


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
