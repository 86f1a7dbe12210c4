"""What docs/reliability.md calls proved is proved again, and a planted fault is refused."""

from __future__ import annotations

import re
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
    return f"{proof.entry}-{proof.d_s}+{proof.d_a}" if proof.d_a else proof.entry


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
    "a snapshot that may be larger than the block": (
        "restore",
        "adamb_snapshot.c",
        "ADAMB_SNAPSHOT_AT_UNITS)) > words",
        "ADAMB_SNAPSHOT_AT_UNITS)) > words + 4",
    ),
    "counts that are folded as long as links go on": (
        "fold",
        "adamb_value.c",
        "left >= 0 && is_link(c, head); left--, head = w[unit_base(head)]) {",
        "is_link(c, head); head = w[unit_base(head)]) {",
    ),
    "a call that goes on behind a broken seal": (
        "calls_on_a_broken_seal",
        "adamb_core.c",
        "    if (!adamb_config_usable(w)) {\n        return ADAMB_BAD_BLOCK;\n    }\n",
        "",
    ),
    "a search that meets the same save again": (
        "search",
        "adamb_store.c",
        "*number = best_number - 1;",
        "*number = best_number;",
    ),
    "a header without room for the held step": (
        "accepted_header",
        "adamb_check.c",
        "(horizon + 1) * ADAMB_S_WORDS",
        "horizon * ADAMB_S_WORDS",
    ),
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
    harness.write_text(harness.read_text().replace("    uint16_t *block", "    ASSUME(0);\n    uint16_t *block"))
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
        (path.stem, entry)
        for path in Path(__file__).parent.glob("*.c")
        for entry in re.findall(r"^(?:void prove_|KEEPS_SEAL\()(\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert written == {(proof.harness, proof.entry) for proof in PROOFS}
