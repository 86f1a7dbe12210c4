"""Every part of the learner has its numbers, its rules and, if it can be left out, one switch of the C core."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from adamb.firmware_model.host import _binding_build as build
from adamb.tools.maintain import generate_spec
from adamb.tools.measure import ablation

PARTS = generate_spec.parts()
CORE = {path.name: path.read_text() for path in sorted((build.FIRMWARE / "c").glob("adamb*.[ch]"))}
RULE = re.compile(r"^(?:- \*\*)?(\d+\.\d+)(?:\*\*)? ", re.MULTILINE)


def rules() -> dict[str, str]:
    """The text of each rule of SPEC.md, up to the next number."""
    pieces = RULE.split((build.FIRMWARE / "SPEC.md").read_text())
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_the_rules_of_a_part_name_its_numbers(part):
    text = "".join(rules()[number] for number in part.rules)
    assert {name for name in part.numbers if name not in text and not name.startswith("DEFAULT_")} == set()


@pytest.mark.parametrize("part", ablation.PARTS, ids=lambda part: part.name)
def test_the_switch_of_a_part_changes_the_core(part):
    sources = "".join(text for name, text in CORE.items() if name != "adamb_spec.h")
    assert part.without.keys() <= part.numbers.keys()
    assert all(part.without[name] != part.numbers[name] and f"ADAMB_{name}" in sources for name in part.without)
    assert bool(part.without) != (part.switch in sources), "one switch changes numbers, or leaves out lines"


def test_every_switch_of_the_core_is_that_of_a_part_and_all_of_them_compile(tmp_path):
    switches = {part.switch for part in ablation.PARTS}
    assert set(re.findall(r"ADAMB_WITHOUT_\w+", "".join(CORE.values()))) == switches
    if shutil.which("gcc") is None:
        pytest.skip("no gcc here")
    flags = ["gcc", "-std=c99", "-Wall", "-Wno-unused", "-Werror", *(f"-D{name}" for name in switches), "-c"]
    sources = [str(build.FIRMWARE / "c" / name) for name in CORE if name.endswith(".c")]
    subprocess.run([*flags, *sources], check=True, cwd=tmp_path)


def test_a_number_is_tuned_or_of_the_format_but_not_both():
    tuned = [name for part in PARTS for name in part.numbers]
    assert len(tuned) == len({*tuned}) > 60
    spec = generate_spec.tomllib.loads((build.FIRMWARE / "spec.toml").read_text())
    assert {name.upper() for name in spec["constants"]} & {*tuned} == set()
    assert {name.upper() for name in spec["hashed"]} <= {*tuned}


def test_a_part_that_nobody_knows_is_refused_with_those_there_are(capsys):
    with pytest.raises(SystemExit):
        ablation.main(["--only", "early,magic"])
    assert "--only magic: must be among follow, keep, early" in capsys.readouterr().err
