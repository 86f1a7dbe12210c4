"""Whatever a file holds, a command reads it or says in one line what it is not: exit code 2, no traceback.

Sound files are made by the program itself, then bytes, numbers and whole values in them are changed.
"""

from __future__ import annotations

import json
import random
import re
from array import array
from pathlib import Path
from zipfile import ZipFile

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from adamb.budgets.boards import read_profile
from adamb.budgets.limits import read_budget_file
from adamb.firmware_model import snapshot
from adamb.firmware_model.host.errors import AdambError
from adamb.host_sim.experiments.spec import parse_spec
from adamb.host_sim.problems.dram.channel import read_ini
from adamb.host_sim.recording import Recording
from adamb.host_sim.traces import read_series
from adamb.host_sim.traces.info import trace_info
from adamb.tools.cli import main
from adamb.tools.inspect.block_file import read_block
from adamb.tools.inspect.findings import Inspection
from adamb.tools.report.page import build_from
from support.command import adamb, one_line, refused
from support.paths import ROOT
from support.used_blocks import new_block

SETTINGS = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)

# --- sound files ------------------------------------------------------------------------------------------

SWEEP = b"""
name = "small"
problems = ["oil-laplace", { name = "ambulance-1", set = { alpha = 0.25 }, label = "calls" }]
agents = ["adamb", { name = "adaql", bonus = [0.1, 0.4], tune = { phi = [1, 2] } }]
budgets = ["2KiB", 4096]
episodes = 50
seeds = 3
[quick]
episodes = 10
"""
LIMITS = b"""
problem = "oil-laplace"
budget = "4KiB"
episodes = 200
seeds = 4
[options]
bonus = 0.5
[limits]
bytes = 4096
"""
TIMING = b"""
[dram_structure]
bankgroups = 4
banks_per_group = 4
rows = 65536
columns = 1024
BL = 8
[timing]
tCK = 0.83 ; nanoseconds
CL = 17
tRCD = 17
tRP = 17
tRAS = 39
tWR = 18
tWTR_L = 9
tRTP = 9
tREFI = 9360
tRFC = 420
CWL = 12
tCCD_S = 4
tRRD_S = 4
tFAW = 26
"""
TRACES = [
    b"1 R 0x1000\n2 W 0x2000\n3 R 0x3040\n" * 9,
    b"time,key,size\n1,17,100\n2,18,5\n3,17,100\n" * 5,
    b"0x1000 READ 10\n0x2000 WRITE 20\n" * 7,
    b"value\n0.5\n0.25\n1.0\n" * 7,
    b"17\n18\n17\n19\n" * 9,
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Results of real commands: a run with a recording, a sweep."""
    place = tmp_path_factory.mktemp("sound")
    small = ["--episodes", "30", "--seeds", "2", "--quiet"]
    assert main(["run", "oil-laplace", *small, "--record", "--out", str(place / "run")]) == 0
    (place / "small.toml").write_bytes(SWEEP.replace(b", tune = { phi = [1, 2] }", b"").replace(b"50", b"5"))
    assert main(["sweep", str(place / "small.toml"), "--out", str(place / "sweep"), "--jobs", "1"]) == 0
    return place


@pytest.fixture(scope="module")
def dump() -> bytes:
    return new_block("2+2", extra=200)[1].tobytes()


@pytest.fixture(scope="module")
def saved() -> bytes:
    block = new_block("1+1")[1]
    out = bytearray(16 + 2 * len(block))
    return bytes(out[: snapshot.save(block, out)])


# --- what is done to them ---------------------------------------------------------------------------------

seeds = st.integers(0, 2**32)
NUMBERS = [b"-1", b"1e999", b"nan", b"99999999999999999999"]
MARKS = [b"'", b'"', b"[", b"}", b"\x00", b"\xff\xfe", b"=", b",", b"\n"]
VALUES = [None, True, -1, 0, 1e308, 2**70, "", "x", [], {}, [[]], {"a": 1}, [None], "\ud800"]


def changed(content: bytes, seed: int) -> bytes:
    """A few slices of the bytes replaced, left out, repeated, or cut off."""
    rng = random.Random(seed)
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 5, 20))):
        at = rng.randrange(len(data) + 1)
        end = min(len(data), at + rng.choice((0, 1, 1, 2, 8, 60)))
        token, noise = rng.choice(NUMBERS + MARKS), rng.randbytes(rng.randrange(9))
        data[at:end] = rng.choice((token, noise, bytes(data[at:end]) * 2, b""))
        if rng.random() < 0.1:
            del data[rng.randrange(len(data) + 1) :]
    return bytes(data)


def changed_values(value: object, rng: random.Random, chance: float) -> object:
    """A JSON value with some parts replaced by something of another kind, or left out."""
    if rng.random() < chance:
        return rng.choice(VALUES)
    if isinstance(value, dict):
        kept = {key: changed_values(part, rng, chance) for key, part in value.items()}
        return {key: part for key, part in kept.items() if rng.random() > chance / 2}
    if isinstance(value, list):
        return [changed_values(part, rng, chance) for part in value]
    return value


def reads_or_tells(load, *arguments) -> bool:
    """True when it was read; every refusal is of a kind that the command line prints as one line."""
    try:
        load(*arguments)
    except (AdambError, OSError) as error:
        assert str(error)
        return False
    return True


def on_file(load, path: Path, content: bytes) -> bool:
    path.write_bytes(content)
    return reads_or_tells(load, path)


def parse_sweep(path: Path) -> None:
    parse_spec(path.read_text(encoding="utf-8", errors="replace"), path)


LOADERS = {
    "sweep": (parse_sweep, [SWEEP]),
    "limits": (read_budget_file, [LIMITS]),
    "board": (read_profile, [(ROOT / "budgets" / "boards" / "rp2040.toml").read_bytes()]),
    "timing": (read_ini, [TIMING]),
    "trace": (trace_info, TRACES),
    "series": (read_series, TRACES),
}


@pytest.mark.parametrize("name", LOADERS)
def test_the_sound_files_are_read(name, tmp_path):
    load, contents = LOADERS[name]
    assert any(on_file(load, tmp_path / "file", content) for content in contents)


@pytest.mark.parametrize("name", LOADERS)
@SETTINGS
@given(seed=seeds)
def test_any_text_file_is_read_or_refused_in_one_line(name, seed, tmp_path):
    load, contents = LOADERS[name]
    on_file(load, tmp_path / "file", changed(random.Random(seed).choice(contents), seed))


@pytest.mark.parametrize("name", LOADERS)
@SETTINGS
@example(content=b"")
@example(content=b"\x1f\x8b\x08\x00")
@example(content=b"\x00" * 64)
@example(content=b"[" * 5000)
@example(content=b"name = " + b"[" * 5000)
@example(content=b"name = " + b"{a=" * 5000)
@example(content=b"a.b = 1\n" * 2)
@example(content=b"=\n")
@example(content=b"ADDRESS")
@given(content=st.binary(max_size=200) | st.text(st.characters(codec="utf-8"), max_size=100).map(str.encode))
def test_any_bytes_as_a_text_file_are_refused_in_one_line(name, content, tmp_path):
    on_file(LOADERS[name][0], tmp_path / "file", content)


def look(path: Path) -> None:
    found = Inspection(read_block(path))
    json.dumps(found.to_json())


@SETTINGS
@given(seed=seeds)
def test_any_dump_snapshot_or_print_is_inspected_or_refused(seed, tmp_path, dump, saved):
    printed = f"array('H', {list(array('H', dump))})".encode()
    words = " ".join(f"{word:04x}" for word in array("H", dump)).encode()
    content = random.Random(seed).choice((dump, saved, printed, words, b"\xff" * 99 + saved))
    on_file(look, tmp_path / "file", changed(content, seed) if seed else content)


@SETTINGS
@given(seed=seeds)
def test_any_snapshot_is_verified_or_refused_by_the_command(seed, tmp_path, saved, capsys):
    file, block = tmp_path / "file", tmp_path / "block.bin"
    file.write_bytes(changed(saved, seed))
    block.unlink(missing_ok=True)
    code, _, error = adamb(capsys, "inspect", file, "--out", block)
    assert (code == 0 and error == "" and block.exists()) or (code == 2 and one_line(error)), error


@SETTINGS
@given(seed=seeds)
def test_any_recording_is_read_or_refused(seed, tmp_path, folder):
    content = (folder / "run" / "recording.npz").read_bytes()
    on_file(Recording.load, tmp_path / "file.npz", changed(content, seed))


@pytest.mark.parametrize("method", [1, 12, 14, 99])
def test_a_recording_that_is_compressed_in_another_way_is_refused(method, tmp_path, folder):
    content = (folder / "run" / "recording.npz").read_bytes()
    content = re.sub(rb"(?s)(PK\x03\x04.{4}|PK\x01\x02.{6})..", lambda m: m[1] + bytes([method, 0]), content)
    assert not on_file(Recording.load, tmp_path / "file.npz", content)


def test_a_recording_with_a_torn_header_of_an_array_is_refused(tmp_path):
    """numpy reads it as Python, and what Python says of it came out of the command."""
    header = b"{'shape': (1, 5"
    with ZipFile(tmp_path / "torn.npz", "w") as file:
        for name in ("meta", "words"):
            file.writestr(f"{name}.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    assert not reads_or_tells(Recording.load, tmp_path / "torn.npz")


@SETTINGS
@given(seed=seeds)
def test_a_report_of_any_folder_is_made_or_refused(seed, tmp_path, folder):
    rng = random.Random(seed)
    kind = rng.choice(("run", "sweep"))
    place = tmp_path / "some"
    place.mkdir(exist_ok=True)
    for file in place.iterdir():
        file.unlink()
    for file in (folder / kind).iterdir():
        content = file.read_bytes() if file.is_file() and rng.random() < 0.9 else None
        if content is None:
            continue
        if file.suffix == ".json" and rng.random() < 0.7:
            made = changed_values(json.loads(content), rng, rng.choice((0, 0.02, 0.1)))
            content = json.dumps(made).encode("utf-8", "surrogatepass")
        elif rng.random() < 0.4:
            content = changed(content, seed)
        (place / file.name).write_bytes(content)
    reads_or_tells(build_from, [place])


@pytest.mark.parametrize(
    "command",
    [
        ["sweep", "{file}", "--out", "{folder}/out"],
        ["profile", "--check", "{file}"],
        ["run", "dram-1x1", "--set", "trace={file}", "--episodes", "5"],
        ["inspect", "{file}"],
        ["inspect", "{file}", "--out", "{folder}/out.snapshot"],
        ["inspect", "{file}", "--out", "{folder}/out.bin"],
        ["inspect", "{file}", "--out", "{folder}/out.png"],
        ["plan", "--board", "{file}"],
        ["report", "{file}"],
    ],
    ids=lambda command: " ".join(command[:2]),
)
@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00garbage\x00" * 40, b"{[="], ids=["empty", "binary", "brackets"])
def test_a_command_refuses_garbage_with_one_line_and_exit_code_2(command, content, tmp_path, capsys):
    file = tmp_path / "file.toml"
    file.write_bytes(content)
    refused(capsys, *(part.format(file=file, folder=tmp_path) for part in command))
    assert [path.name for path in tmp_path.iterdir()] == ["file.toml"]
