"""Whole programs for other processors print under QEMU what they print on this computer.

32 bits and 64, both byte orders, strict alignment: the recorded streams, snapshots there and back, and the
drivers of tests/fault, which count and digest what they did.
"""

from __future__ import annotations

import re
from array import array
from functools import cache
from pathlib import Path

import pytest

from adamb.firmware_model.host.binding import ffi, lib, read_stats
from support import programs
from support.flash import fitting_bytes, sizes_of
from support.paths import VECTORS
from support.programs import FOREIGN, HOST

pytestmark = pytest.mark.campaign
FILES = sorted(VECTORS.glob("*.jsonl"))
AFTERWARDS = ["check", "scrub", "stats", "save"]
RUNS: dict[str, tuple[tuple[object, ...], str]] = {
    "random configurations and wrong calls": (
        ("driver", "runs", 1, 60, 400),
        r"60 runs, 24000 steps.*digest",
    ),
    "damaged blocks": (
        ("driver", "damage", 1, 20, 300),
        r"[1-9]\d+ damaged blocks found, [1-9]\d+ harmless.*digest",
    ),
    "a pool that refuses": (("driver", "refuse", 3, 100), r"every one of [1-9]\d* requests"),
    "a small controller for long": (("driver", "long", 1, 1024, 100_000), r"[1-9]\d+ reclaims"),
    "the calls that no run makes": (("edges",), r"\d{7} answers as documented"),
    "flipped bits, many shared": (("flips", "run", 0, 3, 300, 60), r"300 flips, 60 calls after each"),
    "flipped bits, paper": (("flips", "run", 7, 3, 100, 60), r"100 flips, 60 calls after each"),
    "flipped bits, three dimensions": (("flips", "run", 8, 3, 200, 60), r"200 flips, 60 calls after each"),
    "counters at their ends": (("long_run", 400_000, 1), r"\d+ calls, nothing broken"),
    "a life with power cuts": (("soak", 5000, 1), r"chain [0-9a-f]{16}(.|\n)*every run with cuts equals"),
    "power lost at every operation": (("store_driver", "cuts", 64, 512, 3, 240, 9, 7, 5), r"0 losses"),
    "large pages": (("store_driver", "cuts", 256, 4096, 4, 2000, 4, 7, 2), r"0 losses"),
    "cut after cut": (
        ("store_driver", "runs", 128, 16384, 2, 480, 200, 3),
        r"[1-9]\d+ cuts, \d+ saves, 0 losses",
    ),
    "a worn storage": (("store_driver", "wear", 64, 512, 4, 240, 30, 5), r"the last one is there"),
    "every bit of a snapshot": (("store_driver", "flips", 240, 2), r"[1-9]\d+ flips"),
    "every bit of the newest save": (
        ("store_driver", "rot", 64, 512, 4, 240, 4),
        r"the one before it was restored",
    ),
    "forged saves": (("store_driver", "forge", 64, 512, 4, 240, 2000, 1), r"2000 forgeries, [1-9]\d+ passed"),
}
DRIVEN = [
    (what, one) for what in RUNS for one in FOREIGN if (what, one) != ("the calls that no run makes", "i386")
]
"""Millions of answers take seconds; the i386 is the least unlike this computer."""
every_machine = pytest.mark.parametrize("machine", FOREIGN)


@pytest.fixture(autouse=True)
def _installed(request: pytest.FixtureRequest) -> None:
    """Skips with what is missing."""
    try:
        programs.emulator(request.getfixturevalue("machine"))
        programs.compiler(request.getfixturevalue("machine"))
        programs.compiler(HOST)
    except programs.Missing as missing:
        pytest.skip(str(missing))


@cache
def on_this_computer(*arguments: object) -> str:
    return programs.output(HOST, *arguments)


def obey(machine: str, lines: list[str]) -> list[str]:
    return programs.output(machine, "obey", given="\n".join(lines) + "\n").splitlines()


@every_machine
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_program_agrees_with_the_exact_reference_and_its_snapshot_with_this_computer(
    path: Path, machine: str
) -> None:
    """Codes, actions and digests are those recorded; check, scrub, statistics and snapshot are the host's."""
    lines, recorded = programs.orders(path)
    there, here = (obey(name, [*lines, *AFTERWARDS]) for name in (machine, HOST))
    for number, (want, found) in enumerate(zip(recorded, there, strict=False), start=1):
        assert found == want, f"{path.name}, line {number}"
    assert there == here and len(there) == len(lines) + len(AFTERWARDS)


@every_machine
@pytest.mark.parametrize("path", FILES[::4], ids=lambda path: path.stem)
def test_a_snapshot_goes_to_this_computer_and_back(path: Path, machine: str) -> None:
    lines, _ = programs.orders(path)
    words = int(lines[0].split()[-1])
    code, text = obey(machine, [*lines, "save"])[-1].split()
    data, found = bytes.fromhex(text), array("H", bytes(2 * words))
    block = ffi.from_buffer("uint16_t[]", found)
    given = ffi.new("adamb_config *", sizes_of(fitting_bytes(data)))
    assert code == "0" and lib.adamb_snapshot_restore(data, len(data), given, block, words) == 0
    assert lib.adamb_check(block, words) == 0
    written = ffi.new("uint8_t[]", len(data))
    assert lib.adamb_snapshot_save(block, written, len(data)) == len(data)
    restore = f"restore {len(data)} {bytes(ffi.buffer(written)).hex()}"
    tail = [restore, *AFTERWARDS, "run 9 20", "save"]
    there, here = obey(machine, [lines[0], *tail]), obey(HOST, [lines[0], *tail])
    assert there == here
    assert there[4] == " ".join(map(str, [0, *read_stats(found).values()]))
    assert there[5] == f"0 {text}"


@pytest.mark.parametrize(("what", "machine"), DRIVEN)
def test_a_driver_prints_what_it_prints_on_this_computer(what: str, machine: str) -> None:
    arguments, expected = RUNS[what]
    there = programs.output(machine, *arguments)
    assert re.search(expected, there) and "FAILED" not in there
    assert there == on_this_computer(*arguments)


@pytest.mark.parametrize("machine", ["mips"])
def test_a_misaligned_access_is_refused_where_these_programs_run(machine: str) -> None:
    assert programs.output(machine, "misaligned", 1) == "refused\n"
    assert programs.output(machine, "misaligned", 0).startswith("read")
