"""A block that `adamb plan` promises on a board is one that `adamb port` makes for it, and the other way."""

from __future__ import annotations

import json
import re
import shlex

import pytest

pytest.importorskip("ziglang")

from adamb.budgets.boards import board_names, load_board
from adamb.budgets.boards.profile import CORE_IMPORT_BYTES
from adamb.budgets.controller import BLOCK_BYTES_MAX
from adamb.budgets.errors import AdambError, InputError
from adamb.budgets.planner import NEVER, PlannedJob, plan
from adamb.tools.device.latency.meter_micropython import import_bytes
from adamb.tools.device.micropython import costs
from adamb.tools.device.port.micropython import block_for_board
from adamb.tools.device.settings import DeviceSettings
from adamb.tools.measure import job_costs
from adamb.tools.measure.runtime_costs import FORMS, PAPER_MEANS
from support.command import adamb, refused
from support.paths import ROOT


def test_the_core_takes_the_heap_that_is_set_aside_for_it():
    measured = import_bytes("mpy")
    assert measured <= CORE_IMPORT_BYTES <= 1.2 * measured, "the figure of the boards follows the core"


@pytest.mark.parametrize("name", board_names())
def test_under_micropython_the_largest_block_is_the_same(name):
    job, settings = PlannedJob(1, 1, 5, 2000), DeviceSettings(1, 1, 5)
    if load_board(name).micropython_heap_bytes is None:
        with pytest.raises(InputError, match="does not run MicroPython"):
            plan(job, board=name, runtime="micropython")
        return
    made = plan(job, board=name, runtime="micropython")
    if made.verdict == NEVER:
        assert plan(job, board=name).runtime == "c", "which is what the error of port says to use"
        with pytest.raises(InputError, match="use the C core instead"):
            block_for_board(name, settings, None)
        return
    assert block_for_board(name, settings, made.budget_bytes) == made.budget_bytes
    with pytest.raises(AdambError):
        block_for_board(name, settings, made.budget_bytes + 2)


def test_port_accepts_the_example_of_the_readme(capsys, tmp_path):
    shown = re.search(r"begin text: adamb (plan .*?) --no-costs", (ROOT / "README.md").read_text())
    arguments = shlex.split(shown[1])
    code, out, _ = adamb(capsys, *arguments, "--no-costs", "--json", "-")
    planned = json.loads(out)
    assert code == 0 and planned["verdict"] == "fits always" and planned["runtime"] == "c"
    given = dict(zip(arguments[1::2], arguments[2::2], strict=True))
    command = ["port", "--c", "--board", given["--board"], "--mode", given["--mode"]]
    assert adamb(capsys, *command, "--budget", planned["bytes"], "--out", tmp_path / "fits")[0] == 0
    assert adamb(capsys, *command, "--budget", planned["budget_bytes"], "--out", tmp_path / "most")[0] == 0
    more = planned["budget_bytes"] + 2
    assert adamb(capsys, *command, "--budget", more, "--out", tmp_path / "more")[0] == 2


@pytest.mark.parametrize("name", board_names())
def test_with_the_c_core_in_the_firmware_the_largest_block_is_the_same(name):
    board, settings = load_board(name), DeviceSettings(1, 1, 5)
    if board.micropython_heap_bytes is None:
        with pytest.raises(InputError, match="does not run MicroPython"):
            board.available_bytes("usermod")
        return
    most = min(board.available_bytes("usermod"), BLOCK_BYTES_MAX)
    assert most > board.available_bytes("micropython") or most == BLOCK_BYTES_MAX
    assert block_for_board(name, settings, most, usermod=True) == most
    with pytest.raises(AdambError):
        block_for_board(name, settings, most + 2, usermod=True)


def test_times_and_energy_are_those_of_the_runtime(capsys):
    """Of one job on one board: the Python core, the C core in the firmware, the C core alone."""
    found = {}
    for runtime in ("micropython", "usermod", "c"):
        code, out, _ = adamb(capsys, "plan", "--board", "pico", "--runtime", runtime, "--json", "-")
        assert code == 0
        found[runtime] = json.loads(out)
    assert "micropython" not in found["c"] and found["c"]["seconds"]["act"][0] > 0
    for runtime, form in FORMS.items():
        assert not {"instructions", "seconds", "energy_uj", "stack_bytes"} & set(found[runtime])
        assert found[runtime]["micropython"]["form"] == form
    python, module = (found[runtime]["micropython"]["mean"][form] for runtime, form in FORMS.items())
    for call in ("act", "observe"):
        assert python[call]["seconds"][0] > 10 * module[call]["seconds"][0]
        assert python[call]["energy_uj"][1] > 10 * module[call]["energy_uj"][1]


