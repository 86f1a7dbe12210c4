"""Caches evict what they should, hit curves are right, and the cache problems have the values they claim."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adamb.budgets.errors import InputError
from adamb.host_sim.problem import make_problem
from adamb.host_sim.problems.cache.caches import (
    Part,
    Stack,
    alias_table,
    hits_by_size,
    next_uses,
    simulate,
)
from adamb.host_sim.problems.cache.lite import che_curve, zipf
from adamb.host_sim.solvers.exogenous import static_play
from adamb.host_sim.studies.lookahead import play, value_of_planning
from support.cache_bounds import (
    belady_bound,
    best_static_split,
    episode_bounds,
    epoch_bound,
    stack_distances,
)
from support.simple_plays import myopic_play

SEED = 77
pytestmark = pytest.mark.usefixtures("own_cache")


def zipf_keys(exponent, objects, n, seed=SEED):
    return np.random.default_rng(seed).choice(objects, size=n, p=zipf(exponent, objects)).astype(np.uint64)


# ---- an oracle that shares nothing with the C code ------------------------------------------------------


def slow_cache(policy, ids, sizes, capacity):
    """Request by request with plain lists: order of use or of arrival, or a look into the future."""
    held: list[list[int]] = []  # [id, size], the next to go (for LRU and FIFO) first
    hits = []
    for i, (name, size) in enumerate(zip(ids, sizes, strict=True)):
        at = next((k for k, entry in enumerate(held) if entry[0] == name), None)
        hits.append(at is not None)
        if at is not None:
            if policy == "lru":
                held.append(held.pop(at))
            continue
        if size > capacity:
            continue
        while sum(entry[1] for entry in held) + size > capacity:
            if policy == "belady":
                uses = [next((j for j in range(i + 1, len(ids)) if ids[j] == e[0]), 10**9) for e in held]
                held.pop(uses.index(max(uses)))
            else:
                held.pop(0)
        held.append([name, size])
    return hits


@given(
    requests=st.lists(st.tuples(st.integers(0, 12), st.integers(1, 9)), min_size=1, max_size=60),
    capacity=st.integers(1, 30),
    policy=st.sampled_from(["lru", "fifo", "belady"]),
)
@settings(max_examples=300, deadline=None)
def test_lru_fifo_and_belady_agree_with_brute_force_on_objects_with_sizes(requests, capacity, policy):
    ids, sizes = ([pair[column] for pair in requests] for column in (0, 1))
    hit = simulate(policy, np.array(ids, dtype=np.uint64), np.array(sizes), capacity)
    assert hit.tolist() == slow_cache(policy, ids, sizes, capacity)


@pytest.mark.parametrize("policy", ["lru", "fifo", "belady"])
def test_long_random_traces_agree_with_brute_force(policy):
    rng = np.random.default_rng(SEED)
    sizes_of = rng.integers(1, 100, 200)
    ids = rng.zipf(1.3, 1500) % 200
    hit = simulate(policy, ids.astype(np.uint64), sizes_of[ids], 1500)
    assert hit.tolist() == slow_cache(policy, ids.tolist(), sizes_of[ids].tolist(), 1500)


def test_belady_is_never_beaten_at_equal_sizes():
    keys = zipf_keys(0.8, 300, 5000)
    for lines in (5, 50, 200):
        best = belady_bound(keys, lines).sum()
        assert best >= simulate("lru", keys, 1, lines).sum()
        assert best >= simulate("fifo", keys, 1, lines).sum()


def test_an_object_larger_than_the_cache_evicts_nobody():
    hit = simulate("lru", np.array([1, 2, 1], dtype=np.uint64), np.array([5, 50, 5]), 10)
    assert hit.tolist() == [False, False, True]


def test_unknown_policies_are_named():
    with pytest.raises(InputError, match="belady"):
        simulate("beladi", np.array([1], dtype=np.uint64), 1, 1)


# ---- stacks --------------------------------------------------------------------------------------------


def test_stack_property_one_pass_knows_every_size():
    keys = zipf_keys(0.9, 400, 6000)
    known = hits_by_size(stack_distances(keys), 400)
    for lines in (0, 1, 2, 7, 64, 255, 400):
        part = Part(max(1, lines))
        part.resize(lines)
        assert part.run(keys) == known[lines] == simulate("lru", keys, 1, lines).sum()
    assert (np.diff(known) >= 0).all()


@pytest.mark.parametrize("lines, hits", [(99, 0), (100, 900)])
def test_a_loop_of_100_hits_all_or_nothing(lines, hits):
    keys = np.tile(np.arange(100, dtype=np.uint64), 10)
    assert simulate("lru", keys, 1, lines).sum() == hits
    assert hits_by_size(stack_distances(keys), 100)[lines] == hits


def test_a_stack_survives_running_out_of_positions():
    keys = zipf_keys(0.5, 50, 5000)
    small = Stack(50)
    pieces = np.concatenate([small.run(piece) for piece in np.array_split(keys, 13)])
    last: dict[int, int] = {}
    for i, key in enumerate(keys.tolist()):
        expected = len(set(keys[last[key] : i].tolist())) if key in last else 0
        assert pieces[i] == expected
        last[key] = i


def test_a_full_stack_stops_and_forgets_by_hash():
    keys = np.arange(100, dtype=np.uint64)
    stack = Stack(60)
    assert len(stack.run(keys)) == 60
    left = stack.keep_below(1 << 63)
    assert 15 <= left <= 45 and stack.objects == left


def test_next_uses_are_one_based_and_minus_one_for_never():
    assert next_uses(np.array([5, 7, 5, 5])).tolist() == [3, -1, 4, -1]


@pytest.mark.parametrize("exponent, objects", [(1.0, 1000), (0.7, 4000)])
def test_che_is_within_004_of_simulation(exponent, objects):
    curve = che_curve(exponent, objects, 512)
    rng = np.random.default_rng(SEED)
    keys = rng.choice(objects, size=400_000, p=zipf(exponent, objects)).astype(np.uint64)
    distances = stack_distances(keys)[100_000:]
    simulated = hits_by_size(distances, 512) / len(distances)
    assert np.abs(simulated - curve)[1:].max() < 0.004, f"seed {SEED}"


def test_alias_tables_give_back_the_popularity():
    popularity = zipf(1.0, 37)
    accept, alias = alias_table(popularity)
    back = accept / 37
    np.add.at(back, alias, (1.0 - accept) / 37)
    assert back == pytest.approx(popularity)


# ---- parts and bounds ----------------------------------------------------------------------------------


def test_shrinking_evicts_the_oldest_at_once_and_growing_fills_on_demand():
    part = Part(10)
    part.run(np.arange(10, dtype=np.uint64))
    part.resize(4)
    assert part.held == 4
    part.resize(10)
    assert part.held == 4
    assert part.run(np.array([6, 7, 8, 9], dtype=np.uint64)) == 4
    assert part.run(np.array([5], dtype=np.uint64)) == 0 and part.held == 5
    with pytest.raises(InputError):
        part.resize(11)


def test_the_best_static_split_is_the_best_of_all_splits_tried():
    rng = np.random.default_rng(SEED)
    slots = (rng.random(4000) < 0.4).astype(np.uint8)
    mine, others = zipf_keys(1.0, 80, 4000), 1000 + zipf_keys(0.6, 120, 4000, 5)
    keys = np.where(slots == 0, mine, others).astype(np.uint64)
    lines = 40
    split, hits = best_static_split(keys, slots, lines)
    tried = []
    for own in range(lines + 1):
        first, second = Part(lines), Part(lines)
        first.resize(own)
        second.resize(lines - own)
        tried.append(first.run(keys[slots == 0]) + second.run(keys[slots == 1]))
    assert tried == hits.tolist() and tried[split] == max(tried)
    assert epoch_bound(keys, slots, lines, 500).sum() >= max(tried)


def test_no_way_to_divide_beats_the_bounds_of_hindsight():
    for name in ("cache-2x1", "cache-slow"):
        bounds = episode_bounds(make_problem(name, range(SEED, SEED + 6)))
        for policy in ("half", "proportional", "utility-greedy", "planned", "random"):
            problem = make_problem(name, range(SEED, SEED + 6))
            won = play(problem, problem.baselines()[policy], 1)[0]
            assert (won <= bounds["free-moves"] + 1e-12).all(), (name, policy)
        shared = make_problem(name, range(SEED, SEED + 6))
        lru = play(shared, shared.baselines()["shared-lru"], 1)[0]
        assert (lru <= bounds["belady"] + 1e-12).all()


# ---- problems ------------------------------------------------------------------------------------------


def test_cache_lite_has_the_known_values():
    problem = make_problem("cache-lite", range(2), instance="paper")
    middle = np.array([[0.5, 0.5]])
    model = problem.model(1.0)
    assert problem.optimal().mean[0] == pytest.approx(2.798, abs=1e-3)
    assert myopic_play(model).value(0, middle)[0] == pytest.approx(2.792, abs=1e-3)
    assert static_play(model, problem.best_static()).value(0, middle)[0] == pytest.approx(2.761, abs=1e-3)


def test_cache_lite_rules_have_the_known_values():
    for policy, known in (("proportional", 2.778), ("greedy", 2.770)):
        problem = make_problem("cache-lite", range(SEED, SEED + 1000), instance="paper")
        played = play(problem, problem.baselines()[policy], 20)
        half_width = 3 * played.std() / np.sqrt(played.size)
        assert abs(played.mean() - known) < half_width + 5e-4, f"{policy} {played.mean():.4f} seed {SEED}"


def test_cache_lite_simulation_agrees_with_dynamic_programming():
    problem = make_problem("cache-lite", range(SEED, SEED + 400))
    optimum = problem.optimal()
    played = play(problem, optimum.policy, 10)
    assert abs(played.mean() - optimum.mean[0]) < 3 * played.std() / np.sqrt(played.size) + 1e-3


def test_the_simulated_cache_hits_as_che_says():
    problem = make_problem("cache-2x1", range(SEED, SEED + 10), params={"start": "0.5,0.5", "walk": 0.0})
    played = play(problem, problem.baselines()["keep"], 5)
    expected = 0.5 * che_curve(1.0, 1000, 512)[256] + 0.5 * che_curve(0.7, 4000, 512)[256]
    assert played.mean() / 5 == pytest.approx(expected, abs=0.01)


def test_a_scan_deserves_no_lines():
    problem = make_problem("cache-scan", range(SEED, SEED + 4))
    greedy = problem.baselines()["utility-greedy"]
    states = problem.begin_episode()
    for h in range(3):
        _, states = problem.step(h, greedy(h, states))
    loop = che_curve(1.0, 1000, 512)
    assert (states[:, 0] > 0.6).all() and loop[512] > 0.8


def test_planning_wins_at_least_8_percent_in_cache_slow():
    value = value_of_planning("cache-slow", seeds=range(SEED, SEED + 40), episodes=40)
    print(f"cache-slow: {value.share:.3f} +- {value.share_half_width:.3f} (seeds from {SEED})")
    assert value.share - value.share_half_width >= 0.08
    assert value.best.name == "planned" and value.best.mean > value.static.mean


def test_tenants_that_trade_places_turn_the_best_split_around():
    problem = make_problem("cache-lite", range(3), episodes=4, drift="half", instance="paper")
    state = np.array([[0.5, 0.8]] * 3)
    before = problem.optimal().policy(0, state)
    for _ in range(3):
        problem.begin_episode()
        for h in range(5):
            problem.step(h, np.full((3, 1), 0.5))
    after = problem.optimal().policy(0, state)
    assert (problem.c == 0.0).all() and np.abs(after - before).max() > 0.05


def test_a_continuing_cache_keeps_its_lines():
    problem = make_problem("cache-2x1", [SEED], continuing=True, params={"requests": 500})
    state = problem.begin_episode()
    for h in range(5):
        _, state = problem.step(h, np.full((1, 1), 0.3))
    held = problem.info()["held"].copy()
    assert (problem.begin_episode() == state).all() and (problem.info()["held"] == held).all()


def test_all_named_rules_play_every_cache():
    named = {"shared-lru", "half", "proportional", "utility-greedy", "keep", "random", "myopic", "planned"}
    for name in ("cache-2x1", "cache-scan", "cache-slow"):
        assert named <= set(make_problem(name, [1]).baselines())
        problem = make_problem(name, [SEED], params={"requests": 200})
        for policy in problem.baselines().values():
            assert np.isfinite(play(problem, policy, 1)).all()
