"""A plan against what port makes and what the compiled core takes on the emulated board."""

from __future__ import annotations

import json
import re
import shlex

import pytest

from adamb.budgets.battery import Battery
from adamb.budgets.boards import CORE_IMPORT_BYTES, board_names, load_board
from adamb.budgets.planner import NEVER, PlannedJob, plan
from adamb.firmware_model.host.errors import AdambError, InputError
from adamb.firmware_model.host.options import BLOCK_BYTES_MAX
from adamb.host_sim.problems import make_problem
from adamb.tools.cli import main
from adamb.tools.device.emulator.core import HostCore
from adamb.tools.device.latency.bounds import LearningBound
from adamb.tools.device.latency.meters import import_bytes, measure_cortex
from adamb.tools.device.micropython import costs
from adamb.tools.device.port.micropython import block_for_board
from adamb.tools.device.settings import DeviceSettings
from adamb.tools.device.stream import record
from adamb.tools.measure import job_costs
from adamb.tools.measure.job_costs import FORMS, PAPER_MEANS, TARGET, JobCosts, measure_costs
from support.campaigns import few
from support.command import adamb, refused
from support.paths import ROOT

for _package in ("unicorn", "ziglang"):
    pytest.importorskip(_package, reason="pip install adamb[device]")


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


def test_port_accepts_the_example_of_the_page_about_sizes(capsys, tmp_path):
    shown = re.search(r"begin text: adamb (plan .*--board .*?) --no-costs", (ROOT / "docs" / "sizing.md").read_text())
    arguments = shlex.split(shown[1])
    code, out, _ = adamb(capsys, *arguments, "--no-costs", "--json", "-")
    planned = json.loads(out)
    assert code == 0 and planned["verdict"] == "fits always" and planned["runtime"] == "c"
    given = dict(zip(arguments[1::2], arguments[2::2], strict=True))
    command = ["port", "--runtime", "c", "--board", given["--board"], "--agent-set", given["--agent-set"]]
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
    paper = ["plan", "--board", "pico", "--agent-set", "mode=paper"]
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
        assert adamb(capsys, "port", *given, "--runtime", "c", "--out", tmp_path / str(k))[0] == 0
        assert shape.search((tmp_path / str(k) / "adamb_settings.h").read_text()).groups() == ("2", "2", "5")
    for command in ("plan", "port"):
        more = [] if command == "plan" else ["--runtime", "c", "--out", tmp_path / "no"]
        assert "has its own dimensions" in refused(capsys, command, "ambulance-2", "--dims", "2+2", *more)


def test_port_writes_no_block_larger_than_the_core_can_use(capsys, tmp_path):
    """Memory beyond it would be dead, and Kconfig had a default outside of its own range."""
    for more in (["--runtime", "c"], ["--runtime", "library"], ["--runtime", "c", "--board", "esp32"]):
        made = [*more, "--out", tmp_path / "no"]
        error = refused(capsys, "port", "--budget", BLOCK_BYTES_MAX + 2, *made)
        assert f"budget = {BLOCK_BYTES_MAX + 2}: a block has at most {BLOCK_BYTES_MAX} bytes" in error
    assert not (tmp_path / "no").exists()
    assert adamb(capsys, "port", "--runtime", "c", "--budget", BLOCK_BYTES_MAX, "--out", tmp_path / "most")[0] == 0


EPISODES = 150


def test_a_job_has_one_bound_on_observe_whatever_the_seed():
    """plan had told 1983274 instructions of a job, and latency 1980570."""
    found = {LearningBound.measure(DeviceSettings(1, 1, 2, seed=seed), TARGET) for seed in (1, 5)}
    assert len(found) == 1


@pytest.mark.parametrize("problem", few(["oil-laplace", "oil-2d"]))
def test_no_call_of_a_run_costs_more_than_planned(problem):
    made = make_problem(problem, [3], episodes=EPISODES)
    settings = DeviceSettings(made.d_s, made.d_a, made.horizon)
    config, words = settings.config(), 2048
    stream = record(problem, made, HostCore(config, words), config, words, EPISODES)
    costs = measure_cortex(stream, TARGET)
    planned = measure_costs(PlannedJob(made.d_s, made.d_a, made.horizon, EPISODES))
    assert isinstance(planned, JobCosts) and planned.observe is not None
    assert costs.act.max() <= planned.act
    assert costs.observe.max() <= planned.observe
    assert costs.stack_measured_bytes <= planned.stack_bytes


@pytest.fixture(scope="module")
def planned() -> JobCosts:
    found = measure_costs(PlannedJob(1, 1, 5, 2000))
    assert isinstance(found, JobCosts)
    return found


def test_time_and_energy_are_instructions_times_the_boards_figures(planned):
    board = load_board("microbit")
    content = planned.to_json(board)
    low, high = board.cycles_per_instruction
    assert content["cycles_per_instruction"]["model"] == "armv6m-manual"
    assert content["seconds"]["act"] == pytest.approx([planned.act * low / 16e6, planned.act * high / 16e6])
    both = planned.act + planned.observe
    current = board.figures["active_current_ua"]
    assert content["energy_uj"]["decision"] == pytest.approx(
        [both * low / 16e6 * current.low * 3, both * high / 16e6 * current.high * 3]
    )
    assert "seconds" not in planned.to_json(None)


def test_a_battery_lasts_as_long_as_the_mean_calls_let_it(planned, capsys):
    command = ["plan", "--board", "microbit", "--budget", "4KiB", "--battery", "1000mAh@1s"]
    assert main([*command, "--json", "-"]) == 0
    content = json.loads(capsys.readouterr().out)
    busy = load_board("microbit").seconds(sum(content["instructions"]["mean"].values()))
    assert content["battery"]["hours"] == pytest.approx(Battery(1000, 1).hours(load_board("microbit"), busy))
    assert content["energy_uj"]["observe"][0] > content["energy_uj"]["act"][0] > 0
    assert main(command) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert content["battery"]["sentence"] in shown and "per learning step" in shown


