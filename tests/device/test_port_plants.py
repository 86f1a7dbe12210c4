"""The plants that `adamb port` writes: loops that learn, the same in C, on a board and on the host."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("ziglang", reason="pip install adamb[device]")

from adamb.host_sim.problems import make_problem
from adamb.tools.cli import main
from adamb.tools.device.micropython.interpreter import run_program
from adamb.tools.device.port.job import PLANTS
from support.building import c_output
from support.campaigns import few
from support.on_board import MACHINE, copied, without_waiting

# The simulated bar behind an ADC and a PWM; every second reading is of a period later.
SEALER = """
import sys
import plant

class World:
    bar = plant.Simulated(lambda deviation: 0)
    reads = steps = 0

class Pin:
    def __init__(self, name):
        pass

class ADC(Pin):
    def read_u16(self):
        World.reads += 1
        if World.reads > 6000:
            sys.exit(0)
        if World.reads % 2 == 0:
            World.bar.wait(World.steps % 5)
            World.steps += 1
        elif World.steps % 5 == 0:
            World.bar.begin()
        return 3277 + ((World.bar.sensor() - 500) * 58981 + 1999) // 2000

class PWM:
    def __init__(self, pin, freq, duty_u16):
        self.duty_u16(duty_u16)
    def duty_u16(self, duty):
        World.bar.actuator(duty * 1000 // 65535)

class WDT:
    def __init__(self, timeout):
        pass
    def feed(self):
        pass
"""


def test_the_control_loop_learns_to_heat(pico: Path) -> None:
    files = copied(pico, "mpy", "adamb_settings.py", "plant.py", "main.py")
    files |= {"/adamb_board.py": without_waiting(pico), "/machine.py": SEALER}
    run = run_program("exec(open('main.py').read(), {'__name__': '__main__'})\n", files, seconds=200)
    assert run.status == 0, run.errors
    rewards = [int(reward) for reward in re.findall(r"mean reward (\d+) out of range 0\n", run.output)]
    assert len(rewards) == 30 and sum(rewards[-10:]) / 10 > 850 > sum(rewards[:3]) / 3, run.output


@pytest.mark.parametrize(("reading", "kept"), [(70_000, 65_535), (65_535, 65_535), (0, 0), (-3, 0)])
def test_an_open_or_shorted_input_is_counted_as_out_of_range(pico: Path, reading: int, kept: int) -> None:
    """The whole ADC had been the range, and nothing could be outside. array("H") keeps 70000 as 4464."""
    world = MACHINE.replace("return World.temperature", f"return {reading}") + "\ndef looked():\n    pass\n"
    files = copied(pico, "mpy", "adamb_settings.py", "plant.py", "main.py")
    files |= {"/adamb_board.py": without_waiting(pico), "/machine.py": world}
    program = (
        "import main\nfrom adamb_board import Board\nloop = main.Loop(Board())\n"
        "for _ in range(2):\n    code = loop.sensor.code(loop.board.sensor())\n"
        "print(code, loop.sensor.out_of_range)\n"
    )
    assert run_program(program, files).require_success().output == f"{kept} 2\n"


@pytest.mark.parametrize("plant", few(PLANTS, 2))
def test_every_plant_is_learnt_on_micropython_before_anything_is_wired(pico: Path, plant: str) -> None:
    files = copied(pico, "mpy", "adamb_settings.py", "main.py")
    files["/plant.py"] = pico / "plants" / f"{plant}.py"
    shorter = (pico / "simulate.py").read_text().replace("EPISODES = 600", "EPISODES = 400")
    output = run_program(shorter, files, seconds=200).require_success().output
    rewards = [int(reward) for reward in re.findall(r"mean reward (\d+) out of range 0\n", output)]
    assert len(rewards) == 4 and rewards[-1] > rewards[0] + 30 and rewards[-1] > 700, output
    assert output.startswith("mean reward of a step in thousandths"), "the unit of what follows"


def test_a_problem_of_a_plant_gives_its_loop(tmp_path: Path) -> None:
    assert main(["port", "plant-motor", "--runtime", "c", "--out", str(tmp_path / "made")]) == 0
    assert (tmp_path / "made" / "plant.h").read_bytes() == (tmp_path / "made" / "plants" / "motor.h").read_bytes()


@pytest.mark.parametrize("plant", PLANTS)
def test_the_ranges_of_a_loop_are_those_that_its_problem_declares(plant: str, pico: Path, c_folder: Path) -> None:
    names: dict[str, object] = {}
    exec((pico / "plants" / f"{plant}.py").read_text(), names)
    header = (c_folder / "plants" / f"{plant}.h").read_text()
    sensor, actuator = make_problem(f"plant-{plant}", [0]).coordinates
    for kind, each in (("SENSOR", sensor), ("ACTUATOR", actuator)):
        zero, full = (int(re.search(rf"{kind}_{end} = (\d+)", header)[1]) for end in ("ZERO", "FULL"))
        assert names[kind] == (zero, full)
        part = (full - zero) / (each.full - each.zero)
        assert (zero, full) == (each.zero * part, each.full * part)


SETTINGS = (700, 1000, 930, 310, 450)
PROGRAM = """
#include <stdio.h>
#include "adamb_settings.h"
#include "plant.h"
int main(void)
{
    static const int shares[] = {%s};
    board_begin();
    for (int h = 0; h < ADAMB_HORIZON; h++) {
        int32_t before = board_sensor();
        int32_t setting = ACTUATOR_ZERO + (ACTUATOR_FULL - ACTUATOR_ZERO) * shares[h] / 1000;
        board_actuator(setting);
        board_wait();
        printf("%%d %%d\\n", (int)board_sensor(), (int)plant_cost(h, before, setting, board_sensor()));
    }
    return 0;
}
"""


def in_c(folder: Path, plant: str, tmp_path: Path) -> list[list[int]]:
    program = (PROGRAM % ", ".join(map(str, SETTINGS))).replace("plant.h", f"plants/{plant}.h")
    shown = c_output(program, folder, tmp_path, "-Wpedantic", "-Wconversion", "-DADAMB_SIMULATE=1", "-DPLANT_NOISE=0")
    return [list(map(int, line.split())) for line in shown.splitlines()]


def in_python(folder: Path, plant: str) -> list[list[int]]:
    names: dict[str, object] = {}
    exec((folder / "plants" / f"{plant}.py").read_text(), names)
    simulated = names["Simulated"](lambda deviation: 0)
    low, high = names["ACTUATOR"]
    simulated.begin()
    found = []
    for h, share in enumerate(SETTINGS):
        before, setting = simulated.sensor(), low + (high - low) * share // 1000
        simulated.actuator(setting)
        simulated.wait(h)
        found.append([simulated.sensor(), names["cost"](h, before, setting, simulated.sensor())])
    return found


def on_the_host(plant: str, start: int, ends: tuple[int, int]) -> list[list[float]]:
    """The problem of the simulator, nominal and without noise, in the units of the board."""
    problem = make_problem(f"plant-{plant}", [0], instance="paper", params={"noise": 0})
    problem.begin_episode()
    problem.state = np.array([[(start - ends[0]) / (ends[1] - ends[0])]])
    found = []
    for h, share in enumerate(SETTINGS):
        rewards, states = problem.step(h, np.array([[share / 1000]]))
        found.append([ends[0] + (ends[1] - ends[0]) * states[0, 0], 1000 * (1 - rewards[0])])
    return found


@pytest.mark.parametrize("plant", few(PLANTS, 2))
def test_a_plant_is_the_same_in_c_in_python_and_in_the_simulator(
    c_folder: Path, pico: Path, tmp_path: Path, plant: str
) -> None:
    names: dict[str, object] = {}
    exec((pico / "plants" / f"{plant}.py").read_text(), names)
    simulated = names["Simulated"](lambda deviation: 0)
    simulated.begin()
    host = on_the_host(plant, simulated.sensor(), names["SENSOR"])
    assert np.ptp(host, axis=0).max() > 100, "these settings show something"
    for found in (in_c(c_folder, plant, tmp_path), in_python(pico, plant)):
        assert np.abs(np.array(found) - np.array(host)).max() <= 10, f"{found} against {host}"


def test_the_simulation_runs_on_a_computer_too(pico: Path, tmp_path: Path) -> None:
    shutil.copytree(pico, tmp_path / "pico")
    command = [sys.executable, "-S", "simulate.py"]
    done = subprocess.run(command, cwd=tmp_path / "pico", env={"PYTHONPATH": "py"}, capture_output=True, text=True)
    assert done.returncode == 0 and "episodes 501 to 600" in done.stdout, done.stderr


@pytest.mark.parametrize("plant", few(PLANTS, 2))
def test_a_sketch_has_the_period_of_its_plant(plant: str, library: Path, pico: Path) -> None:
    """All four had waited as long as the heater, a hundred times too long for the motor."""
    said = re.compile(r"\bPERIOD_MS = (\d+)")
    wanted = said.search((pico / "plants" / f"{plant}.py").read_text())
    found = said.search((library / "examples" / plant / f"{plant}.ino").read_text())
    assert found[1] == wanted[1]


@pytest.mark.parametrize("plant", few(PLANTS, 2))
def test_the_calibration_in_c_leaves_readings_at_both_ends_out_of_range(
    c_folder: Path, tmp_path: Path, plant: str
) -> None:
    program = (
        f'#include <stdio.h>\n#include "adamb_unit.h"\n#include "plants/{plant}.h"\nint main(void)\n{{\n'
        "    static const int32_t readings[] = {0, READING_LOW, 2048, READING_HIGH, 4095};\n"
        "    adamb_unit sensor;\n    adamb_unit_init(&sensor, SENSOR_ZERO, SENSOR_FULL);\n"
        "    for (int i = 0; i < 5; i++) {\n"
        "        adamb_unit_code(&sensor, board_calibrated(readings[i], SENSOR_ZERO, SENSOR_FULL));\n"
        '        printf("%d ", (int)sensor.out_of_range);\n    }\n    return 0;\n}\n'
    )
    assert c_output(program, c_folder, tmp_path) == "1 1 1 1 2 "
