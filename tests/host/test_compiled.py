"""Episodes that are played in C give what the same episodes give step by step, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from adamb.firmware_model.host.errors import InputError
from adamb.host_sim import compiled as tapes
from adamb.host_sim import make_problem, simulate
from adamb.host_sim.agents import compiled_backend, make_agent
from adamb.host_sim.agents.core import CoreAgent
from adamb.host_sim.experiments.cell import BatchedAgents
from adamb.host_sim.problems.oil import Oil

SEEDS = (3, 4, 5)
PLAYED = ["oil-noisy", "ambulance-2", "dram-drain", "dram-3x2", "cache-2x1", "cache-scan", "cache-slow"]


AGENTS = {
    "double, one step": ("adamb", {"core": "double", "action": "random", "gamma": 2, "phi": 1}),
    "double, full": ("adamb", {"core": "double", "planning": "full", "split": "inherited"}),
    "adaql": ("adaql", {"action": "random", "bonus": 0.1}),
    "adaql in 1 KiB": ("adaql", {"budget_bytes": 1024, "when_full": "reclaim"}),
    "zoom": ("zoom", {}),
    "epsql": ("epsql", {"net": "multiples"}),
    "epsmb": ("epsmb", {"net": "multiples", "counts": "sparse"}),
    "epsmb, full": ("epsmb", {"planning": "full"}),
    "kernel-ucbvi": ("kernel-ucbvi", {}),
    "cmac": ("cmac", {"epsilon": 0.1}),
    "cmac, shared": ("cmac", {"share": "on"}),
    "bandit": ("bandit", {"bonus": 0.1}),
    "bandit, discounted": ("bandit", {"discount": 0.97, "size": 5}),
    "bandit of steps": ("bandit", {"hold": "step", "share": "off", "size": 4}),
    "bandits held": ("bandit", {"share": "off", "size": 3}),
    "bandit-zoom": ("bandit-zoom", {}),
    "bandit-zoom in 60 bytes": ("bandit-zoom", {"budget_bytes": 60, "when_full": "reclaim", "phi": 0.1}),
}


def run(problem, agent, *, in_c, **more):
    """The run, its problem and its agent; in C it must really be played there."""
    made = make_agent(agent, problem, **more.pop("options", {}))
    if in_c:
        assert compiled_backend(problem) is not None and compiled_backend(made) is not None
    return simulate(problem, made, compiled=in_c, **more), problem, made


def same(make, agent="adamb", **more):
    """Play both ways and compare everything that a run measures, but its times."""
    (quick, there, _), (slow, here, _) = (run(make(), agent, in_c=in_c, **more) for in_c in (True, False))
    np.testing.assert_array_equal(quick.returns, slow.returns)
    assert quick.returns.std() > 0
    assert (quick.optimal is None) == (slow.optimal is None)
    if slow.optimal is not None:
        np.testing.assert_array_equal(quick.optimal, slow.optimal)
    for field in ("points", "bytes", "bytes_peak", "clipped"):
        np.testing.assert_array_equal(getattr(quick, field), getattr(slow, field))
    for measured in ("stats", "figures"):
        for name, values in getattr(slow, measured).items():
            np.testing.assert_array_equal(getattr(quick, measured)[name], values)
    assert (quick.digest, quick.settings, quick.interrupted) == (slow.digest, slow.settings, slow.interrupted)
    for name, values in here.info().items():
        np.testing.assert_array_equal(there.info()[name], values)
    np.testing.assert_array_equal(there.begin_episode(), here.begin_episode())
    return quick


@pytest.mark.parametrize("name", PLAYED)
@pytest.mark.parametrize("drift", ["none", "half", "walk"])
def test_whole_episodes_give_what_their_steps_give(name, drift):
    same(lambda: make_problem(name, SEEDS, episodes=70, drift=drift), optimum=drift == "none")


@pytest.mark.parametrize("name", ["oil-noisy", "allocation-2x1"])
def test_a_continuing_task_goes_on_where_it_was(name):
    same(lambda: make_problem(name, SEEDS, episodes=60, horizon=7, continuing=True))


@pytest.mark.parametrize("mode", ["paper", "tracking"])
def test_long_runs_in_small_blocks_stay_the_same(mode):
    def make():
        return make_problem("oil-noisy", SEEDS, episodes=1500)

    result = same(make, options={"mode": mode, "budget_bytes": 1024}, record=[1, 7, 900])
    assert result.points.tolist() == [1, 7, 900, 1500] and result.stats["refused_splits"].sum() > 0


@pytest.mark.parametrize("agent", AGENTS)
def test_every_compiled_agent_learns_the_same(agent):
    name, options = AGENTS[agent]
    same(lambda: make_problem("oil-noisy", SEEDS, episodes=80), name, options=options)


@pytest.mark.parametrize("name", ["oil-noisy", "dram-3x2"])
def test_agents_side_by_side_play_their_own_instances(name):
    def make(in_c):
        problem = make_problem(name, SEEDS * 2, episodes=60)
        half = make_problem(name, SEEDS, episodes=60)
        agents = [make_agent(name, half) for name in ("adaql", "epsql")]
        together = BatchedAgents(problem, agents)
        assert compiled_backend(together) is not None
        return simulate(problem, together, compiled=in_c, optimum=False)

    quick, slow = make(True), make(False)
    np.testing.assert_array_equal(quick.returns, slow.returns)
    assert (quick.returns[:3] != quick.returns[3:]).any()


@pytest.mark.parametrize("name", ["dram-1x1", "cache-slow"])
def test_a_simulator_is_played_step_by_step_where_one_episode_leads_to_the_next(name):
    continuing = make_problem(name, SEEDS, episodes=3, continuing=True)
    assert compiled_backend(continuing) is None
    assert simulate(continuing, "adamb").returns.std() > 0


@pytest.mark.parametrize("name", ["dram-2x1", "cache-slow"])
def test_the_length_of_a_tape_changes_nothing(name, monkeypatch):
    runs = []
    for room in (10**7, 1):
        monkeypatch.setattr(tapes, "USUAL_BYTES", room)
        problem = make_problem(name, SEEDS, episodes=30)
        runs.append(simulate(problem, "adamb").returns)
        assert (problem.most_at_once == 1) == (room == 1)
    np.testing.assert_array_equal(*runs)


@pytest.mark.parametrize("name", ["dram-1x1", "dram-3x2"])
def test_a_channel_counts_the_same_in_whole_episodes(name):
    seeds = (*SEEDS, SEEDS[0])
    quick, slow = (run(make_problem(name, seeds, episodes=20), "adamb", in_c=in_c)[1] for in_c in (True, False))
    assert quick.report().statistics == slow.report().statistics and quick.report().statistics["reads"] > 0
    assert quick.report().notes == slow.report().notes
    epochs_and_too_much = slice(2)
    counted = quick.traffic.counted[epochs_and_too_much]
    np.testing.assert_array_equal(counted, slow.traffic.counted[epochs_and_too_much])


def test_progress_is_told_of_every_episode_unless_it_names_the_next():
    class Sometimes:
        def __init__(self):
            self.seen = []

        def __call__(self, progress):
            self.seen.append(progress.done)
            return progress.done >= 40

        def next_call(self, done):
            return done + 15

    every, some = [], Sometimes()
    simulate(make_problem("oil-laplace", [1], episodes=8), "adamb", observers=[lambda p: every.append(p.done)])
    stopped = simulate(make_problem("oil-laplace", [1], episodes=99), "adamb", observers=[some])
    assert every == list(range(1, 9)) and some.seen == [15, 30, 45]
    assert stopped.interrupted and stopped.episodes == 45


def test_a_subclass_is_played_in_c_unless_it_has_another_step():
    class Free(Oil):
        def dynamics(self, h, states, actions, noise):
            return np.ones(self.n), actions.copy()

    class Idle(CoreAgent):
        def act(self, h, states):
            return np.full((self.n, self.d_a), 0.25)

    class Named(Oil):
        name = "named"

    class Left(Oil):
        def fresh_start(self, drawn):
            return np.zeros((self.n, 1))

    assert simulate(Free(SEEDS, episodes=5), "adamb").returns.tolist() == [[5.0] * 5] * 3
    assert compiled_backend(Named(SEEDS)) is not None and compiled_backend(Left(SEEDS)) is None
    problem = make_problem("oil-laplace", SEEDS, episodes=5)
    assert compiled_backend(Idle(problem.shape)) is None


def test_whole_numbers_drawn_by_a_subclass_are_read_as_numbers():
    class Coarse(Oil):
        def draw_starts(self, generator, episodes):
            return generator.integers(0, 2, (episodes, 1))

        def draw_noise(self, generator, episodes):
            return generator.integers(-1, 2, (episodes, self.horizon, 2))

    same(lambda: Coarse(SEEDS, episodes=20, sigma=0.1), optimum=False)


@pytest.mark.parametrize(
    ("method", "width", "refused"), [("draw_starts", (2,), "start states"), ("draw_noise", (5, 1), "needs")]
)
def test_draws_of_another_shape_are_refused(method, width, refused):
    draws = {method: lambda self, generator, episodes: np.zeros((episodes, *width))}
    for compiled in (True, False):
        with pytest.raises(InputError, match=refused):
            simulate(type("Odd", (Oil,), draws)(SEEDS, sigma=0.1), "adamb", compiled=compiled)


@pytest.mark.parametrize("name", ["dram-2x1", "cache-2x1"])
def test_tapes_that_have_no_room_are_not_made(name, monkeypatch):
    monkeypatch.setattr(tapes, "MOST_BYTES", 1000)
    assert compiled_backend(make_problem(name, SEEDS)) is None


def test_a_method_that_was_replaced_is_called():
    problem, calls = make_problem("oil-laplace", SEEDS, episodes=5), []
    kept = problem.dynamics
    problem.dynamics = lambda h, *rest: calls.append(h) or kept(h, *rest)
    simulate(problem, "adamb")
    assert calls == list(range(problem.horizon)) * 5