def test_a_battery_has_its_life_with_the_worst_calls_beside_the_one_with_mean_ones(capsys):
    board = load_board("microbit")
    assert main(["plan", "--board", "microbit", "--battery", "1Ah@1s", "--json", "-"]) == 0
    content = json.loads(capsys.readouterr().out)
    mean, worst = content["instructions"]["mean"], content["instructions"]
    assert all(mean[call] <= worst[call] for call in ("act", "observe"))
    busy = board.seconds(worst["act"] + worst["observe"])
    assert content["battery_worst"]["hours"] == pytest.approx(Battery(1000, 1).hours(board, busy))
    assert content["battery_worst"]["hours"][1] < content["battery"]["hours"][1]
    assert content["battery"]["sentence"].endswith(f"; with the worst {Battery(1000, 1).spoken(board, busy)}")


def test_a_period_that_only_mean_calls_fit_into_says_so(capsys):
    """It had been refused, with no table at all, for calls that no run has made."""
    command = ["plan", "--board", "microbit", "--battery"]
    assert main([*command, "1Ah@5ms"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "µA with mean calls" in shown
    assert re.search(r"the worst calls take up to [\d.]+ s, longer than a period", shown)
    assert "choose a longer one" in refused(capsys, *command, "1Ah@200us")


def test_a_battery_under_micropython_lasts_as_long_as_the_mean_calls_let_it(capsys):
    command = ["plan", "--board", "pico", "--battery", "1000mAh@1s"]
    assert main([*command, "--json", "-"]) == 0
    content = json.loads(capsys.readouterr().out)
    mean = content["micropython"]["mean"]["bytecode"]
    busy = load_board("pico").seconds(mean["act"]["instructions"] + mean["observe"]["instructions"])
    assert content["battery"]["hours"] == pytest.approx(Battery(1000, 1).hours(load_board("pico"), busy))
    assert "with mean calls" in content["battery"]["sentence"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--board", "pico", "--agent-set", "mode=paper"], "measured in mode tracking only"),
        (["--board", "microbit", "--agent-set", "mode=paper"], "no bound"),
        (["--board", "microbit", "--no-costs"], "times of --costs"),
        ([], "currents of a --board"),
    ],
)
def test_a_battery_without_times_or_currents_is_refused(arguments, complaint, capsys):
    assert complaint in refused(capsys, "plan", *arguments, "--battery", "1Ah@1s")


def test_more_episodes_never_cost_less(planned):
    fewer = measure_costs(PlannedJob(1, 1, 5, 20))
    assert isinstance(fewer, JobCosts)
    assert fewer.act <= planned.act
    assert fewer.observe == planned.observe, "a scan visits so many balls at most, whatever is learnt"


def test_paper_mode_says_that_observe_has_no_bound():
    found = measure_costs(PlannedJob(1, 1, 5, 100, "paper"))
    assert isinstance(found, JobCosts)
    assert found.observe is None
    assert "no bound" in found.note


def test_the_command_shows_them_and_can_leave_them_out(capsys):
    assert main(["plan", "--board", "microbit", "--json", "-"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["instructions"]["act"] > 50
    assert content["stack_bytes"] > 100
    assert content["seconds"]["act"][0] < content["seconds"]["act"][1]
    assert main(["plan", "--board", "microbit"]) == 0
    shown = capsys.readouterr().out
    assert "mJ" in shown and "e+0" not in shown, "energies have a unit that needs no exponent"
    assert main(["plan", "--board", "microbit", "--no-costs", "--json", "-"]) == 0
    assert "instructions" not in json.loads(capsys.readouterr().out)


def test_without_the_tools_the_plan_still_certifies_memory(monkeypatch, capsys):
    from adamb.tools.device.extras import DeviceToolMissing
    from adamb.tools.device.latency import bounds

    def missing(*_):
        raise DeviceToolMissing("an emulator")

    monkeypatch.setattr(bounds, "DeepestAct", missing)
    assert main(["plan", "--agent-set", "mode=paper", "--board", "microbit"]) == 0
    shown = capsys.readouterr().out
    assert "fits always" in shown
    assert "an emulator is missing: pip install adamb[device]" in " ".join(shown.split())


BUDGET = """
problem = "oil-laplace"
episodes = 40
seeds = 2
[limits]
bytes = "2KiB"
act_instructions = {act}
observe_instructions = 60000
stack_bytes = "1KiB"
min_reward = 0.1
"""


@pytest.mark.parametrize(("act", "code"), [(400, 0), (20, 1)])
def test_check_budget_measures_the_core_on_the_target(tmp_path, capsys, act, code):
    path = tmp_path / "budget.toml"
    path.write_text(BUDGET.format(act=act))
    assert main(["profile", "--check", str(path), "--json", "-"]) == code
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    assert set(rows) == {"bytes", "act_instructions", "observe_instructions", "stack_bytes", "min_reward"}
    assert [name for name, row in rows.items() if not row["ok"]] == ([] if code == 0 else ["act_instructions"])
    assert rows["observe_instructions"]["measured"] > 500
    assert TARGET in rows["act_instructions"]["note"]


def test_a_block_too_small_for_the_target_is_explained(tmp_path, capsys):
    path = tmp_path / "budget.toml"
    path.write_text(BUDGET.format(act=400).replace('bytes = "2KiB"', 'bytes = "100B"').replace("min_reward", "#"))
    refused(capsys, "profile", "--check", path)
