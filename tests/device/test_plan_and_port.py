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
from adamb.tools.device.port.micropython import block_for_board
from adamb.tools.device.settings import DeviceSettings
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


def test_times_and_energy_are_those_of_the_runtime(capsys):
    code, out, _ = adamb(capsys, "plan", "--board", "pico", "--json", "-")
    assert code == 0 and not {"instructions", "seconds", "energy_uj"} & set(json.loads(out))
    shown = adamb(capsys, "plan", "--board", "pico")[1]
    assert "MicroPython's must be timed on the board" in " ".join(shown.split())
    code, out, _ = adamb(capsys, "plan", "--board", "pico", "--runtime", "c", "--json", "-")
    assert code == 0 and json.loads(out)["seconds"]["act"][0] > 0


def test_where_micropython_has_no_room_the_c_core_is_proposed(capsys):
    code, out, _ = adamb(capsys, "plan", "--board", "microbit", "--runtime", "micropython")
    assert code == 1 and "the C core, --runtime c: 14336 bytes there" in out


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
