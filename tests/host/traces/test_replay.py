"""A trace is summed up as it is, and replayed as it is by every problem that takes one."""

from __future__ import annotations

import numpy as np
import pytest

from adamb.firmware_model.host.errors import InputError
from adamb.host_sim.problem import make_problem
from adamb.host_sim.problems.cache import Stack, hits_by_size
from adamb.host_sim.problems.dram.channel import map_address
from adamb.host_sim.studies.lookahead import play
from adamb.host_sim.traces.info import trace_info
from support.trace_files import oracle

SEED = 5
pytestmark = pytest.mark.usefixtures("empty_cache")


def test_the_summary_counts_exactly_what_is_there(tmp_path):
    rng = np.random.default_rng(SEED)
    lines = rng.zipf(1.2, 5000) % 700
    writes = rng.random(5000) < 0.25
    path = tmp_path / "trace"
    pairs = zip(lines, writes, strict=True)
    path.write_text("".join(f"0x{n * 64:x} {'W' if w else 'R'}\n" for n, w in pairs))
    info = trace_info(path)
    assert (info.format, info.requests, info.writes) == ("ramulator", 5000, int(writes.sum()))
    assert round(info.objects) == len(set(lines.tolist())) and info.footprint_bytes == info.objects * 64
    hits = hits_by_size(Stack(700).run(lines), 1024)
    for size, miss in info.as_dict()["miss_ratio"]:
        assert miss == pytest.approx(1 - hits[size] / 5000, abs=1e-12)
    bank, row = map_address((lines * 64).astype(np.uint64), 16)
    last, same = {}, 0
    for b, r in zip(bank.tolist(), row.tolist(), strict=True):
        same += last.get(b) == r
        last[b] = r
    assert info.row_hit_rate_hashed == same / 5000


def test_sampling_keeps_the_miss_ratio_curve_in_bounded_memory(tmp_path):
    rng = np.random.default_rng(SEED)
    keys = rng.zipf(1.05, 60_000) % 20_000
    path = tmp_path / "ids"
    path.write_text("\n".join(map(str, keys)))
    exact, sampled = trace_info(path), trace_info(path, most_objects=1500)
    assert exact.sampling_rate == 1.0 and sampled.sampling_rate < 0.5
    assert sampled.objects == pytest.approx(exact.objects, rel=0.15)
    size = min(len(exact.curve[0]), len(sampled.curve[0]))
    far = exact.curve[0][:size] >= 256
    assert np.abs(exact.curve[1][:size] - sampled.curve[1][:size])[far].max() < 0.06


def test_rows_and_banks_of_an_address():
    bank, row = map_address(np.array([0, 1 << 13, 1 << 17, (1 << 17) | (1 << 13)], dtype=np.uint64), 16)
    assert bank.tolist() == [0, 1, 1, 0] and row.tolist() == [0, 0, 1, 1]


