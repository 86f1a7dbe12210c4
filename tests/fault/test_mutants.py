"""Small changes of the core are noticed; `make mutants` judges hundreds of them, a few are judged here."""

from __future__ import annotations

import io
import random
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from adamb.firmware_model import _spec, number
from support import mutants
from support.mutants import c_source, judge, python_source, scenarios
from support.mutants.mutation import Mutation, drawn
from support.paths import CORE, ROOT
from support.twins import CTwin, PythonTwin

FEW = 6
needs_gcc = pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")
# Slips that no test noticed once: file, text, what it became.
ONCE_UNNOTICED = [
    ("adamb_check.c", "k.bad || k.met != 0 ||", "k.bad ||"),
    ("adamb_store.c", "read_heads(s, slot, heads) == number", "read_heads(s, slot, heads) != 0"),
]


@pytest.fixture(scope="module")
def everything() -> list[Mutation]:
    return mutants.all_mutations()


def changes(path: Path, text: str, finder) -> list[str]:
    path.write_text(text)
    return [mutation.change for mutation in finder.mutations(path)]


def test_c_is_changed_in_operators_constants_conditions_and_statements(tmp_path):
    body = "    if (a[0] < n && !a[1]) {\n        n = -n + ADAMB_TAG;\n    }\n    return n; /* < */\n"
    text = f"int f(int *a, int n)\n{{\n{body}}}\n"
    found = changes(tmp_path / "one.c", text, c_source)
    assert set(found) == {
        "< -> <=", "< -> >=", "&& -> ||", "! -> ", "0 -> 1", "1 -> 2", "+ -> -", "&& !a[1] -> ",
        "ADAMB_TAG -> (ADAMB_TAG + 1)", "a[0] < n && -> ", "a[0] < n && !a[1] -> !(a[0] < n && !a[1])",
        "n = -n + ADAMB_TAG; -> ;",
    }  # fmt: skip


def test_python_is_changed_in_operators_constants_conditions_and_statements(tmp_path):
    body = '    """1 < 2."""\n    if a[0] < n and not a[1]:\n        a[2] = n + TAG\n    return n\n'
    text = f"def f(a, n):\n{body}"
    found = changes(tmp_path / "one.py", text, python_source)
    assert set(found) == {
        "< -> <=", "< -> >=", "and -> or", "not a[1] -> (a[1])", "0 -> 1", "1 -> 2", "2 -> 3", "+ -> -",
        "TAG -> (TAG + 1)", "a[0] < n and not a[1] -> ((a[0] < n))", "a[0] < n and not a[1] -> ((not a[1]))",
        "a[0] < n and not a[1] -> not (a[0] < n and not a[1])", "a[2] = n + TAG -> pass",
    }  # fmt: skip


def test_a_draw_has_every_file_and_depends_on_the_seed_alone(everything):
    files = {mutation.file for mutation in everything}
    first, again, other = (drawn(everything, 100, seed) for seed in (1, 1, 2))
    assert first == again != other
    assert {mutation.file for mutation in first} == files and len(first) >= 100


def test_an_edit_elsewhere_in_a_file_does_not_change_which_mutants_of_a_line_are_drawn():
    path = CORE / "adamb_pool.c"
    before = {mutation.rank(1) for mutation in c_source.mutations(path)}
    moved = [Mutation(path, 0, 0, m.old, m.new, m.line + 5, m.text, m.nth) for m in c_source.mutations(path)]
    assert {mutation.rank(1) for mutation in moved} == before


def test_a_survivor_without_a_reason_is_named_and_one_with_a_reason_is_not():
    one, two, three, four = c_source.mutations(CORE / "adamb_pool.c")[:4]
    found = [(each, "survived", "") for each in (one, two, four)] + [(three, "killed", "recorded")]
    line, new = mutants.summary(found, {one.key: "too rare", four.key: "equivalent: never equal"})
    assert len(new) == 1 and str(two) in new[0]
    assert line.startswith("1 of 3 mutants noticed, 1 survive for a reason, 1 without one; 1 more are equiv")
    row = tomllib.loads(new[0].split("\n", 1)[1])["survivor"][0]
    assert (row["file"], row["text"], row["change"], row["nth"]) == two.key, "the entry to complete"


def test_every_accepted_survivor_is_a_mutant_that_there_is_and_equivalent_for_a_reason(everything):
    known, there = mutants.accepted(), {mutation.key for mutation in everything}
    assert set(known) <= there, "the line has changed: judge it again, then correct or remove the entry"
    assert all(re.match(r"equivalent: .{9}", reason) for reason in known.values())


