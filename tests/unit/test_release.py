"""`make release` records figures, and refuses one that is worse than the last."""

from __future__ import annotations

import re
import threading

import pytest

from adamb.tools.maintain import release
from support.paths import ROOT

PRINTED = {
    "analyse": "cppcheck: 61 files, no findings\n",
    "mutants": "300 of 320 mutants noticed, 20 survive for a reason, 0 without one; 4 do not compile",
    "fuzz": "9000 executions in 60 s\n542 inputs run 900 of 1000 lines and 850 of 1000 branches\n",
    "fuzz-hour": "no find in 3600 s of libfuzzer, seed 1\n542 inputs run 900 of 1000 lines\n",
    "soak": "1+1, 1 KiB: 100000 episodes, 7 cuts\n1000000004 calls, nothing broken, seed 1\n",
    "same-bytes": "1 passed, 3 deselected in 3.2s\n",
}
EMPTY = f"# Page\n\n{release.BEGIN}{release.END}\n\nThe rest.\n"


def ran(changed: dict[str, str] | None = None, codes: dict[str, int] | None = None):
    printed = PRINTED | (changed or {})

    def run(target: str) -> tuple[int, str]:
        return (codes or {}).get(target, 0 if target in printed else -1), printed.get(target, "")

    return run


@pytest.fixture
def document(tmp_path):
    path = tmp_path / "SECURITY.md"
    path.write_text(EMPTY)
    assert release.release(ran(), path) == 0
    return path


def test_the_figures_are_recorded_and_read_back(document):
    text = document.read_text()
    assert text.startswith("# Page") and text.endswith("The rest.\n")
    found = release.recorded(text)
    assert found["mutants", "noticed, per cent"] == 93.7 and found["soak", "calls"] == 1_000_000_004
    assert found["fuzz", "branches of the core that the corpus runs, per cent"] == 85
    assert "| `make mutants` | survivors without a reason | 0 | at most |" in text


def test_the_hour_of_libfuzzer_runs_beside_the_other_campaigns(tmp_path):
    path = tmp_path / "SECURITY.md"
    path.write_text(EMPTY)
    others_done, order = threading.Event(), []

    def run(target: str) -> tuple[int, str]:
        if target == "fuzz-hour":
            assert others_done.wait(60), "the others did not begin before its end"
        order.append(target)
        if target == [name for name in release.CAMPAIGNS if name != "fuzz-hour"][-1]:
            others_done.set()
        return ran()(target)

    assert release.release(run, path) == 0
    assert order == [*(name for name in release.CAMPAIGNS if name != "fuzz-hour"), "fuzz-hour"]


def test_the_same_and_better_figures_are_recorded(document):
    assert release.release(ran(), document) == 0
    better = {"mutants": PRINTED["mutants"].replace("300 of 320", "330 of 340")}
    assert release.release(ran(better), document) == 0
    assert release.recorded(document.read_text())["mutants", "mutants judged"] == 340


def test_of_mutants_a_fixed_number_is_enough(document, capsys):
    """How many of a draw are equivalent is chance."""
    assert "| `make mutants` | mutants judged | 320 | at least 300 |" in document.read_text()
    fewer = {"mutants": PRINTED["mutants"].replace("300 of 320", "300 of 310")}
    assert release.release(ran(fewer), document) == 0
    few = {"mutants": PRINTED["mutants"].replace("300 of 320", "299 of 299")}
    assert release.release(ran(few), document) == 1
    assert "make mutants: mutants judged: needs 300, now 299" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("target", "old", "new", "line"),
    [
        ("mutants", "300 of 320", "299 of 320", "make mutants: noticed, per cent: was 93.7, now 93.4"),
        ("mutants", "0 without", "1 without", "make mutants: survivors without a reason: was 0, now 1"),
        ("fuzz-hour", "3600 s", "60 s", "seconds of libFuzzer without a find: was 3,600, now 60"),
        ("soak", "1000000004", "1000", "make soak: calls: was 1,000,000,004, now 1,000"),
        ("analyse", "61 files", "nothing", "make analyse: C files without a finding: was 61, now missing"),
    ],
)
def test_a_worse_or_missing_figure_is_named_and_nothing_is_recorded(document, capsys, target, old, new, line):
    before = document.read_text()
    assert release.release(ran({target: PRINTED[target].replace(old, new)}), document) == 1
    assert line in capsys.readouterr().out and document.read_text() == before


def test_a_campaign_that_fails_or_is_gone_is_named(document, capsys):
    assert release.release(ran(codes={"fuzz": 2}), document) == 1
    assert "make fuzz: exit code 2" in capsys.readouterr().out
    assert release.release(ran(codes={"soak": -1}), document) == 1
    assert "make soak: calls: was" in capsys.readouterr().out


def test_some_campaigns_alone_leave_the_figures_of_the_others(document):
    better = {"soak": PRINTED["soak"].replace("100000 episodes", "200000 episodes")}
    assert release.release(ran(better, codes={"fuzz": 2}), document, only=["soak"]) == 0
    found = release.recorded(document.read_text())
    assert (
        found["soak", "episodes with power cuts"] == 200_000
        and found["fuzz", "executions without a find"] == 9000
    )
    assert release.release(ran(), document, only=["soak"]) == 1


def test_a_campaign_that_has_not_come_yet_is_left_out_and_then_recorded(document, capsys):
    release.release(ran(), document)
    assert "make prove: no such target, left out" in capsys.readouterr().out
    assert release.release(ran({"prove": "17 of 17 proved\n"}), document) == 0
    assert release.recorded(document.read_text())["prove", "proofs"] == 17
    assert release.release(ran(), document) == 1


def named(text: str) -> list[tuple[str, str]]:
    """Campaign and figure of each row, recorded or not."""
    return re.findall(
        rf"^\| `make ([\w-]+)` \| ([^|]+) \| (?:[\d,.]+|{release.UNKNOWN}) \|", text, re.MULTILINE
    )


def test_a_figure_that_no_release_has_measured_is_named_as_not_yet_recorded(document):
    text = document.read_text()
    assert named(text) == list(release.MORE_IS_BETTER)
    assert f"| `make prove` | proofs | {release.UNKNOWN} | at least |" in text
    assert ("prove", "proofs") not in release.recorded(text)


def test_the_makefile_has_the_campaigns_and_the_document_every_figure():
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([\w-]+):", makefile, re.MULTILINE))
    assert set(release.CAMPAIGNS) <= targets
    rows = named((ROOT / "SECURITY.md").read_text(encoding="utf-8"))
    assert rows == list(release.MORE_IS_BETTER), "make release, or tools/maintain/release.py --only NAME"


def test_a_target_that_the_makefile_does_not_have_is_told():
    assert release.make("no-such-target") == (-1, "")
