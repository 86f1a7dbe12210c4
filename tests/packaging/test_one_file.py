"""A new problem, baseline, board or command is one new file: each is added to a copy of the tree and used there.

The files are those that CONTRIBUTING.md shows. `Copy.write` only creates files, so whatever works here works
without an edit of any other.
"""

from __future__ import annotations

import json
import tomllib

import pytest

from adamb.tools.maintain.documents import blocks
from support.paths import ROOT, Copy

GUIDE = blocks((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
FILES = {block.file: block.body for block in GUIDE if block.file is not None}


@pytest.fixture
def copy(tmp_path) -> Copy:
    return Copy(tmp_path)


def add(copy: Copy, *names: str) -> None:
    for name in names:
        copy.write(name, FILES[name])


def test_a_problem_is_one_file_and_its_test(copy):
    add(copy, "host_sim/problems/lamp.py", "tests/host/problems/test_lamp.py")
    copy.pytest("tests/host/problems/test_lamp.py")
    shown = copy.pytest("tests/host/test_problem_contract.py", "-k", "lamp", "-rA")
    assert shown.count("PASSED") > 3, "the tests of all problems found it by themselves"
    assert "lamp" in copy.adamb("run", "lamp", "--budget", "1KiB", "--episodes", "30", "--seeds", "2")
    copy.adamb("compare", "lamp", "--episodes", "30", "--seeds", "2")


def test_a_baseline_is_one_file(copy):
    add(copy, "host_sim/baselines/sampler.py")
    run = "run oil-laplace --agent sampler --budget 1KiB --episodes 200 --seeds 4 --json -"
    assert json.loads(copy.adamb(*run.split()))["agent"] == "sampler"
    shown = copy.pytest("tests/host/test_agent_contract.py", "-k", "sampler", "-rA")
    assert shown.count("PASSED") > 1, "the tests of all agents found it by themselves"


def test_a_board_is_one_toml_file_its_pins_included(copy):
    text = (ROOT / "budgets" / "boards" / "rp2040.toml").read_text(encoding="utf-8")
    ours = tomllib.loads(text)
    text = text.replace(ours["title"], "A board of ours").replace('"pico"', '"ours"')
    text = text.replace("adc = 26", 'adc = "A7"').replace("pwm = 15", "pwm = 3")
    copy.write("budgets/boards/our-board.toml", text)
    assert "our-board" in copy.adamb("list", "boards")
    assert "A board of ours" in copy.adamb("list", "boards", "ours")
    plan = "plan --dims 1+1 --horizon 5 --episodes 2000 --board ours --no-costs"
    assert "our-board" in copy.adamb(*plan.split())
    copy.adamb("port", "--board", "ours", "--out", "port")
    program = next((copy.folder / "port").rglob("adamb_board.py")).read_text(encoding="utf-8")
    assert 'ADC(Pin("A7"))' in program and "PWM(Pin(3), " in program


def test_a_command_is_one_file(copy):
    add(copy, "tools/commands/units.py")
    assert "units" in copy.adamb("--help")
    assert copy.adamb("units", "4KiB") == "512 units\n"
    copy.adamb("units", "much", code=2)
    shown = copy.pytest("tests/cli/test_commands.py", "-k", "units", "-rA")
    assert shown.count("PASSED") > 2, "the tests of all commands found it by themselves"
