"""What a seed gives is the same on every machine: under every processor, C library and compiler setting."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from decimal import Decimal, localcontext
from pathlib import Path

import numpy as np
import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
from scipy import stats

from adamb.host_sim import _sim_build, draws
from support.paths import TESTS

DISPATCHED = " ".join(name for name in __cpu_dispatch__ if __cpu_features__[name])
#: What a lesser processor would make numpy, BLAS and the C library choose; all together is another machine.
SETTINGS = {
    "numpy": {"NPY_DISABLE_CPU_FEATURES": DISPATCHED},
    "blas": {"OPENBLAS_CORETYPE": "Nehalem"},
    "libm": {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4"},
}
SETTINGS["all"] = {name: value for each in SETTINGS.values() for name, value in each.items()}
#: Each was different before: exp, normal numbers, Beta numbers, BLAS and pow, exp2.
QUICK = ["oil-laplace", "oil-noisy", "ambulance-1 shape", "cache-lite", "dram-lite"]
#: Enough to run all of the host's C that computes with doubles.
COMPILED = ["oil-noisy", "ambulance-1 shape"]
FAITHFUL = [flag for flag in _sim_build.FLAGS if not flag.startswith("-O")]
COMPILERS = {"gcc": ["gcc"], "clang": [sys.executable, "-m", "ziglang", "cc"]}


def digest(folder: Path, *arguments: str, **settings: str) -> dict[str, str]:
    """Lines of the program as {what: digest}; solutions are kept in a folder of their own."""
    environment = {**os.environ, **settings, "ADAMB_CACHE": str(folder)}
    command = [sys.executable, str(TESTS), "trajectories", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(line.rsplit(" | ", 1) for line in done.stdout.splitlines())


def differing(first: dict[str, str], second: dict[str, str]) -> list[str]:
    assert first.keys() == second.keys()
    return [what for what in first if first[what] != second[what]]


def of(found: dict[str, str], names: list[str]) -> dict[str, str]:
    return {what: value for what, value in found.items() if what.split(" | ")[0] in names}


def library(compiler: str, folder: Path, flags: list[str]) -> str:
    if compiler == "gcc" and shutil.which("gcc") is None:
        pytest.skip("no gcc here")
    if compiler == "clang":
        pytest.importorskip("ziglang", reason="pip install adamb[device]")
    target = folder / f"{compiler}.so"
    sources = [str(path) for path in sorted(_sim_build.FOLDER.rglob("*.c"))]
    command = [*COMPILERS[compiler], *flags, f"-I{_sim_build.FOLDER}", "-shared", "-fPIC", *sources, "-lm"]
    done = subprocess.run([*command, "-o", str(target)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return str(target)


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    return digest(tmp_path_factory.mktemp("here"), "--quick", *QUICK)


def test_trajectories_do_not_depend_on_the_processor(here, tmp_path):
    assert len(here) > 80
    assert differing(here, digest(tmp_path, "--quick", *QUICK, **SETTINGS["all"])) == []


@pytest.mark.campaign
def test_no_course_of_any_problem_depends_on_the_processor(tmp_path):
    plain, other = digest(tmp_path / "plain"), digest(tmp_path / "other", **SETTINGS["all"])
    assert len(plain) > 500
    assert differing(plain, other) == []


@pytest.mark.parametrize(("compiler", "extra"), [("gcc", ["-O3", "-march=native"]), ("clang", ["-O1"])])
def test_trajectories_do_not_depend_on_the_compiler(compiler, extra, here, tmp_path):
    made = library(compiler, tmp_path, [*extra, *FAITHFUL])
    found = digest(tmp_path / "cache", "--quick", "--library", made, *COMPILED)
    assert differing(of(here, COMPILED), found) == []


# ---- the functions themselves --------------------------------------------------------------------------

POINTS = np.random.default_rng(0).random(4000)
SMALL = POINTS * POINTS * POINTS * POINTS  # a power would depend on the processor
LN2 = "0.693147180559945309417232121458176568075500134360255254120680"
FUNCTIONS = {
    "exp": (draws.exp, lambda x: x.exp(), 1400.0 * POINTS - 700.0),
    "exp near 0": (draws.exp, lambda x: x.exp(), POINTS - 0.5),
    "exp2": (draws.exp2, lambda x: (x * Decimal(LN2)).exp(), 40.0 * POINTS - 20.0),
    "log": (draws.log, lambda x: x.ln(), 1e3 * SMALL),
    "log near 1": (draws.log, lambda x: x.ln(), 0.5 + POINTS),
    "log2": (draws.log2, lambda x: x.ln() / Decimal(LN2), 1e3 * SMALL),
    "log1p": (draws.log1p, lambda x: (1 + x).ln(), 30.0 * SMALL * SMALL - 0.9),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_exact_function_is_right_to_the_last_place(name):
    function, truth, points = FUNCTIONS[name]
    with localcontext() as context:
        context.prec = 40
        wanted = [truth(Decimal(point)) for point in points.tolist()]
    off = [
        abs(Decimal(got) - want) / Decimal(float(np.spacing(abs(got))))
        for got, want in zip(function(points).tolist(), wanted, strict=True)
    ]
    assert max(off) < (2 if name == "log2" else 1), f"{name} at {points[int(np.argmax(off))]!r}"


def test_the_ends_of_the_range():
    inf, nan = np.inf, np.nan
    np.testing.assert_array_equal(draws.exp([-inf, -800, 0, 800, inf, nan]), [0, 0, 1, inf, inf, nan])
    np.testing.assert_array_equal(draws.exp2([-inf, -2, 10, inf, nan]), [0, 0.25, 1024, inf, nan])
    np.testing.assert_array_equal(draws.log([0, 1, inf, -1, nan]), [-inf, 0, inf, nan, nan])
    np.testing.assert_array_equal(draws.log2([0, 0.125, 1024, inf]), [-inf, -3, 10, inf])
    np.testing.assert_array_equal(draws.log1p([-1, 0, inf, -2]), [-inf, 0, inf, nan])
    assert draws.exp(0.0).shape == () and draws.exp(np.zeros((2, 3)).T).shape == (3, 2)
    turns = [(0, 5), (1, 5), (3, 7), (7, 5), (1, 6), (1, 2)]
    found = [draws.cosine_of_turn(*turn) for turn in turns]
    assert found == pytest.approx([np.cos(2 * np.pi * part / whole) for part, whole in turns], abs=1e-15)


def test_normal_and_beta_numbers_are_those_of_numpy_but_for_the_last_digits():
    n = 400_000  # about a hundred of them in the tails
    ours = draws.normal(np.random.default_rng(1), (n,))
    theirs = np.random.default_rng(1).standard_normal(n)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-13)
    assert (np.abs(ours) > draws.EDGE).sum() > 50
    ours = draws.beta(np.random.default_rng(1), 5, 2, (n,))
    theirs = np.random.default_rng(1).beta(5, 2, n)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-13)


@pytest.mark.parametrize("shape", [(1, 1), (0.6, 0.8), (0.5, 3), (5, 2)], ids=str)
def test_beta_numbers_have_their_law(shape):
    drawn = draws.beta(np.random.default_rng(2), *shape, (50_000,))
    assert stats.kstest(drawn, stats.beta(*shape).cdf).pvalue > 1e-3


def test_functions_and_draws_give_the_recorded_bits():
    """Recorded once: another machine must give exactly these."""
    parts = [function(points) for function, _, points in FUNCTIONS.values()]
    parts += [draws.normal(np.random.default_rng(3), (100_000,))]
    parts += [draws.beta(np.random.default_rng(3), *shape, (10_000,)) for shape in ((5, 2), (0.3, 2))]
    parts += [np.array([draws.cosine_of_turn(h, 7) for h in range(7)])]
    found = hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()
    assert found[:16] == "40a9b8ea47ce1925"


def test_a_tie_is_not_broken_by_a_rounding_error():
    values = np.array([[0.1 + 0.2, 0.3, 0.0], [0.3, 0.1 + 0.2, 0.0], [0.0, 0.3, 0.4]])
    assert draws.first_best(values).tolist() == [0, 0, 2]
    assert draws.settle(np.array([1 / 3])) == draws.settle(np.array([1 / 3 + 1e-16]))
    assert abs(draws.settle(np.array([1 / 3]))[0] - 1 / 3) < 1e-7