def write_dram_traces(folder):
    """The same requests without times, with steps of a processor, with times, as numbers of lines and in binary."""
    rng = np.random.default_rng(SEED)
    addresses = (rng.integers(0, 40, 4000) * 8192 + rng.integers(0, 128, 4000) * 64).tolist()
    lines = [a // 64 for a in addresses]
    files = {
        "ramulator": "".join(f"0x{a:x} R\n" for a in addresses).encode(),
        "cpu": "".join(f"40 {a}\n" for a in addresses).encode(),
        "dramsim3": "".join(f"0x{a:X} READ {i * 50}\n" for i, a in enumerate(addresses)).encode(),
        "ids": "".join(f"{line}\n" for line in lines).encode(),
        "oracleGeneral": oracle(lines, [64] * len(lines), [-1] * len(lines)),
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return files


def test_every_format_replays_in_dram_and_cache(tmp_path):
    seen = {}
    for name in write_dram_traces(tmp_path):
        path = str(tmp_path / name)
        problem = make_problem("dram-3x2", [SEED], params={"trace": path, "gap": 50.0, "ipc": 0.82})
        states = problem.begin_episode()
        seen[name] = float(states[0, 0])
        assert problem.optimal() is None
        assert np.isfinite(play(problem, problem.rules()["t-star"], 1)).all()
        cache = make_problem("cache-2x1", [SEED], params={"trace": f"{path},{path}", "requests": 300})
        won = play(cache, cache.rules()["utility-greedy"], 1)
        assert 0 < won.mean() < 5
    assert len(set(seen.values())) == 1, "the same requests must look the same in every format"


def test_an_episode_is_consecutive_requests_from_a_place_the_seed_draws(tmp_path):
    path = tmp_path / "ids"
    path.write_text("\n".join(str(i) for i in range(10_000)))
    small = {"trace": f"{path},{path}", "requests": 100, "lines": 8}
    cache = make_problem("cache-2x1", range(5), params=small)
    cache.begin_episode()
    seen = [cache.in_c.seen(i) for i in range(5)]
    starts = {int(keys[slots == 0][0]) for keys, slots in seen if (slots == 0).any()}
    assert len(starts) >= 4
    for keys, slots in seen:
        own = keys[slots == 0].astype(np.int64)
        assert (np.diff(own) % 10_000 == 1).all()
    problem = make_problem("dram-1x1", range(5), params={"trace": str(path), "requests": 50})
    assert (play(problem, problem.rules()["open"], 2) >= 0).all()


def write_cpu_trace(path, instructions):
    """4000 reads with write-backs, so many instructions apart, to 16 banks."""
    rng = np.random.default_rng(SEED)
    lines = rng.integers(0, 2**20, (4000, 2)) * 64
    path.write_text("".join(f"{instructions} {read} {back}\n" for read, back in lines.tolist()))
    return str(path)


def test_a_cpu_trace_is_slowed_to_half_the_load_where_nothing_is_said(tmp_path):
    trace = write_cpu_trace(tmp_path / "dense", 5)
    problem = make_problem("dram-2x1", [SEED], params={"trace": trace})
    rewards = play(problem, problem.rules()["open"], 4)
    assert (rewards > 0).all() and 0.4 < problem.state[0, 1] < 0.6
    (note,) = problem.report().notes
    assert f"ipc={problem.params['ipc']:g}" in note and problem.params["ipc"] < 1
    sparse = make_problem("dram-2x1", [SEED], params={"trace": write_cpu_trace(tmp_path / "sparse", 900)})
    assert sparse.params["ipc"] == 4 and sparse.report().notes == []


@pytest.mark.parametrize(
    "name, text, params, knob",
    [
        ("cpu", "5 {a}\n", {"ipc": 4}, "ipc"),
        ("dramsim3", "{a:#x} READ {i}\n", {}, "stretch"),
        ("ramulator", "{a:#x} R\n", {"gap": 1}, "gap"),
    ],
)
def test_a_trace_that_asks_for_too_much_is_told_with_the_knob_that_helps(tmp_path, name, text, params, knob):
    rng = np.random.default_rng(SEED)
    path = tmp_path / name
    addresses = (rng.integers(0, 2**20, 4000) * 64).tolist()
    path.write_text("".join(text.format(a=a, i=i) for i, a in enumerate(addresses)))
    problem = make_problem("dram-1x1", [SEED], params={"trace": str(path), **params})
    play(problem, problem.rules()["open"], 2)
    (note,) = problem.report().notes
    value = float(note.split(f"--set {knob}=")[1].split()[0])
    assert "more than the channel sustains in 100% of the epochs" in note
    helped = make_problem("dram-2x1", [SEED], params={"trace": str(path), knob: value})
    assert (play(helped, helped.rules()["open"], 2) > 0).all()
    assert 0.4 < helped.state[0, 1] < 0.6 and helped.report().notes == []


@pytest.mark.parametrize(
    "text, used, idle",
    [
        ("{a:#x} READ {i}00\n", "stretch", {"gap": 5, "ipc": 2}),
        ("{a:#x} R\n", "gap", {"stretch": 2, "ipc": 2}),
        ("900 {a}\n", "ipc", {"stretch": 2, "gap": 5}),
    ],
)
def test_a_pace_that_this_trace_does_not_have_is_told_with_the_one_it_has(tmp_path, text, used, idle):
    path = tmp_path / used
    path.write_text("".join(text.format(a=64 * i, i=i + 1) for i in range(2000)))
    for name, value in idle.items():
        (note,) = make_problem("dram-1x1", [SEED], params={"trace": str(path), name: value}).report().notes
        assert note == f"{name}={value} has no effect on this trace; --set {used}=… is its pace"
    assert make_problem("dram-1x1", [SEED], params={"trace": str(path), used: 3}).report().notes == []
    (note,) = make_problem("dram-1x1", [SEED], params={used: 3}).report().notes
    assert note == f"{used}=3 has no effect without a trace"


def test_rewards_that_are_all_0_are_told_with_the_latency_that_tells_them_apart():
    problem = make_problem("dram-1x1", [SEED], params={"worst": 25})
    assert (play(problem, problem.rules()["closed"], 2) == 0).all()
    assert "--set worst=" in problem.report().notes[0]


def test_traces_that_are_too_short_are_refused(tmp_path):
    path = tmp_path / "trace"
    path.write_text("0x40 R\n" * 100)
    with pytest.raises(InputError, match="100 requests, 1536 are needed; --set requests=16 takes shorter"):
        make_problem("dram-1x1", [1], params={"trace": str(path)})
    make_problem("dram-1x1", [1], params={"trace": str(path), "requests": 16})
    with pytest.raises(InputError, match="two files"):
        make_problem("cache-2x1", [1], params={"trace": str(path)})
    with pytest.raises(InputError, match="an epoch needs 4000; --set requests=100 takes shorter ones"):
        make_problem("cache-2x1", [1], params={"trace": f"{path},{path}"})
    make_problem("cache-2x1", [1], params={"trace": f"{path},{path}", "requests": 100})
    with pytest.raises(InputError, match="drift"):
        make_problem("dram-1x1", [1], drift="half", params={"trace": str(path), "requests": 10})
