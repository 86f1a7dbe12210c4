"""The plan's instructions, time and energy against runs of the compiled core on the emulated board."""

from __future__ import annotations

import json
import re

import pytest

pytest.importorskip("unicorn")
pytest.importorskip("ziglang")

from adamb.budgets.battery import Battery
from adamb.budgets.boards import load_board
from adamb.budgets.planner import PlannedJob
from adamb.host_sim.registry import make_problem
from adamb.tools.cli import main
from adamb.tools.device.emulator.core import HostCore
from adamb.tools.device.latency.meters import measure_cortex
from adamb.tools.device.latency.observe_bound import ObserveBound
from adamb.tools.device.settings import DeviceSettings
from adamb.tools.device.stream import record
from adamb.tools.measure.job_costs import TARGET, JobCosts, measure_costs, relevant_balls
from support.campaigns import few
from support.command import refused

EPISODES = 150


def test_a_job_has_one_bound_on_observe_whatever_the_seed():
    """plan had told 1983274 instructions of a job, and latency 1980570."""
    found = [ObserveBound.measure(DeviceSettings(1, 1, 2, seed=seed), TARGET) for seed in (1, 5)]
    assert len({(bound.fixed, bound.base, bound.per_ball) for bound in found}) == 1


@pytest.mark.parametrize("problem", few(["oil-laplace", "oil-2d"]))
def test_no_call_of_a_run_costs_more_than_planned(problem):
    made = make_problem(problem, [3], episodes=EPISODES)
    settings = DeviceSettings(made.d_s, made.d_a, made.horizon)
    config, words = settings.config(), 2048
    stream = record(problem, made, HostCore(config, words), config, words, EPISODES)
    costs = measure_cortex(stream, TARGET)
    planned = measure_costs(PlannedJob(made.d_s, made.d_a, made.horizon, EPISODES), 2 * words)
    assert isinstance(planned, JobCosts) and planned.observe is not None
    assert costs.act.max() <= planned.act
    assert costs.observe.max() <= planned.observe
    assert costs.stack_measured_bytes <= planned.stack_bytes


@pytest.fixture(scope="module")
def planned() -> JobCosts:
    found = measure_costs(PlannedJob(1, 1, 5, 2000), 4096)
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


def test_a_battery_lasts_as_long_as_the_worst_calls_let_it(planned, capsys):
    command = ["plan", "--board", "microbit", "--budget", "4KiB", "--battery", "1000mAh", "--period", "1s"]
    assert main([*command, "--json", "-"]) == 0
    content = json.loads(capsys.readouterr().out)
    busy = load_board("microbit").seconds(sum(content["instructions"][each] for each in ("act", "observe")))
    assert content["battery"]["hours"] == pytest.approx(Battery(1000, 1).hours(load_board("microbit"), busy))
    assert content["energy_uj"]["observe"][0] > content["energy_uj"]["act"][0] > 0
    assert main(command) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert content["battery"]["sentence"] in shown and "per learning step" in shown


def test_a_battery_has_its_life_with_mean_calls_beside_the_one_with_the_worst(capsys):
    """The bound on observe is loose: weeks with the worst calls were told where years are likely."""
    board = load_board("microbit")
    assert main(["plan", "--board", "microbit", "--battery", "1Ah", "--period", "1s", "--json", "-"]) == 0
    content = json.loads(capsys.readouterr().out)
    mean, worst = content["instructions"]["mean"], content["instructions"]
    assert all(mean[call] <= worst[call] for call in ("act", "observe"))
    hours = Battery(1000, 1).hours(board, board.seconds(mean["act"] + mean["observe"]))
    assert content["battery_mean"]["hours"] == pytest.approx(hours)
    assert content["battery"]["hours"][1] < hours[0]
    mean_life = Battery(1000, 1).spoken(board, board.seconds(mean["act"] + mean["observe"]))
    assert content["battery"]["sentence"].endswith(f"with mean calls {mean_life}") and "years" in mean_life


def test_a_period_that_only_mean_calls_fit_into_says_so(capsys):
    """It had been refused, with no table at all, for calls that no run has made."""
    command = ["plan", "--board", "microbit", "--battery", "1Ah", "--period"]
    assert main([*command, "100ms"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "µA with mean calls" in shown
    assert re.search(r"the worst calls take up to [\d.]+ s, longer than a period", shown)
    assert "choose a longer one" in refused(capsys, *command, "200us")


def test_a_battery_under_micropython_lasts_as_long_as_the_mean_calls_let_it(capsys):
    command = ["plan", "--board", "pico", "--battery", "1000mAh", "--period", "1s"]
    assert main([*command, "--json", "-"]) == 0
    content = json.loads(capsys.readouterr().out)
    mean = content["micropython"]["mean"]["bytecode"]
    busy = load_board("pico").seconds(mean["act"]["instructions"] + mean["observe"]["instructions"])
    assert content["battery"]["hours"] == pytest.approx(Battery(1000, 1).hours(load_board("pico"), busy))
    assert "with mean calls" in content["battery"]["sentence"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--board", "pico", "--mode", "paper"], "measured in mode tracking only"),
        (["--board", "microbit", "--mode", "paper"], "no bound"),
        (["--board", "microbit", "--no-costs"], "times of --costs"),
        ([], "currents of a --board"),
    ],
)
def test_a_battery_without_times_or_currents_is_refused(arguments, complaint, capsys):
    assert complaint in refused(capsys, "plan", *arguments, "--battery", "1Ah", "--period", "1s")


def test_more_episodes_never_cost_less(planned):
    fewer = measure_costs(PlannedJob(1, 1, 5, 20), 4096)
    assert isinstance(fewer, JobCosts)
    assert fewer.act <= planned.act
    assert fewer.observe <= planned.observe
    assert relevant_balls(PlannedJob(1, 1, 5, 20), None) < relevant_balls(PlannedJob(1, 1, 5, 2000), None)
    assert relevant_balls(PlannedJob(1, 1, 5, 2000), 64) == 9


def test_paper_mode_says_that_observe_has_no_bound():
    found = measure_costs(PlannedJob(1, 1, 5, 100, "paper"), None)
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
    from adamb.tools.device.latency import meters as measure

    def missing(*_):
        raise DeviceToolMissing("an emulator")

    monkeypatch.setattr(measure, "DeepestAct", missing)
    assert main(["plan", "--mode", "paper", "--board", "microbit"]) == 0
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
    assert main(["check-budget", str(path), "--json", "-"]) == code
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    assert set(rows) == {"bytes", "act_instructions", "observe_instructions", "stack_bytes", "min_reward"}
    assert [name for name, row in rows.items() if not row["ok"]] == (
        [] if code == 0 else ["act_instructions"]
    )
    assert rows["observe_instructions"]["measured"] > 500
    assert TARGET in rows["act_instructions"]["note"]


def test_a_block_too_small_for_the_target_is_explained(tmp_path, capsys):
    path = tmp_path / "budget.toml"
    path.write_text(
        BUDGET.format(act=400).replace('bytes = "2KiB"', 'bytes = "100B"').replace("min_reward", "#")
    )
    refused(capsys, "check-budget", path)
