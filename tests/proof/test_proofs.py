"""What SECURITY.md calls proved is proved again, and a planted fault is refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from support import prove
from support.campaigns import few
from support.paths import CORE
from support.proofs import PROOFS, Proof

TOOL = prove.find_tool()
needs_tool = pytest.mark.skipif(TOOL is None, reason=prove.MISSING)


def named(proof: Proof) -> str:
    return f"{proof.entry}-{proof.d_s}+{proof.d_a}" if proof.d_s else proof.entry


def proof_of(entry: str) -> Proof:
    return next(proof for proof in PROOFS if proof.entry == entry)


@needs_tool
@pytest.mark.parametrize("proof", few([proof for proof in PROOFS if not proof.slow], 12), ids=named)
def test_holds_for_any_content(proof, tmp_path):
    assert TOOL
    outcome = prove.run(TOOL, proof, tmp_path)
    assert outcome.good, outcome.said


PLANTED = {
    "a link of V that act does not compare": (
        "act_behind_the_seal",
        "adamb_internal.h",
        "        if (word >= units) {\n            break;\n        }\n",
        "",
    ),
    "a link of the partition that descent does not compare": (
        "descend",
        "adamb_learn.c",
        "if (!is_link(c, block) || left == 0)",
        "if (is_value((uint16_t)block) || left == 0)",
    ),
    "an aux that is written wherever the walk ended": (
        "follow",
        "adamb_learn.c",
        "i > c->step && ",
        "",
    ),
    "a unit that is freed wherever it lies": (
        "release",
        "adamb_pool.c",
        "if (!inside(w, unit))",
        "if (unit == 0)",
    ),
    "a snapshot that may be larger than the block": (
        "restore",
        "adamb_snapshot.c",
        "ADAMB_SNAPSHOT_AT_UNITS)) > words",
        "ADAMB_SNAPSHOT_AT_UNITS)) > words + 4",
    ),
    "a slot that reclaiming takes for a link": (
        "pick",
        "adamb_reclaim.c",
        "if (!is_link(c, word)) {\n            continue;",
        "if (is_value(word)) {\n            continue;",
    ),
    "counts that are folded as long as links go on": (
        "fold",
        "adamb_counts.c",
        "left >= 0 && is_link(c, head); left--, head = w[at(head)]) {",
        "is_link(c, head); head = w[at(head)]) {",
    ),
    "counts in tracking that are a chain": (
        "halve",
        "adamb_counts.c",
        "(uint32_t)c->paper << 15 >> bits",
        "(uint32_t)0x8000 >> bits",
    ),
    "a call that goes on behind a broken seal": (
        "calls_on_a_broken_seal",
        "adamb_core.c",
        "    if (!adamb_config_usable(w)) {\n        return ADAMB_BAD_BLOCK;\n    }\n",
        "",
    ),
    "a sharing test whose table is not there": (
        "adapt_step",
        "adamb_adapt.c",
        " && c->links >= ADAMB_SHARE_TABLE_UNITS",
        "",
    ),
    "a link that the scrub does not compare": (
        "slice_of_values",
        "adamb_guard.c",
        "|| !in_use(c, w[slot])",
        "|| w[slot] == 0",
    ),
    "a save that is larger than the block": (
        "store_restore",
        "adamb_store.c",
        "ADAMB_SNAPSHOT_AT_UNITS)) > words",
        "ADAMB_SNAPSHOT_AT_UNITS)) > words + 4",
    ),
    "a search that meets the same save again": (
        "search",
        "adamb_store.c",
        "*number = best_number - 1;",
        "*number = best_number;",
    ),
    "a walk without an end": ("value_at", "adamb_value.c", "for (; bits != 0 && w[i]", "for (; w[i]"),
}


@pytest.mark.campaign
@needs_tool
@pytest.mark.parametrize("planted", PLANTED)
def test_a_planted_fault_is_refused(planted, tmp_path):
    assert TOOL
    entry, file, right, wrong = PLANTED[planted]
    core = tmp_path / "core"
    shutil.copytree(CORE, core)
    text = (core / file).read_text(encoding="utf-8")
    assert text.count(right) == 1, f"{file} has changed: plant this fault in another way"
    (core / file).write_text(text.replace(right, wrong), encoding="utf-8")
    outcome = prove.run(TOOL, proof_of(entry), tmp_path / "cut", core)
    assert not outcome.good and ": FAILURE" in outcome.said


@needs_tool
def test_assumptions_that_contradict_prove_nothing(tmp_path, monkeypatch):
    assert TOOL
    monkeypatch.setattr(prove, "HARNESSES", tmp_path / "harness")
    shutil.copytree(Path(__file__).parent, tmp_path / "harness")
    harness = tmp_path / "harness" / "pool.c"
    harness.write_text(
        harness.read_text().replace("    uint16_t *block", "    ASSUME(0);\n    uint16_t *block")
    )
    outcome = prove.run(TOOL, proof_of("alloc"), tmp_path / "cut")
    assert not outcome.good and "contradict" in outcome.said


@pytest.mark.parametrize("harness", sorted(path.stem for path in Path(__file__).parent.glob("*.c")))
def test_every_loop_that_a_harness_cuts_is_in_the_core(harness):
    sources = {path.name: path.read_text(encoding="utf-8") for path in CORE.glob("*.[ch]")}
    text = (prove.HARNESSES / f"{harness}.c").read_text(encoding="utf-8")
    cut = "".join(prove.cut(sources, text).values())
    assert cut.count("int cut_") == text.count("#define CUT_")


def test_every_harness_function_is_in_the_table():
    written = {
        (path.stem, line.split("prove_")[1].split("(")[0])
        for path in Path(__file__).parent.glob("*.c")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("void prove_")
    }
    assert written == {(proof.harness, proof.entry) for proof in PROOFS}