def test_limits_of_an_effect_that_differ_by_one_in_each_ball_have_one_mean():
    """The reason of two survivors, for every number of balls that a state can have."""
    for others in range(1, 1 << _spec.LEVEL_MAX):
        limit, shift = others * _spec.EFFECT_TOP, number.shift(others)
        cut = {number.shifted(between, shift) >> 8 for between in (limit, limit + others)}
        assert len(cut) == 1, others


def test_the_sample_is_of_judged_mutants_and_its_seed_follows_from_the_core(everything, tmp_path):
    """So a test fails for what an edit did, not for a mutant far from it that nobody had judged."""
    judged = {mutation.key for mutation in drawn(everything, mutants.N, mutants.SEED)}
    first, again = (mutants.sampled(everything, FEW, mutants.tree_seed()) for _ in range(2))
    assert first == again and len(first) == FEW
    met = {one.key for seed in range(20) for one in mutants.sampled(everything, FEW, seed)}
    assert met <= judged and len(met) > 10 * FEW
    copy = shutil.copytree(CORE, tmp_path / "c")
    assert mutants.tree_seed(copy) == mutants.tree_seed()
    (copy / "adamb_pool.c").write_text((copy / "adamb_pool.c").read_text() + "\n")
    assert mutants.tree_seed(copy) != mutants.tree_seed()


def test_a_changed_line_brings_all_its_mutants_and_no_others(tmp_path):
    path = Path(shutil.copy(CORE / "adamb_pool.c", tmp_path))
    lines = path.read_text().splitlines(keepends=True)
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "one"]):
        subprocess.run([*git, *words], check=True)
    changed = next(i for i, line in enumerate(lines) if "return" in line and "+" in line) + 2
    lines[changed - 2] = lines[changed - 2].replace(";", " + 1;")
    path.write_text("\n" + "".join(lines))
    found = mutants.changed_since(c_source.mutations(path), "HEAD", tmp_path)
    assert {mutation.line for mutation in found} == {changed} and len(found) > 1
    with pytest.raises(ValueError, match="--since nowhere"):
        mutants.changed_since(found, "nowhere", tmp_path)


def test_the_seed_of_the_sample_is_printed_when_the_tests_pass():
    """In the head of every run, which comes from the one process that may print."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-n",
        "1",
        "-p",
        "no:cacheprovider",
        __file__,
        "-k",
        "a_reason_is_named",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"mutants: seed {mutants.tree_seed()}" in done.stdout


def test_a_fresh_survivor_says_what_to_do():
    one = c_source.mutations(CORE / "adamb_pool.c")[0]
    _, new = mutants.summary([(one, "survived", "")], {})
    said = mutants.advice(new, 7)
    assert "seed 7" in said and "write a test" in said and "tests/support/mutants/survivors.toml" in said
    assert tomllib.loads(said[said.index("[[survivor]]") :])["survivor"][0]["text"] == one.text


@pytest.mark.parametrize("scenario", judge.ALL, ids=lambda scenario: scenario.__name__)
def test_both_cores_give_the_same_results_in_every_scenario(scenario):
    results = [list(scenario(twin, 0.1)) for twin in (CTwin(), PythonTwin())]
    assert results[0] == results[1] and len(results[0]) >= 3


def test_damage_reaches_the_borders_of_what_a_link_may_be():
    from array import array

    words = array("H", scenarios.used_block("1+1")[1])
    made = [value for _, value in scenarios.damaged_words(words, random.Random(1), 60)]
    assert {words[_spec.H_UNITS], words[_spec.H_FRESH], words[_spec.H_POOL_AT] - 1} <= set(made)


@needs_gcc
def test_a_few_mutants_and_those_once_unnoticed_are_noticed(everything, tmp_path):
    """Each of these is noticed or has its reason. Every edit of the core draws others."""
    seed = mutants.tree_seed()
    some = mutants.sampled(everything, FEW, seed)
    for file, old, new in ONCE_UNNOTICED:
        path = CORE / file
        assert path.read_text().count(old) == 1, "the place of the slip has changed"
        at = path.read_text().index(old)
        some.append(Mutation(path, at, at + len(old), old, new, 0, old, 0))
    log = io.StringIO()
    _, lines = mutants.summary(mutants.judged(some, tmp_path, log), mutants.accepted())
    print(f"seed {seed}\n{log.getvalue()}")
    assert not lines, mutants.advice(lines, seed)
    assert log.getvalue().count("killed") >= len(ONCE_UNNOTICED)


@needs_gcc
def test_a_change_without_effect_is_not_called_noticed(tmp_path):
    """Otherwise the judge would call anything noticed."""
    c = Mutation(CORE / "adamb_unit.c", 0, 0, "", "\n\n", 1, "", 0)
    python = Mutation(CORE.parent / "pool.py", 0, 0, "", "\n", 1, "", 0)
    found = mutants.judged([c, python], tmp_path, io.StringIO())
    assert [outcome for _, outcome, _ in found] == ["same machine code", "survived"]
