"""Traces are recognised by content, replayed as they are, and refused with file and line when broken."""

from __future__ import annotations

import gzip
import struct
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adamb.budgets.errors import InputError
from adamb.host_sim.cache_core import hits_by_size, simulate, stack_distances
from adamb.host_sim.dram_traffic import map_address
from adamb.host_sim.planning_value import play
from adamb.host_sim.problem import make_problem
from adamb.host_sim.traces import TraceReader, object_ids, open_store
from adamb.host_sim.traces_formats import recognise
from adamb.host_sim.traces_info import trace_info

SEED = 5


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ADAMB_CACHE", str(tmp_path / "cache"))


def rows(path):
    return [tuple(int(v) for v in row)[:4] for batch in TraceReader(path) for row in batch.tolist()]


FORMATS = {
    "ramulator": ("0x12345680 R\n0x4cbd56c0 W\n", [(0, 0x12345680, 64, 0), (0, 0x4CBD56C0, 64, 1)]),
    "load-store": ("LD 0x40\nST 128\n", [(0, 0x40, 64, 0), (0, 128, 64, 1)]),
    "cpu": (
        "3 20734016\n8 20841280 20841344\n",
        [(4, 20734016, 64, 0), (13, 20841280, 64, 0), (13, 20841344, 64, 1)],
    ),
    "dramsim3": (
        "0x2000D5C0 READ  30\n0x1FF96FC0 WRITE   160\n",
        [(30, 0x2000D5C0, 64, 0), (160, 0x1FF96FC0, 64, 1)],
    ),
    "dramsys": (
        "# made by hand\n31:\tread\t0x400140\n33:\t(16) write\t0x200\t0xffff\n",
        [(31, 0x400140, 64, 0), (33, 0x200, 16, 1)],
    ),
    "ids": ("17\n0x12\n\n17\n", [(0, 17, 1, 0), (0, 18, 1, 0), (0, 17, 1, 0)]),
    "msr": (
        "128166372003061629,hm,1,Read,383496192,32768,58000\n128166372016382155,hm,0,Write,4096,512,1\n",
        [(128166372003061629, (1 << 56) | 383496192, 32768, 0), (128166372016382155, 4096, 512, 1)],
    ),
    "csv": ("time,key,size,op\n1,7,100,get\n2.5,9,50,set\n", [(1, 7, 100, 0), (2, 9, 50, 1)]),
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("packed", [False, True])
def test_every_text_format_is_recognised_by_content(tmp_path, name, packed):
    text, expected = FORMATS[name]
    path = tmp_path / "some.file"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    assert TraceReader(path).format == name
    assert rows(path) == expected


PLAIN = ["0x40 R", "LD 0x40", "ST 64", "3 640", "3 640 1280", "0x40 READ 3", "7: read 0x40", "64", "0x40"]
ODD = [
    "", " ", "# note", "0x40  R ", "\t0X4f\tW\r", "st 64", "4 0x40", "4 640 7 7", "0x40 read 9", "12 ",
    "7:(8)write 0x40 0xab ", "7: read 0x40 0x", "7 : read 0x40", "0" * 19, "0xfffffffffffffffff R",
]  # fmt: skip


def by_line(path):
    """The same file through the readers that know one line only."""
    out, text = [], None
    for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
        if not line.strip() or line.strip().startswith(b"#"):
            continue
        text = text or recognise(line)
        if text is None or not text.read(line, out):
            return number
    return out or None


@given(lines=st.lists(st.sampled_from(PLAIN + ODD), min_size=1, max_size=12), first=st.sampled_from(PLAIN))
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_plain_lines_read_in_c_are_those_read_by_line(tmp_path, lines, first):
    path = tmp_path / "trace"
    path.write_text("\n".join([first, *[first] * 3, *lines]))
    expected = by_line(path)
    if isinstance(expected, int):
        assert f"{path}:{expected} = " in refused(path)
    else:
        assert rows(path) == expected


def test_lines_that_cross_blocks_are_read_once(tmp_path, monkeypatch):
    numbers = np.random.default_rng(SEED).integers(0, 10**9, 3000).tolist()
    path = tmp_path / "ids"
    path.write_text("\n".join(f"{n}\n# {n}" if n % 7 == 0 else str(n) for n in numbers))
    for size in (1, 7, 64, 1000):
        monkeypatch.setattr("adamb.host_sim.traces_reader.BLOCK_BYTES", size)
        assert [row[1] for row in rows(path)] == numbers


def test_windows_line_ends_and_a_missing_last_one_do_not_matter(tmp_path):
    for name, (text, expected) in FORMATS.items():
        path = tmp_path / name
        path.write_bytes(text.replace("\n", "\r\n").rstrip("\r\n").encode())
        assert rows(path) == expected, name


def test_msr_with_its_header_and_named_columns_in_any_order(tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text("Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n" + FORMATS["msr"][0])
    assert TraceReader(path).format == "msr" and rows(path) == FORMATS["msr"][1]
    path.write_text('"size","Object_ID"\n5,abc\n6,abd\n5,abc\n')
    first, second, third = rows(path)
    assert first == third != second and first[2] == 5


def oracle(ids, sizes, following):
    return b"".join(
        struct.pack("<IQIq", i, name, size, later)
        for i, (name, size, later) in enumerate(zip(ids, sizes, following, strict=True))
    )


@pytest.mark.parametrize("packed", [False, True])
def test_oracle_general_is_read_with_its_next_uses(tmp_path, packed):
    path = tmp_path / "trace.oracleGeneral"
    data = oracle([7, 2**63 + 1, 7], [10, 20, 10], [3, -1, -1])
    path.write_bytes(gzip.compress(data) if packed else data)
    reader = TraceReader(path)
    records = np.concatenate(list(reader))
    assert reader.format == "oracleGeneral" and reader.unit == "objects"
    assert records["address"].tolist() == [7, 2**63 + 1, 7] and records["next"].tolist() == [3, -1, -1]
    hit = simulate("belady", records["address"], records["size"], 30, records["next"])
    assert hit.tolist() == [False, False, True]


def test_a_store_reads_any_slice_and_notices_a_changed_file(tmp_path):
    path = tmp_path / "ids"
    numbers = np.random.default_rng(SEED).integers(0, 10**9, 70_000)
    path.write_text("\n".join(map(str, numbers)))
    store = open_store(path)
    assert len(store) == 70_000 and store[69_990:]["address"].tolist() == numbers[69_990:].tolist()
    assert open_store(path)[5:9]["address"].tolist() == numbers[5:9].tolist()
    path.write_text("1\n2\n3\n")
    assert len(open_store(path)) == 3


def test_a_store_works_where_nothing_can_be_kept(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv("ADAMB_CACHE", str(blocked / "below"))
    path = tmp_path / "ids"
    path.write_text("1\n2\n3\n")
    assert open_store(path)[1:]["address"].tolist() == [2, 3]


# ---- broken files --------------------------------------------------------------------------------------


def refused(path):
    with pytest.raises(InputError) as caught:
        for _ in TraceReader(path):
            pass
    message = str(caught.value)
    assert str(path) in message and "\n" not in message and len(message) < 1500
    return message


def test_a_truncated_gzip_says_how_far_it_was_read(tmp_path):
    numbers = np.random.default_rng(SEED).integers(0, 2**30, 300_000)
    lines = "".join(f"0x{i * 64 + 2**30:x} R\n" for i in numbers)
    path = tmp_path / "cut.gz"
    packed = gzip.compress(lines.encode())
    path.write_bytes(packed[: len(packed) // 2])
    message = refused(path)
    assert "truncated" in message and "lines" in message and "after 0 lines" not in message


def test_damaged_gzip_is_refused(tmp_path):
    path = tmp_path / "bad.gz"
    packed = bytearray(gzip.compress(b"0x40 R\n" * 1000))
    packed[30:40] = b"\xff" * 10
    path.write_bytes(packed)
    assert "gzip" in refused(path)
    path.write_bytes(b"\x1f\x8b")
    assert "gzip" in refused(path)


def test_binary_junk_is_refused(tmp_path):
    path = tmp_path / "junk"
    for seed in range(20):
        path.write_bytes(np.random.default_rng(seed).bytes(5000))
        assert "0 lines" in refused(path)


def test_mixed_formats_name_the_line(tmp_path):
    path = tmp_path / "mixed"
    path.write_text("0x40 R\n" * 70_000 + "LD 0x40\n")
    message = refused(path)
    assert f"{path}:70001" in message and "70000 lines were read" in message and "ramulator" in message


@pytest.mark.parametrize("name", FORMATS)
def test_a_bad_line_in_every_format_names_file_and_line(tmp_path, name):
    path = tmp_path / "trace"
    good = FORMATS[name][0]
    path.write_text(good + "?? nonsense ??\n")
    line = good.count("\n") + 1
    message = refused(path)
    assert f"{path}:{line} = " in message and f"{line - 1} lines were read" in message


@pytest.mark.parametrize("address", ["0x1" + "0" * 16, "0x" + "f" * 400, "0x"])
def test_huge_addresses_are_refused(tmp_path, address):
    path = tmp_path / "trace"
    path.write_text(f"0x40 R\n{address} R\n")
    assert f"{path}:2" in refused(path)


def test_the_largest_address_is_accepted(tmp_path):
    path = tmp_path / "trace"
    path.write_text("0xffffffffffffffff R\n0x40 W\n" * 200)
    assert rows(path)[0][1] == 2**64 - 1
    info = trace_info(path)
    assert info.requests == 400 and round(info.objects) == 2


def test_empty_files_and_files_of_comments_are_refused(tmp_path):
    path = tmp_path / "trace"
    path.write_text("")
    assert "0 lines were read" in refused(path)
    path.write_bytes(gzip.compress(b""))
    assert "empty" in refused(path)
    path.write_text("# only\n\n# comments\n")
    assert "no request" in refused(path)
    with pytest.raises(InputError, match="no such file"):
        TraceReader(tmp_path / "missing")


def test_oracle_general_that_ends_in_the_middle_or_points_back_is_refused(tmp_path):
    path = tmp_path / "trace"
    data = oracle(range(1000), [1] * 1000, [-1] * 1000)
    path.write_bytes(data[:-5])
    assert "record 1000" in refused(path) and "999 records were read" in refused(path)
    back = oracle(range(2000), [1] * 2000, [-1] * 1500 + [3] + [-1] * 499)
    path.write_bytes(back)
    assert "record 1501" in refused(path)


LIMITED = """
from pathlib import Path

from adamb.budgets.errors import InputError
{work}
print(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
"""


def peak_kib(work, tmp_path):
    """Peak memory of the work in a process of its own; getrusage would count the forking test process too."""
    done = subprocess.run(
        [sys.executable, "-c", LIMITED.format(work=work)], capture_output=True, text=True, check=True,
        env={"ADAMB_CACHE": str(tmp_path / "cache"), "PATH": "/usr/bin:/bin", "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    return int(done.stdout.split()[-1]), done.stdout


def test_a_line_of_10_megabytes_is_refused_in_bounded_memory(tmp_path):
    path = tmp_path / "long"
    path.write_bytes(b"0x40 R\n" + b"1" * 10_000_000)
    work = f"""
from adamb.host_sim.traces import TraceReader
try:
    for _ in TraceReader(Path({str(path)!r})): pass
except InputError as error:
    print(error)
"""
    peak, printed = peak_kib(work, tmp_path)
    assert f"{path}:2" in printed and "at most 65536 bytes" in printed
    assert peak < 150 * 1024


@pytest.mark.slow
def test_a_trace_of_100_megabytes_needs_less_than_200(tmp_path):
    path = tmp_path / "large.trace"
    rng = np.random.default_rng(SEED)
    with path.open("w") as file:
        for _ in range(50):
            numbers = rng.integers(0, 2**34, 100_000) * 64
            file.write("".join(f"0x{n:011x} {'RW'[n >> 6 & 1]}\n" for n in numbers.tolist()))
        while file.tell() < 100 * 10**6:
            file.write("0x123456780 R\n" * 100_000)
    work = f"""
from adamb.host_sim.traces_formats import recognise
from adamb.host_sim.traces_info import trace_info
from adamb.host_sim.problem import make_problem
info = trace_info(Path({str(path)!r}))
assert info.requests > 5_000_000, info.requests
problem = make_problem("dram-1x1", [1], params={{"trace": {str(path)!r}}})
problem.begin_episode()
"""
    peak, _ = peak_kib(work, tmp_path)
    assert peak < 200 * 1024, f"{peak / 1024:.0f} MiB"


# ---- what is in a trace --------------------------------------------------------------------------------


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
    hits = hits_by_size(stack_distances(lines.astype(np.uint64)), 1024)
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


# ---- replay --------------------------------------------------------------------------------------------


def write_dram_traces(folder):
    rng = np.random.default_rng(SEED)
    addresses = (rng.integers(0, 40, 4000) * 8192 + rng.integers(0, 128, 4000) * 64).tolist()
    texts = {
        "ramulator": "".join(f"0x{a:x} R\n" for a in addresses),
        "load-store": "".join(f"LD 0x{a:x}\n" for a in addresses),
        "cpu": "".join(f"40 {a}\n" for a in addresses),
        "dramsim3": "".join(f"0x{a:X} READ {i * 50}\n" for i, a in enumerate(addresses)),
        "dramsys": "".join(f"{i * 50}:\tread\t0x{a:x}\n" for i, a in enumerate(addresses)),
        "ids": "".join(f"{a // 64}\n" for a in addresses),
        "msr": "".join(f"{i},h,0,Read,{a},64,1\n" for i, a in enumerate(addresses)),
        "csv": "time,id\n" + "".join(f"{i},{a // 64}\n" for i, a in enumerate(addresses)),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "oracleGeneral").write_bytes(
        oracle([a // 64 for a in addresses], [64] * len(addresses), [-1] * len(addresses))
    )
    return [*texts, "oracleGeneral"]


def test_every_format_replays_in_dram_and_cache(tmp_path):
    seen = {}
    for name in write_dram_traces(tmp_path):
        path = str(tmp_path / name)
        problem = make_problem("dram-3x2", [SEED], params={"trace": path, "gap": 50.0, "ipc": 0.82})
        states = problem.begin_episode()
        seen[name] = float(states[0, 0])
        assert problem.optimal() is None
        assert np.isfinite(play(problem, problem.baselines()["t-star"], 1)).all()
        cache = make_problem("cache-2x1", [SEED], params={"trace": f"{path},{path}", "requests": 300})
        won = play(cache, cache.baselines()["utility-greedy"], 1)
        assert 0 < won.mean() < 5
    assert len(set(seen.values())) == 1, "the same requests must look the same in every format"


def test_an_episode_is_consecutive_requests_from_a_place_the_seed_draws(tmp_path):
    path = tmp_path / "ids"
    path.write_text("\n".join(str(i) for i in range(10_000)))
    small = {"trace": f"{path},{path}", "requests": 100, "lines": 8}
    cache = make_problem("cache-2x1", range(5), params=small)
    cache.begin_episode()
    starts = {int(keys[slots == 0][0]) for keys, slots in cache.seen if (slots == 0).any()}
    assert len(starts) >= 4
    for keys, slots in cache.seen:
        own = keys[slots == 0].astype(np.int64)
        assert (np.diff(own) % 10_000 == 1).all()
    problem = make_problem("dram-1x1", range(5), params={"trace": str(path), "requests": 50})
    assert (play(problem, problem.baselines()["open"], 2) >= 0).all()


def test_traces_that_are_too_short_are_refused(tmp_path):
    path = tmp_path / "trace"
    path.write_text("0x40 R\n" * 100)
    with pytest.raises(InputError, match="100 requests, 1536 are needed"):
        make_problem("dram-1x1", [1], params={"trace": str(path)})
    with pytest.raises(InputError, match="two files"):
        make_problem("cache-2x1", [1], params={"trace": str(path)})
    with pytest.raises(InputError, match="drift"):
        make_problem("dram-1x1", [1], drift="half", params={"trace": str(path), "requests": 10})


def test_lines_of_a_byte_trace_are_objects_to_a_cache(tmp_path):
    path = tmp_path / "trace"
    path.write_text("0x40 R\n0x7f R\n0x80 R\n")
    records = np.concatenate(list(TraceReader(path)))
    assert object_ids(records, "bytes").tolist() == [1, 1, 2]
