"""Numbers that adamb.h and SPEC.md state are those of spec.toml and of the compiled core."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from adamb.firmware_model import _spec
from adamb.tools.device.latency import bounds

HERE = Path(__file__).parent
FIRMWARE = HERE.parents[1] / "firmware_model"
HEADER = re.sub(r"\n \*", "", (FIRMWARE / "c" / "adamb.h").read_text())
LINES = (FIRMWARE / "SPEC.md").read_text(encoding="utf-8")
SPEC = re.sub(r"\s+", " ", LINES)
CONSTANTS = {name: value for name, value in vars(_spec).items() if name.isupper()}


def stated(pattern: str, text: str = HEADER) -> tuple[int, ...]:
    """The numbers of the one place that says so."""
    found = re.findall(pattern, text)
    assert len(found) == 1, f"{pattern}: {found}"
    numbers = found[0] if isinstance(found[0], tuple) else (found[0],)
    return tuple(int(number.replace(",", "")) for number in numbers)


def numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]


def bound_of(quantity: str) -> str:
    """What the table of bounds in SPEC.md says of a quantity, which the rule behind it defines."""
    cells = re.findall(r"\| ([^|]+) \(\d\.\d+\) \| ([^|]+)\| [^|]*\|", SPEC)
    return {name.strip(): bound.strip() for name, bound in cells}[quantity]


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    """What scans.c prints of the compiled core: scans, levels, bytes and expectations."""
    if shutil.which("gcc") is None:
        pytest.skip("no gcc here")
    folder = tmp_path_factory.mktemp("scans")
    flags = ["gcc", "-std=c99", "-O1", f"-I{FIRMWARE / 'c'}"]
    library, program = folder / "libcore.so", folder / "scans"
    core = map(str, sorted((FIRMWARE / "c").glob("*.c")))
    subprocess.run([*flags, "-fPIC", "-shared", *core, "-o", str(library)], check=True)
    files = [str(HERE / "scans.c"), str(library), f"-Wl,-rpath,{folder}", "-rdynamic", "-ldl", "-o", str(program)]
    subprocess.run([*flags, *files], check=True)

    def run(d_s: int, d_a: int, share: int = 0) -> list[int]:
        command = [str(program), str(d_s), str(d_a), "1024", str(share)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return [int(number) for number in done.stdout.split()]

    return run


def test_scans_of_an_observe(counted):
    most, simple = stated(r"at most (\d+) scans of the relevant balls \((\d+) with one state and one action")
    assert (most, simple) == stated(r"at most (\d+) scans \((\d+) with one chunk per level\)", SPEC)
    assert most == bounds.SCANS == max(counted(d_s, d_a)[0] for d_s, d_a in ((2, 1), (1, 2), (2, 2)))
    assert simple == bounds.SCANS_SIMPLE == counted(1, 1)[0] == counted(1, 1, share=1)[0]
    assert most >= max(counted(d_s, d_a, share=1)[0] for d_s, d_a in ((2, 1), (1, 2), (2, 2)))


def test_expectations_of_a_scan_and_of_an_observe(counted):
    (a_ball,) = stated(r"computes at most (\d+) expectation per ball", SPEC)
    (update,) = stated(r"an update with at most (\d+) expectations", SPEC)
    (fold,) = stated(r"fold of at most 4 entries, which computes at most (\d+) expectations", SPEC)
    found = [counted(d_s, d_a)[4:] for d_s, d_a in ((1, 1), (2, 1), (1, 2), (2, 2))]
    assert max(outside for outside, _ in found) == update + fold
    assert a_ball == 1 and max(beyond for _, beyond in found) == 0


def test_bytes_of_a_step_and_of_a_unit(counted):
    _, finest, four, eight, *_ = counted(1, 1)
    assert stated(r"RAM: (\d+) bytes each and once more, plus a value tree each") == (2 * _spec.S_WORDS,)
    assert eight - four == 4 * 2 * _spec.S_WORDS
    assert stated(r"units_header; /\* (\d+) bytes each") == (2 * _spec.UNIT_WORDS,)
    words = _spec.H_WORDS + finest + 1 + (4 + 1) * _spec.S_WORDS
    assert four == 2 * _spec.UNIT_WORDS * -(-words // _spec.UNIT_WORDS)


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        (r"state dimensions, 1\.\.(\d+);", ["DIM_MAX"]),
        (r"action dimensions, 1\.\.(\d+) \*/", ["DIM_MAX"]),
        (r"steps of an episode, 1\.\.(\d+);", ["HORIZON_MAX"]),
        (r"c/sqrt\(n\), 0\.\.(\d+) ", ["BONUS_MAX"]),
        (r"ball of level 0\.\.(\d+) splits: 1\.\., not decreasing; above \d+ never", ["LEVEL_MAX"]),
        (r"splits: 1\.\., not decreasing; above (\d+) never", ["THRESHOLD_MAX"]),
        (r"more than (\d+) becomes", ["THRESHOLD_MAX"]),
    ],
)
def test_limits_of_the_header(pattern, names):
    assert stated(pattern) == tuple(CONSTANTS[name] for name in names)


def test_sizes_that_follow_from_the_limits():
    assert stated(r"thresholds\[(\d+)\];") == (_spec.LEVEL_MAX + 1,)
    assert stated(r"Work: (\d+) divisions") == (_spec.LEVEL_MAX + 1,)
    words = _spec.UNITS_MAX * _spec.UNIT_WORDS
    assert stated(r"Words beyond ([\d,]+) \((\d+) KiB\)") == (words, -(-2 * words // 1024))
    snapshot = (FIRMWARE / "c" / "adamb_snapshot.h").read_text()
    head = _spec.SNAPSHOT_HEAD_BYTES
    assert stated(r"takes now: (\d+) \+ (\d+) \* \(units", snapshot) == (head, 2 * _spec.UNIT_WORDS)
    store = (FIRMWARE / "c" / "adamb_store.h").read_text()
    assert stated(r"as a save of (\d+) \+ 2 \* words", store) == (head + _spec.STORE_HEAD_BYTES,)


def test_every_constant_that_the_specification_names_exists():
    """SPEC.md names constants instead of repeating them."""
    named = set(re.findall(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b", SPEC))
    codes = {"BAD_BLOCK", "BAD_DIMENSIONS", "BAD_ORDER", "NO_MEMORY"}
    assert named - CONSTANTS.keys() - codes == set()


def test_bounds_of_the_specification_hold():
    """The rows of its table of bounds that state a number, computed from spec.toml."""
    dev = _spec.DETECT_ALARM * 65535 + ((1 << 12) >> _spec.DETECT_FLOOR_SHIFT)
    power = int(bound_of("`DETECT_ALARM` · d + (2^f >> `DETECT_FLOOR_SHIFT`)").removeprefix("2^"))
    assert 1 << (power - 1) < dev <= 1 << power
    factor, most, margin, n, times = numbers(bound_of("sharing sums"))
    assert (factor, margin) == (_spec.SHARE_REWARD_FACTOR, _spec.SHARE_REWARD_MARGIN)
    assert n == times == _spec.SHARE_COUNT_MAX and most == 256 * n
    assert (factor * most + margin * n) * times < 1 << 30
    mask, by, *_ = numbers(bound_of("dither"))
    assert (mask, by) == (_spec.DITHER_MASK, _spec.DITHER_FACTOR)
    value, part = numbers(bound_of("blend of values"))
    assert (value, part) == (_spec.VALUE_MAX, _spec.SAMPLE_WEIGHT * _spec.N_MAX)


def test_bounds_of_what_a_scan_adds_up_hold():
    """The rows about noise and effect."""
    noise, margin = map(int, re.findall(r"2\^(\d+)", bound_of("noise · `MEMORY_NOISE` + `MEMORY_MARGIN`")))
    assert 1 << noise >= _spec.VALUE_MAX * _spec.MEMORY_NOISE
    assert 1 << margin == _spec.MEMORY_MARGIN
    error, power = numbers(bound_of("bonus << (ℓ + `EARLY_ERROR_SHIFT`)"))[::2]
    assert error == _spec.VALUE_MAX and power == _spec.LEVEL_MAX - 1 + _spec.EARLY_ERROR_SHIFT
    weights, apart = numbers(bound_of("Σ m · x², μ · (2a − μ·n)"))
    assert apart == _spec.EFFECT_MOST
    assert weights >= _spec.RANK_MOST - 1 + _spec.RANK_SAMPLES and 2 * weights * apart**2 < 1 << 30
    assert numbers(bound_of("e · part"))[0] == 2 * _spec.VALUE_MAX


def test_limits_of_the_page_about_the_paper():
    page = (FIRMWARE.parent / "docs" / "paper.md").read_text(encoding="utf-8")
    stated_limits = re.findall(r"`([A-Z_]+)` = (\d+)", page)
    assert dict(stated_limits) == {name: str(CONSTANTS[name]) for name in ("THRESHOLD_MAX", "N_MAX")}


def test_the_page_about_the_paper_names_functions_and_rules_that_exist():
    docs = FIRMWARE.parent / "docs"
    page = "".join((docs / name).read_text(encoding="utf-8") for name in ("paper.md", "paper-map.md"))
    reference = FIRMWARE.parent / "host_sim" / "agents" / "reference"
    code = "".join((reference / name).read_text(encoding="utf-8") for name in ("learner.py", "tree.py"))
    functions = re.findall(r"`(?:Learner|StateCells)\.(\w+)`", page)
    assert len(functions) > 10
    for name in functions:
        assert f"def {name}(" in code, name
    rules = set(re.findall(r"(?m)^(?:- \*\*)?(\d+\.\d+)(?:\*\*|  )", LINES))
    written = re.sub(r"(?s)<!-- begin.*?<!-- end -->", "", page)
    written = re.sub(r"(?m)^.*`adamb theory --dims.*$", "", written)  # Lipschitz constants, not rules
    written = re.sub(r"K\^(\d\.\d+|\([^)]*\))", "", written)  # exponents of regret
    named = set(re.findall(r"(?<![\w.])\d+\.\d+(?![\w.])", written))
    assert len(named) > 20 and named <= rules, named - rules


WORDS = {"two": 2, "half": 2, "twice": 2, "three": 3, "four": 4, "quarter": 4, "eight": 8}
WORDS |= {"sixteen": 16, "sixteenth": 16}
DESIGN = re.sub(r"\s+", " ", (FIRMWARE / "DESIGN.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("pattern", "number"),
    [
        (r"Q falls by less than 1/(\d+)", (1 << 12) // _spec.SCAN_TOLERANCE),
        (r"counts next states in up to (\w+) cells", _spec.UNIT_WORDS),
        (r"samples of the parent count a (\w+) each", _spec.SAMPLE_WEIGHT),
        (r"once the ball has (\w+) of its own", _spec.PARENT_UNTIL // _spec.SAMPLE_WEIGHT),
        (r"in one call of (\w+) with 1\+1 dimensions", _spec.NEXT_MASK + 1),
        (r"from level (\d+) on a ball is split only", _spec.LATE_LEVEL),
        (r"only when (\w+) times the error of its mean", 1 << _spec.LATE_ERROR_SHIFT),
        (r"No bonus is above (\d+) c", _spec.BONUS_SIDES),
        (r"it is halved after (\d+), 512 and", 1 << _spec.FADE_SHIFT),
        (r"halved after 256, 512 and (\d+) episodes", _spec.FADE_MOST << _spec.FADE_SHIFT),
        (r"When (\w+) the error of a ball's mean", 1 << _spec.EARLY_ERROR_SHIFT),
        (r"early splits reach (\w+) levels", _spec.FINEST_EXTRA),
        (r"Beyond (\w+) samples the mean reward", 1 << _spec.MEMORY_SHIFT),
        (r"explores with (\w+) of what the best rewards", 1 << _spec.AUTO_BONUS_SHIFT),
        (r"After a restart (\d+) episodes are held", _spec.HELD_FIRST),
        (r"with more than (\d+) steps no episode is held", _spec.HELD_HORIZON),
        (r"follow until (\d+) episodes have passed", _spec.HELD_UNTIL),
        (r"stepwise episodes and (\w+) its error", _spec.HELD_ERRORS),
        (r"lost (\w+) of their mean deviations", _spec.DETECT_ALARM),
        (r"held or stepwise, over (\w+)", _spec.DETECT_WINDOW),
        (r"at most a (\w+) of an alarm", 1 << _spec.DETECT_SPELL_SHIFT),
        (r"a fall must last (\w+) episodes", 1 << _spec.DETECT_SPELL_SHIFT),
        (r"at least a (\d+)th of the mean", 1 << _spec.DETECT_LEAST_SHIFT),
        (r"at most (\w+) state and three action dimensions", _spec.DIM_MAX),
        (r"action dimensions, at most (\w+) steps", _spec.HORIZON_MAX),
    ],
)
def test_numbers_of_the_reasons(pattern, number):
    """DESIGN.md argues with the values that spec.toml has now."""
    found = re.findall(pattern, DESIGN)
    assert [WORDS.get(word) or int(word) for word in found] == [number], pattern
