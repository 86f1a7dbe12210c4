"""The DRAM model keeps the timing of its data sheet, and the DRAM problems have the values they claim."""

from __future__ import annotations

import numpy as np
import pytest

from adamb.budgets.errors import InputError
from adamb.host_sim.dram import opportune_writes, timeout_cycles
from adamb.host_sim.dram_channel import DEVICES, REQUEST, Channel, Knobs, Streams, load_timing, read_ini
from adamb.host_sim.dram_lite import best_timeout
from adamb.host_sim.exogenous_dp import myopic_play, random_play, static_play
from adamb.host_sim.planning_value import play, value_of_planning
from adamb.host_sim.problem import make_problem

DDR4 = DEVICES["DDR4-2400"]
SEED = 20240


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory):
    """Solutions of an earlier version on this machine must not answer for this one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADAMB_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def batch(*rows):
    return np.array(list(rows), dtype=REQUEST)


def latency(requests, timing=DDR4, **knobs):
    return Channel(timing).mean_latency(requests, Knobs(**knobs))


def traffic(p, gap_stay, gap_move, n, *, streams=4, writes=0.0, seed=SEED):
    made = Streams(streams, seed, p, gap_stay, gap_move)
    return made.next(n, seed + 1, p, gap_stay, gap_move, writes)


def returns(name, policy, seeds, episodes, **params):
    problem = make_problem(name, range(SEED, SEED + seeds), params=params)
    chosen = problem.baselines()[policy] if isinstance(policy, str) else policy(problem)
    return play(problem, chosen, episodes)


# ---- timing --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row, timeout, cycles", [(1, None, 21), (1, 0, 38), (2, 0, 38), (2, None, 55)])
def test_an_isolated_read_takes_21_38_or_55_cycles(row, timeout, cycles):
    channel = Channel(DDR4)
    channel.mean_latency(batch((0, 1, 0, 0)), Knobs(timeout=timeout))
    assert channel.mean_latency(batch((5000, row, 0, 0)), Knobs(timeout=timeout)) == cycles


def test_a_request_that_arrives_before_the_row_closes_is_a_hit():
    for arrival, cycles in ((17 + 100, 21), (17 + 101, 38)):
        channel = Channel(DDR4)
        channel.mean_latency(batch((0, 1, 0, 0)), Knobs(timeout=100))
        after = channel.mean_latency(batch((arrival, 1, 0, 0)), Knobs(timeout=100))
        assert after >= cycles and (after == 21) == (cycles == 21)


def test_activations_keep_trrd_and_tfaw():
    reads = batch(*[(0, 7, bank, 0) for bank in range(6)])
    channel = Channel(DDR4)
    totals = channel.serve(reads, Knobs().as_c())
    activations = [0, 4, 8, 12, 26, 30]
    expected = sum(act + DDR4.t_rcd + DDR4.hit for act in activations)
    assert totals.read_latency == expected and totals.closed == 6


def test_a_read_waits_for_the_write_to_turn_the_bus_around():
    writes = [(0, 1, 0, 1)] * 26
    channel = Channel(DDR4)
    totals = channel.serve(batch(*writes, (1, 1, 1, 0)), Knobs().as_c())
    assert totals.writes == 20 and totals.reads == 1
    last_write_cas = DDR4.t_rcd + 19 * DDR4.t_ccd
    assert totals.read_latency == last_write_cas + DDR4.cwl + DDR4.burst + DDR4.t_wtr + DDR4.hit - 1


def test_open_rows_win_above_p_one_half_and_lose_below():
    assert DDR4.t_rp / (DDR4.t_rp + DDR4.t_rcd) == 0.5
    for p, open_wins in ((0.35, False), (0.45, False), (0.55, True), (0.65, True)):
        requests = traffic(p, 3000, 3000, 40_000)
        assert (latency(requests, timeout=None) < latency(requests, timeout=0)) is open_wins


@pytest.mark.parametrize("p, known", [(0.3, 65), (0.5, 102), (0.7, 140), (0.9, 200)])
def test_the_best_timeout_of_the_model_is_near_t_star(p, known):
    t_star = float(best_timeout(p, 40.0, 400.0))
    assert t_star == pytest.approx(known, abs=0.5)
    requests = traffic(p, 40, 400, 60_000)
    tried = np.arange(0, 400, 10)
    cycles = [latency(requests, timeout=int(timeout)) for timeout in tried]
    assert abs(tried[int(np.argmin(cycles))] - t_star) <= 40
    assert latency(requests, timeout=round(t_star)) - min(cycles) < 0.3


def test_row_hits_first_is_far_better_than_in_order_under_load():
    requests = traffic(0.5, 100, 300, 60_000, streams=16, writes=0.3)
    assert latency(requests, timeout=200) < 0.7 * latency(requests, timeout=200, in_order=True)


def test_the_opportune_drain_has_an_interior_optimum_near_16():
    requests = traffic(0.8, 100, 300, 100_000, streams=16, writes=0.3)
    tried = [1, 4, 8, 10, 12, 14, 16, 18, 20, 24, 32]
    cycles = [latency(requests, timeout=200, opportune=opportune) for opportune in tried]
    best = tried[int(np.argmin(cycles))]
    assert 10 <= best <= 20
    assert cycles[tried.index(16)] < min(cycles) + 1.0
    assert cycles[0] > min(cycles) + 5 and cycles[-1] > min(cycles) + 3


def test_refresh_costs_about_nine_cycles():
    expected = DDR4.t_rfc**2 / (2 * DDR4.t_refi)
    assert expected == pytest.approx(9.4, abs=0.05)
    requests = traffic(0.5, 700, 700, 200_000)
    cost = latency(requests, timeout=0, refresh=True) - latency(requests, timeout=0)
    assert cost == pytest.approx(expected, abs=1.2)


def test_refreshes_missed_while_idle_are_skipped():
    channel = Channel(DDR4)
    late = 1000 * DDR4.t_refi + DDR4.t_rfc + 1
    totals = channel.serve(batch((late, 1, 0, 0)), Knobs(refresh=True).as_c())
    assert totals.refreshes == 1000 and totals.read_latency <= 38


def test_every_request_is_served_once_whatever_the_knobs():
    rng = np.random.default_rng(SEED)
    for _ in range(30):
        requests = traffic(rng.random(), 1 + 200 * rng.random(), 1 + 400 * rng.random(), 3000,
                           streams=int(rng.integers(1, 17)), writes=rng.random())  # fmt: skip
        knobs = Knobs(
            timeout=None if rng.random() < 0.3 else int(rng.integers(0, 500)),
            opportune=int(rng.integers(1, 33)), refresh=bool(rng.integers(2)), in_order=bool(rng.integers(2)),
        )  # fmt: skip
        totals = Channel(DDR4).serve(requests, knobs.as_c())
        writes = int(requests["write"].sum())
        assert totals.reads == len(requests) - writes
        assert writes - 32 <= totals.writes <= writes
        assert totals.hits + totals.closed + totals.conflicts == totals.reads + totals.writes
        assert totals.read_latency >= totals.reads * DDR4.hit


# ---- devices -------------------------------------------------------------------------------------------

INI = """[dram_structure]
protocol = DDR4
bankgroups = 4
banks_per_group = 4
BL = 8
[timing]
tCK = 0.63  ; comment
CL = 22
CWL = 16
tRCD = 22
tRP = 22
tRAS = 52
tRFC = 560
tREFI = 12480
tFAW = 34
tRRD_S = 4
tRRD_L = 8
tWR = 24
tWTR_S = 4
tWTR_L = 12
tRTP = 12
tCCD_S = 4
tCCD_L = 8
"""


def test_device_timing_comes_from_presets_and_from_a_dramsim3_ini(tmp_path):
    path = tmp_path / "DDR4_3200.ini"
    path.write_text(INI)
    timing = load_timing(str(path))
    assert (timing.banks, timing.burst, timing.hit, timing.conflict) == (16, 4, 26, 70)
    assert load_timing("DDR3-1600").conflict == 37
    problem = make_problem("dram-1x1", [1], params={"device": str(path)})
    assert problem.worst == 70.0


def test_keys_that_published_ini_files_leave_out_or_spell_otherwise_are_understood(tmp_path):
    path = tmp_path / "device.ini"
    path.write_text(INI.replace("tRTP = 12\n", "").replace("tREFI", "REFI"))
    timing = read_ini(path)
    assert timing.t_rtp == 5 and timing.t_refi == 12480


def test_a_broken_ini_names_file_line_and_key(tmp_path):
    path = tmp_path / "bad.ini"
    for text, named in (
        (INI.replace("CL = 22", "CL = fast", 1), "CL"), (INI.replace("tRP = 22\n", ""), "tRP"),
        (INI + "nonsense\n", ":24"), (INI.replace("tREFI = 12480", "tREFI = 100"), "t_refi"),
    ):  # fmt: skip
        path.write_text(text)
        with pytest.raises(InputError, match=named):
            read_ini(path)
    with pytest.raises(InputError, match="DDR4-2400"):
        load_timing("DDR4-2401")


def test_impossible_queues_are_refused():
    wrong_ones = ("drain_low", 30), ("write_queue", 20), ("read_queue", 0), ("opportune", 0), ("timeout", -1)
    for name, value in wrong_ones:
        with pytest.raises(InputError):
            Knobs(**{name: value})


def test_a_worst_latency_below_a_row_hit_is_refused():
    with pytest.raises(InputError, match="row hit"):
        make_problem("dram-1x1", [1], params={"worst": 20})


def test_actions_mean_the_knobs_of_the_specification():
    assert timeout_cycles(0.0) == 0 and timeout_cycles(0.5) == 31 and timeout_cycles(1.0) is None
    assert opportune_writes(0.0) == 1 and opportune_writes(15 / 31) == 16 and opportune_writes(1.0) == 32


# ---- the simulated problems ----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "policy, known",
    [("closed", 2.03), ("open", 1.79), ("timeout-100", 2.20), ("adaptive", 2.30), ("t-star", 2.53)],
)
def test_dram_1x1_returns_of_known_controllers(policy, known):
    played = returns("dram-1x1", policy, seeds=40, episodes=60)
    half_width = 1.96 * played.std() / np.sqrt(played.size)
    print(f"{policy}: {played.mean():.3f} +- {half_width:.3f} (seeds from {SEED})")
    assert abs(played.mean() - known) < 0.03 + half_width


def test_what_the_controller_sees_does_not_depend_on_what_it_does():
    for name in ("dram-1x1", "dram-2x1", "dram-3x2"):
        seen = []
        for action in (0.0, 1.0):
            problem = make_problem(name, [SEED])
            states = [problem.begin_episode()]
            states += [problem.step(h, np.full((1, problem.d_a), action))[1] for h in range(problem.horizon)]
            seen.append(np.concatenate(states))
        assert (seen[0] == seen[1]).all()


def test_locality_load_and_write_share_reach_the_state():
    problem = make_problem("dram-3x2", range(30))
    states = problem.begin_episode()
    latent = problem.traffic.latent
    assert np.abs(states[:, 0] - latent[:, 0]).max() < 0.15
    assert np.abs(states[:, 2] - 0.6 * latent[:, 2]).max() < 0.12
    assert np.corrcoef(states[:, 1], latent[:, 1])[0, 1] > 0.97


@pytest.mark.parametrize("name", ["dram-1x1", "dram-lite"])
def test_a_phase_change_makes_a_stale_rule_lose(name):
    seeds = range(SEED, SEED + 40)
    turned = make_problem(name, seeds, params={"c": 0.0})
    stale = make_problem(name, seeds).baselines()["t-star"]
    aware = play(turned, turned.baselines()["t-star"], 10).mean()
    lost = aware - play(make_problem(name, seeds, params={"c": 0.0}), stale, 10).mean()
    assert lost > 0.3
    drifting = make_problem(name, [1], episodes=4, drift="half")
    for episode in range(3):
        drifting.begin_episode()
        assert drifting.c[0] == (0.0 if episode >= 2 else 1.0)
        for h in range(drifting.horizon):
            drifting.step(h, np.full((1, 1), 0.5))


def test_a_continuing_channel_is_not_reset():
    problem = make_problem("dram-2x1", [SEED], continuing=True)
    state = problem.begin_episode()
    for h in range(problem.horizon):
        _, state = problem.step(h, np.full((1, 1), 0.5))
    assert (problem.begin_episode() == state).all()


@pytest.mark.slow
def test_all_named_controllers_play_every_size():
    for name in ("dram-1x1", "dram-2x1", "dram-3x2"):
        known = make_problem(name, [1]).baselines()
        named = {"fcfs", "open", "closed", "timeout-100", "adaptive", "t-star", "best-static", "random"}
        assert named <= set(known)
        means = {policy: returns(name, policy, 10, 10).mean() for policy in known}
        assert max(means, key=means.__getitem__) in ("t-star", "best-static", "adaptive"), means
        assert means["fcfs"] <= means["open"]


# ---- exact problems ------------------------------------------------------------------------------------


def test_dram_lite_has_the_known_values():
    problem = make_problem("dram-lite", range(500))
    assert problem.optimal().mean[0] == pytest.approx(3.2567, abs=1e-3)
    assert play(problem, problem.baselines()["closed"], 1) == pytest.approx(2.5)
    static = static_play(problem.model(1.0), problem.best_static())
    assert static.mean() == pytest.approx(2.9811, abs=1e-3)


def test_dram_lite_optimum_is_t_star():
    problem = make_problem("dram-lite", range(300))
    states = problem.begin_episode()
    best, rule = problem.optimal().policy(0, states), problem.baselines()["t-star"](0, states)
    assert np.abs(best - rule)[(rule > 0.3) & (rule < 1.0)].max() < 0.02


@pytest.mark.parametrize(
    "name, optimal, myopic, static, random",
    [("dram-drain", 4.593, 4.443, 4.176, 4.093), ("dram-refresh", 4.894, 4.844, 4.791, 4.657)],
)
def test_planning_problems_have_the_known_values(name, optimal, myopic, static, random):
    problem = make_problem(name, [1])
    model = problem.model(0.2)
    assert problem.optimal().mean[0] == pytest.approx(optimal, abs=2e-3)
    assert myopic_play(model).mean() == pytest.approx(myopic, abs=5e-3)
    assert static_play(model, problem.best_static()).mean() == pytest.approx(static, abs=5e-3)
    assert random_play(model).mean() == pytest.approx(random, abs=5e-3)


@pytest.mark.parametrize("name", ["dram-drain", "dram-refresh"])
def test_planning_wins_at_least_8_percent_of_what_can_be_won(name):
    value = value_of_planning(name, seeds=range(SEED, SEED + 30), episodes=40)
    print(f"{name}: {value.share:.3f} +- {value.share_half_width:.3f} (seeds from {SEED})")
    assert value.share - value.share_half_width >= 0.08
    row = value.as_dict()
    assert row["random"]["mean"] < row["static"]["mean"] < row["myopic"]["mean"] < row["best"]["mean"]
    assert value.exact == pytest.approx(value.best.mean, abs=3 * value.best.half_width + 2e-3)


@pytest.mark.parametrize("name", ["dram-lite", "dram-drain", "dram-refresh"])
def test_simulation_agrees_with_dynamic_programming(name):
    problem = make_problem(name, range(SEED, SEED + 400))
    optimum = problem.optimal()
    played = play(problem, optimum.policy, 10)
    half_width = 3 * played.std() / np.sqrt(played.size)
    assert abs(played.mean() - optimum.mean[0]) < half_width + 2e-3


@pytest.mark.parametrize("name", ["dram-drain", "dram-lite", "dram-refresh"])
def test_the_optimum_follows_the_drift(name):
    problem = make_problem(name, range(50), episodes=4, drift="half")
    seen = np.full((50, problem.d_s), 0.3)
    before = problem.optimal().policy(0, seen)
    for _ in range(3):
        problem.begin_episode()
        for h in range(problem.horizon):
            problem.step(h, np.full((problem.n, 1), 0.5))
    mirrored = make_problem(name, [1], params={"c": 1.0 - make_problem(name, [1]).c[0]})
    assert problem.optimal().mean[0] == pytest.approx(mirrored.optimal().mean[0], abs=1e-9)
    assert np.abs(problem.optimal().policy(0, seen) - before).max() > 0.01
    walking = make_problem(name, [3], episodes=50, drift="walk")
    for _ in range(50):
        walking.begin_episode()
        for h in range(walking.horizon):
            walking.step(h, np.full((1, 1), 0.5))
    exact = make_problem(name, [1], params={"c": float(walking.c[0])}).optimal()
    assert walking.optimal().mean[0] == pytest.approx(exact.mean[0], abs=2e-3)
