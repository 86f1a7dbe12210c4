"""Caches evict what they should, hit curves are right, and the cache problems have the values they claim."""

from __future__ import annotations

import numpy as np
import pytest

from adamb.host_sim.problem import make_problem
from adamb.host_sim.problems.cache import Stack, hits_by_size
from adamb.host_sim.problems.cache.lite import che_curve, zipf
from adamb.host_sim.studies.lookahead import play

SEED = 77
pytestmark = pytest.mark.usefixtures("own_cache")


def zipf_keys(exponent, objects, n, seed=SEED):
    return np.random.default_rng(seed).choice(objects, size=n, p=zipf(exponent, objects)).astype(np.uint64)


def lru_hits(keys, lines):
    """Request by request with a plain list, the line to go next first."""
    held, hits = [], 0
    for key in keys.tolist():
        if key in held:
            held.remove(key)
            hits += 1
        elif len(held) == lines:
            held.pop(0)
        held.append(key)
    return hits


def distances_of(keys):
    return Stack(len(np.unique(keys))).run(keys)


# ---- stacks --------------------------------------------------------------------------------------------


def test_stack_property_one_pass_knows_every_size():
    keys = zipf_keys(0.9, 400, 6000)
    known = hits_by_size(distances_of(keys), 400)
    for lines in (1, 2, 7, 64, 255, 400):
        assert Stack(lines).hits(keys) == known[lines] == lru_hits(keys, lines)
    assert (np.diff(known) >= 0).all()


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


@pytest.mark.parametrize("exponent, objects", [(1.0, 1000), (0.7, 4000)])
def test_che_is_within_004_of_simulation(exponent, objects):
    curve = che_curve(exponent, objects, 512)
    rng = np.random.default_rng(SEED)
    keys = rng.choice(objects, size=400_000, p=zipf(exponent, objects)).astype(np.uint64)
    distances = distances_of(keys)[100_000:]
    simulated = hits_by_size(distances, 512) / len(distances)
    assert np.abs(simulated - curve)[1:].max() < 0.004, f"seed {SEED}"


# ---- parts and bounds ----------------------------------------------------------------------------------


class SlowPart:
    """An LRU part as a plain list, the line to go next first."""

    def __init__(self):
        self.held = []

    def run(self, keys, lines):
        self.held = self.held[max(0, len(self.held) - lines) :]
        hits = 0
        for key in keys:
            hits += key in self.held
            self.held = ([each for each in self.held if each != key] + [key])[-lines:] if lines else []
        return hits


SETTINGS = {
    "mixed tenants": ("cache-2x1", {"c": 0.6, "lines": 20, "requests": 60, "objects": "30,40"}),
    "a loop that fits": ("cache-scan", {"loop": 12, "lines": 20, "requests": 64, "objects": "90,30"}),
    "two lines": ("cache-slow", {"lines": 2, "requests": 1, "walk": 1.0}),
}


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("continuing", [False, True])
def test_shrinking_evicts_the_oldest_at_once_and_growing_fills_on_demand(continuing, setting):
    name, params = SETTINGS[setting]
    lines, requests = params["lines"], params["requests"]
    cache = make_problem(name, [SEED, SEED + 1], continuing=continuing, params=params)
    parts = [(SlowPart(), SlowPart()) for _ in range(2)]
    rng = np.random.default_rng(SEED)

    def hits(i, own):
        keys, slots = cache.in_c.seen(i)
        return [part.run(keys[slots == slot], (own, lines - own)[slot]) for slot, part in enumerate(parts[i])]

    for episode in range(4):
        states = cache.begin_episode()
        for i in range(2):
            if episode == 0 or not continuing:
                parts[i] = SlowPart(), SlowPart()
                hits(i, round(lines * states[i, 0]))
        for h in range(5):
            actions = rng.choice([0.0, 1.0, rng.random()], (2, 1))
            rewards, _ = cache.step(h, actions)
            for i in range(2):
                share = np.clip((8 * actions[i, 0] - 1) / 6, 0, 1)
                won = sum(hits(i, round(lines * share)))
                assert rewards[i] == won / requests, (SEED, episode, h, i)
                assert cache.info()["held"][i].tolist() == [len(part.held) for part in parts[i]]


# ---- problems ------------------------------------------------------------------------------------------


def test_the_simulated_cache_hits_as_che_says():
    problem = make_problem("cache-2x1", range(SEED, SEED + 10), params={"start": "0.5,0.5", "walk": 0.0})
    played = play(problem, problem.rules()["keep"], 5)
    expected = 0.5 * che_curve(1.0, 1000, 512)[256] + 0.5 * che_curve(0.7, 4000, 512)[256]
    assert played.mean() / 5 == pytest.approx(expected, abs=0.01)


def test_a_scan_deserves_no_lines():
    problem = make_problem("cache-scan", range(SEED, SEED + 4))
    greedy = problem.rules()["utility-greedy"]
    states = problem.begin_episode()
    for h in range(3):
        _, states = problem.step(h, greedy(h, states))
    loop = che_curve(1.0, 1000, 512)
    assert (states[:, 0] > 0.6).all() and loop[512] > 0.8
