"""Small changes of the core are noticed; `make campaigns ONLY=mutants` judges hundreds of them, campaigns a few."""

from __future__ import annotations

import io
import shutil

import pytest

from adamb.firmware_model import _spec, number
from support import mutants
from support.mutants import judge
from support.mutants.mutation import Mutation, drawn
from support.paths import CORE
from support.twins import CTwin, PythonTwin

FEW = 6
HERE = [scenario for scenario in judge.ALL if scenario not in (judge.recorded, judge.corners)]
"""The other two are tests of their own, with every step: tests/vectors/test_vectors.py, tests/twin/test_lockstep.py."""
needs_gcc = pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")
# Slips that no test noticed once: file, text, what it became.
ONCE_UNNOTICED = [
    ("adamb_check.c", "k.bad || k.met != 0 ||", "k.bad ||"),
    ("adamb_store.c", "read_heads(s, slot, heads) == number", "read_heads(s, slot, heads) != 0"),
]


def test_limits_of_an_effect_that_differ_by_one_in_each_ball_have_one_mean():
    """The reason of two survivors, for every number of balls that a state can have."""
    for others in range(1, 1 << _spec.LEVEL_MAX):
        limit, shift = others * _spec.EFFECT_TOP, number.shift(others)
        cut = {number.shifted(between, shift) >> 8 for between in (limit, limit + others)}
        assert len(cut) == 1, others


@pytest.mark.parametrize("scenario", HERE, ids=lambda scenario: scenario.__name__)
def test_both_cores_give_the_same_results_in_every_scenario(scenario):
    results = [list(scenario(twin, 0.3)) for twin in (CTwin(), PythonTwin())]
    assert results[0] == results[1] and len(results[0]) >= 3


@pytest.mark.campaign
@needs_gcc
def test_a_few_mutants_and_those_once_unnoticed_are_noticed(tmp_path):
    """Each of these is noticed or has its reason."""
    some = drawn(mutants.all_mutations(), mutants.N, mutants.SEED)[:FEW]
    for file, old, new in ONCE_UNNOTICED:
        path = CORE / file
        assert path.read_text().count(old) == 1, "the place of the slip has changed"
        at = path.read_text().index(old)
        some.append(Mutation(path, at, at + len(old), old, new, 0, old, 0))
    log = io.StringIO()
    _, unnoticed = mutants.summary(mutants.judged(some, tmp_path, log), mutants.accepted())
    print(log.getvalue())
    assert not unnoticed, "write a test that notices them, or their reason to survivors.toml"
    assert log.getvalue().count("killed") >= len(ONCE_UNNOTICED)
