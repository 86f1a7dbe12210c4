"""The DRAM model keeps the timing of its data sheet."""

from __future__ import annotations

import numpy as np
import pytest

from adamb.firmware_model.host.errors import InputError
from adamb.host_sim.problem import make_problem
from adamb.host_sim.problems.dram.channel import DEVICES, REQUEST, Knobs, as_requests, ffi, lib, load_timing, read_ini
from adamb.host_sim.problems.dram.lite import best_timeout

SEED = 20240
DDR4 = DEVICES["DDR4-2400"]


class Channel:
    """One channel with its own banks and queues; `serve` continues where the last batch ended."""

    def __init__(self):
        self.timing, self.state = DDR4.as_c(), ffi.new("dram_channel *")
        lib.dram_reset(self.state, self.timing)

    def serve(self, requests, **knobs):
        totals = ffi.new("dram_totals *")
        lib.dram_run(self.state, self.timing, Knobs(**knobs).as_c(), as_requests(requests), len(requests), totals)
        return totals

    def latency(self, requests, **knobs):
        """Mean of the reads in cycles."""
        totals = self.serve(requests, **knobs)
        return totals.read_latency / totals.reads


def latency(requests, **knobs):
    return Channel().latency(requests, **knobs)


def traffic(p, gap_stay, gap_move, n, *, streams=4, writes=0.0):
    """n requests of synthetic traffic, one stream a bank."""
    state, requests = ffi.new("dram_streams *"), np.empty(n, dtype=REQUEST)
    lib.dram_streams_reset(state, streams, SEED, p, gap_stay, gap_move)
    lib.dram_streams_next(state, SEED + 1, p, gap_stay, gap_move, writes, as_requests(requests), n)
    return requests


def batch(*rows):
    return np.array(list(rows), dtype=REQUEST)


@pytest.mark.parametrize("row, timeout, cycles", [(1, None, 21), (1, 0, 38), (2, 0, 38), (2, None, 55)])
def test_an_isolated_read_takes_21_38_or_55_cycles(row, timeout, cycles):
    channel = Channel()
    channel.latency(batch((0, 1, 0, 0)), timeout=timeout)
    assert channel.latency(batch((5000, row, 0, 0)), timeout=timeout) == cycles


def test_a_request_that_arrives_before_the_row_closes_is_a_hit():
    for arrival, cycles in ((17 + 100, 21), (17 + 101, 38)):
        channel = Channel()
        channel.latency(batch((0, 1, 0, 0)), timeout=100)
        after = channel.latency(batch((arrival, 1, 0, 0)), timeout=100)
        assert after >= cycles and (after == 21) == (cycles == 21)


def test_activations_keep_trrd_and_tfaw():
    reads = batch(*[(0, 7, bank, 0) for bank in range(6)])
    channel = Channel()
    totals = channel.serve(reads)
    activations = [0, 4, 8, 12, 26, 30]
    expected = sum(act + DDR4.t_rcd + DDR4.hit for act in activations)
    assert totals.read_latency == expected and totals.closed == 6


def test_a_read_waits_for_the_write_to_turn_the_bus_around():
    writes = [(0, 1, 0, 1)] * 26
    channel = Channel()
    totals = channel.serve(batch(*writes, (1, 1, 1, 0)))
    assert totals.writes == 20 and totals.reads == 1
    last_write_cas = DDR4.t_rcd + 19 * DDR4.t_ccd
    assert totals.read_latency == last_write_cas + DDR4.cwl + DDR4.burst + DDR4.t_wtr + DDR4.hit - 1


@pytest.mark.parametrize("p, known", [(0.3, 65), (0.5, 102), (0.7, 140), (0.9, 200)])
def test_the_best_timeout_of_the_model_is_near_t_star(p, known):
    t_star = float(best_timeout(p, 40.0, 400.0))
    assert t_star == pytest.approx(known, abs=0.5)
    requests = traffic(p, 40, 400, 60_000)
    tried = np.arange(0, 400, 10)
    cycles = [latency(requests, timeout=int(timeout)) for timeout in tried]
    assert abs(tried[int(np.argmin(cycles))] - t_star) <= 40
    assert latency(requests, timeout=round(t_star)) - min(cycles) < 0.3


def test_refresh_costs_about_nine_cycles():
    expected = DDR4.t_rfc**2 / (2 * DDR4.t_refi)
    assert expected == pytest.approx(9.4, abs=0.05)
    requests = traffic(0.5, 700, 700, 200_000)
    cost = latency(requests, timeout=0, refresh=True) - latency(requests, timeout=0)
    assert cost == pytest.approx(expected, abs=1.2)


def test_refreshes_missed_while_idle_are_skipped():
    channel = Channel()
    late = 1000 * DDR4.t_refi + DDR4.t_rfc + 1
    totals = channel.serve(batch((late, 1, 0, 0)), refresh=True)
    assert totals.refreshes == 1000 and totals.read_latency <= 38


def test_every_request_is_served_once_whatever_the_knobs():
    rng = np.random.default_rng(SEED)
    for _ in range(30):
        requests = traffic(rng.random(), 1 + 200 * rng.random(), 1 + 400 * rng.random(), 3000,
                           streams=int(rng.integers(1, 17)), writes=rng.random())  # fmt: skip
        knobs = {
            "timeout": None if rng.random() < 0.3 else int(rng.integers(0, 500)),
            "opportune": int(rng.integers(1, 33)), "refresh": bool(rng.integers(2)), "in_order": bool(rng.integers(2)),
        }  # fmt: skip
        totals = Channel().serve(requests, **knobs)
        writes = int(requests["write"].sum())
        assert totals.reads == len(requests) - writes
        assert writes - 32 <= totals.writes <= writes
        assert totals.hits + totals.closed + totals.conflicts == totals.reads + totals.writes
        assert totals.read_latency >= totals.reads * DDR4.hit


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
    assert make_problem("dram-1x1", [1], params={"device": str(path)}).worst == 70.0
    path.write_text(INI.replace("tRTP = 12\n", "").replace("tREFI", "REFI"))
    timing = read_ini(path)
    assert timing.t_rtp == 5 and timing.t_refi == 12480, "as published files leave out or spell"


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


def test_impossible_queues_and_latencies_are_refused():
    for name, value in (("drain_low", 30), ("write_queue", 20), ("read_queue", 0), ("opportune", 0), ("timeout", -1)):
        with pytest.raises(InputError):
            Knobs(**{name: value})
    with pytest.raises(InputError, match="row hit"):
        make_problem("dram-1x1", [1], params={"worst": 20})


def test_under_load_row_hits_come_first_and_the_opportune_drain_has_an_interior_optimum():
    requests = traffic(0.5, 100, 300, 60_000, streams=16, writes=0.3)
    assert latency(requests, timeout=200) < 0.7 * latency(requests, timeout=200, in_order=True)
    requests = traffic(0.8, 100, 300, 100_000, streams=16, writes=0.3)
    early, near, late = (latency(requests, timeout=200, opportune=opportune) for opportune in (1, 16, 32))
    assert early > near + 4 and late > near + 2