def test_a_plan_under_micropython_says_what_the_table_of_the_readme_says(capsys):
    """The same instructions, turned into the same times."""
    rows = {row["core"]: row for row in costs.kept()["rows"] if row["processor"] == costs.ON_BOARDS}
    mean = json.loads(adamb(capsys, "plan", "--board", "pico", "--json", "-")[1])["micropython"]["mean"]
    assert set(mean) == set(costs.PLANNED)
    for form, calls in mean.items():
        for call in ("act", "observe"):
            assert calls[call]["instructions"] == rows[form][call]
            assert calls[call]["seconds"] == list(load_board("pico").seconds(rows[form][call]))
    shown = " ".join(adamb(capsys, "plan", "--board", "pico")[1].split())
    for said in ("mean act", "worst observe", "energy of act", "Python, bytecode; 125 MHz", "with fast.py",
                 "C in the firmware", "2000 steps with 1+1, H 5, a block of 4096 bytes"):  # fmt: skip
        assert said in shown, said


def test_the_worst_call_under_micropython_is_the_bound_of_c_times_what_was_measured(capsys):
    job = ["plan", "--dims", "2+1", "--board", "pico", "--budget", "4KiB", "--json", "-"]
    alone = json.loads(adamb(capsys, *job, "--runtime", "c")[1])["instructions"]
    found = json.loads(adamb(capsys, *job)[1])["micropython"]
    shapes = [row for row in costs.kept()["shapes"] if row["core"] == "bytecode"]
    assert len(shapes) == 9, "one to three states and actions"
    for call in ("act", "observe"):
        each = [row[call] / row[f"c_{call}"] for row in shapes]
        assert found["worst"][call]["instructions"] == [alone[call] * min(each), alone[call] * max(each)]
        assert found["mean"]["bytecode"][call]["instructions"] < found["worst"][call]["instructions"][0]
        assert max(each) < 1.3 * min(each), "else dimensions must be told apart"


def test_what_was_not_measured_is_said_and_not_guessed(capsys, monkeypatch):
    paper = ["plan", "--board", "pico", "--mode", "paper"]
    shown = " ".join(adamb(capsys, *paper)[1].split())
    assert PAPER_MEANS in shown and "observe: paper mode refreshes" in shown and "mean act" not in shown
    assert json.loads(adamb(capsys, *paper, "--json", "-")[1])["micropython"]["mean"] == {}
    monkeypatch.setattr(job_costs, "measure_costs", lambda *_: "an emulator is missing")
    shown = " ".join(adamb(capsys, "plan", "--board", "pico")[1].split())
    assert "no worst times: an emulator is missing" in shown and "mean act" in shown
    assert "worst act" not in shown


def test_where_micropython_has_no_room_the_c_core_is_proposed(capsys):
    code, out, _ = adamb(capsys, "plan", "--board", "microbit", "--runtime", "micropython")
    assert code == 1 and "the C core, --runtime c: 14336 bytes there" in out
    assert "--runtime usermod: 1856 bytes there" in " ".join(out.split())
    assert adamb(capsys, "plan", "--board", "microbit", "--runtime", "usermod")[0] == 0


def test_both_take_a_problem_or_dimensions_alike(capsys, tmp_path):
    shape = re.compile(r"ADAMB_STATE_DIMS = (\d), ADAMB_ACTION_DIMS = (\d), ADAMB_HORIZON = (\d+)")
    for k, given in enumerate((["ambulance-2"], ["--dims", "2+2", "--horizon", "5"])):
        code, out, error = adamb(capsys, "plan", *given, "--no-costs", "--json", "-")
        planned = json.loads(out)
        assert code == 0 and (planned["dims"], planned["horizon"]) == ("2+2", 5), error
        assert adamb(capsys, "port", *given, "--c", "--out", tmp_path / str(k))[0] == 0
        assert shape.search((tmp_path / str(k) / "adamb_settings.h").read_text()).groups() == ("2", "2", "5")
    for command in ("plan", "port"):
        more = [] if command == "plan" else ["--c", "--out", tmp_path / "no"]
        assert "has its own dimensions" in refused(capsys, command, "ambulance-2", "--dims", "2+2", *more)
    twice = refused(capsys, "port", "--dims", "2+2", "--state-dims", 2, "--c", "--out", tmp_path / "no")
    assert "leave --state-dims" in twice


def test_port_writes_no_block_larger_than_the_core_can_use(capsys, tmp_path):
    """Memory beyond it would be dead, and Kconfig had a default outside of its own range."""
    for more in ([], ["--package"], ["--board", "esp32"]):
        made = [*more, "--c", "--out", tmp_path / "no"]
        error = refused(capsys, "port", "--budget", BLOCK_BYTES_MAX + 2, *made)
        assert f"budget = {BLOCK_BYTES_MAX + 2}: a block has at most {BLOCK_BYTES_MAX} bytes" in error
    assert not (tmp_path / "no").exists()
    assert adamb(capsys, "port", "--c", "--budget", BLOCK_BYTES_MAX, "--out", tmp_path / "most")[0] == 0
