"""The statistics of a channel are what its epochs add up to."""

import numpy as np
import pytest

from adamb.host_sim.problem import make_problem
from adamb.host_sim.problems.dram.channel import REQUEST, Knobs, ffi, load_timing
from adamb.host_sim.problems.dram.statistics import Statistics
from support.dram_channel import Channel

SEED = 7


def test_counts_and_latencies_are_those_of_the_epochs():
    problem = make_problem("dram-3x2", [SEED, SEED + 1])
    rng, seen = np.random.default_rng(SEED), []
    for _ in range(3):
        problem.begin_episode()
        for h in range(problem.horizon):
            problem.step(h, rng.random((2, 2)))
            seen.append(problem.info())
    found = problem.statistics()
    for name in ("reads", "writes", "hits", "closed", "conflicts", "reopened", "refreshes"):
        assert found[name] == sum(epoch[f"epoch_{name}"].sum() for epoch in seen), name
    assert found["hits"] + found["closed"] + found["conflicts"] == found["reads"] + found["writes"]
    assert found["worst_read"] == max(epoch["epoch_worst_read"].max() for epoch in seen)
    total = sum((epoch["epoch_latency"] * epoch["epoch_reads"]).sum() for epoch in seen)
    assert found["mean_read"] == pytest.approx(total / found["reads"])
    assert sum(row[2] for row in found["latency"]) == found["reads"]
    assert found["latency"][-1][0] <= found["worst_read"] < found["latency"][-1][1]
    figures = problem.figures()
    shares = figures["row_hits"] + figures["closed_rows"] + figures["bank_conflicts"]
    assert shares == pytest.approx([1, 1])


def test_the_histogram_counts_a_hit_and_a_conflict_where_they_belong():
    timing = load_timing("DDR4-2400")
    requests = np.zeros(3, dtype=REQUEST)
    requests["arrival"], requests["row"] = [0, 1000, 2000], [1, 1, 2]
    channel, counted = Channel(timing), Statistics(1)
    counted.sums[0] = np.frombuffer(ffi.buffer(channel.serve(requests, Knobs().as_c())), dtype=np.int64)
    found = counted.as_dict()
    assert (found["closed"], found["hits"], found["conflicts"]) == (1, 1, 1)
    assert timing.hit == 21 and timing.conflict == 55
    assert found["latency"] == [[16, 32, 1], [32, 64, 2]]


def test_a_problem_that_counts_nothing_has_no_statistics():
    assert make_problem("oil-laplace", [SEED]).statistics() == {}
