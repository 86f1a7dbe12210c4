"""The export of a problem of one's own: a loop with its named sensors, in their units, and never another's plant."""

from __future__ import annotations

import re
from array import array
from pathlib import Path

import pytest

pytest.importorskip("ziglang", reason="pip install adamb[device]")

from adamb.tools.cli import main
from adamb.tools.device.micropython.interpreter import run_program
from support.building import ARDUINO_H, STRICT, c_output, need, ran
from support.on_board import copied

OVEN = """
import numpy as np
from adamb.host_sim import Problem

class Oven(Problem):
    d_s, d_a, horizon = 2, 1, 4
    ranges = {"temperature": (25, 100, "°C"), "door": (0, 1, ""), "duty": (100, 0, "%")}

    def dynamics(self, h, states, actions, noise):
        return 1 - np.abs(states - actions)[:, 0], np.repeat(actions, 2, axis=1)

class Plain(Oven):
    ranges = {}

class Words(Oven):
    ranges = {"switch": (0, 10, "m/s"), "state": (0, 1, "kg"), "safe": (0, 100, "'")}
"""
# Twelve periods of an oven whose temperature is out of range in the fourth to the sixth.
BOARD = r"""
#include <stdio.h>
#include <stdlib.h>
#define SAFE_DUTY 1234
#include LOOP
static int periods;
void board_begin(void) {}
void board_feed_watchdog(void) { putchar('f'); }
int32_t read_temperature(void) { return periods >= 3 && periods < 6 ? 10001 : 5000; }
int32_t read_door(void) { return 10000; }
void set_duty(int32_t setting)
{
    putchar(setting == SAFE_DUTY ? 's' : setting >= 0 && setting <= 10000 ? 'o' : '!');
}
uint16_t plant_reward(int h) { putchar('0' + h); return 30000; }
void board_wait(void)
{
    putchar('p');
    if (++periods == 12) exit(0);
}
"""


@pytest.fixture(scope="module")
def oven(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("own") / "oven.py"
    path.write_text(OVEN)
    return path


@pytest.fixture(scope="module")
def run(oven: Path) -> Path:
    folder = oven.parent / "run"
    options = ["--episodes", "40", "--seeds", "1", "--budget", "2KiB", "--record", "--out", str(folder)]
    assert main(["run", f"{oven}:Oven", *options]) == 0
    return folder


@pytest.fixture(scope="module")
def trained(run: Path) -> Path:
    folder = run.parent / "c"
    assert main(["port", str(run), "--trained", "--runtime", "c", "--out", str(folder)]) == 0
    return folder


def test_an_export_has_the_sensors_of_its_problem_and_no_other_plant(trained: Path) -> None:
    """A trained oven had come with the loop of a heater that seals bags."""
    for path in (path for path in trained.rglob("*") if path.is_file() and path.suffix in (".c", ".h", ".md")):
        assert not re.search(r"heater|sealing bar|motor", path.read_text()) or path.name == "SPEC.md", path.name
    plant = (trained / "plant.h").read_text()
    assert re.findall(r"^\w+ ((?:read|set)_\w+)\(.*;$", plant, re.MULTILINE) == [
        "read_temperature", "read_door", "set_duty",
    ]  # fmt: skip
    assert "/* temperature 25 to 100 °C, in 0.01 °C. */\nint32_t read_temperature" in plant
    assert not (trained / "plants").exists()


def test_the_loop_runs_on_a_computer_before_anything_is_written(trained: Path, tmp_path: Path) -> None:
    need("make", "cc")
    said = ran("make", "run", "CFLAGS=-O2 -Werror -Wpedantic -Wconversion", folder=trained)
    rewards = [float(found) for found in re.findall(r"mean reward (0\.\d+)", said)]
    assert len(rewards) == 5 and rewards[-1] > 0.9


def test_a_reading_out_of_range_is_neither_acted_on_nor_learnt_from(trained: Path, tmp_path: Path) -> None:
    done = c_output(BOARD, trained, tmp_path, '-DLOOP="example_main.c"', "-Wno-unused-function")
    assert done == "s" + "fop0fop1fops" + 3 * "fsp" + "fop2fop3" + "fop0fop1fop2fop"[: 3 * 4 + 3]


def test_without_a_safe_setting_it_does_not_compile(trained: Path, tmp_path: Path) -> None:
    need("cc")
    with pytest.raises(AssertionError, match=r"Define SAFE_DUTY here, in 0\.01 %"):
        ran("cc", f"-I{trained}", "-fsyntax-only", trained / "example_main.c", folder=tmp_path)


def test_units_map_what_the_problem_declares(trained: Path, tmp_path: Path) -> None:
    program = (
        '#include <stdio.h>\n#include "adamb_settings.h"\nint main(void)\n{\n    adamb_units units;\n'
        "    if (adamb_units_init(&units) < 0) return 2;\n"
        '    printf("%d %d ", (int)adamb_unit_value(&units.unit_temperature, 0), '
        "(int)adamb_unit_value(&units.unit_temperature, 65535));\n"
        '    printf("%d %d", (int)adamb_unit_code(&units.unit_duty, 10000), '
        "(int)adamb_unit_code(&units.unit_duty, 0));\n"
        "    return 0;\n}\n"
    )
    assert c_output(program, trained, tmp_path) == "2500 10000 0 65535"


def test_the_loop_goes_on_where_the_run_ended(trained: Path, run: Path, tmp_path: Path) -> None:
    main_ = "int main(void)\n{\n    start();\n    for (unsigned i = 0; i < ADAMB_BLOCK_WORDS; i++)"
    main_ += ' printf("%u ", block[i]);\n    return 0;\n}\n'
    text = (trained / "example_main.c").read_text().replace("int main(void)", "int loop_main(void)") + main_
    shown = c_output(text, trained, tmp_path, "-DADAMB_SIMULATE=1")
    assert list(map(int, shown.split())) == array("H", (run / "block.bin").read_bytes()).tolist()


def test_the_library_has_a_sketch_of_it(run: Path, tmp_path: Path) -> None:
    need("cc", "c++")
    made = tmp_path / "AdaMB"
    assert main(["port", str(run), "--trained", "--runtime", "library", "--out", str(made)]) == 0
    assert [path.name for path in (made / "examples").iterdir()] == ["loop"]
    (tmp_path / "Arduino.h").write_text(ARDUINO_H)
    sketch = f'#include <Arduino.h>\n#include "{made}/examples/loop/loop.ino"\nint main(void) {{ setup(); loop(); }}\n'
    (tmp_path / "sketch.cpp").write_text(sketch)
    ran("cc", "-std=c99", "-O1", "-c", *sorted((made / "src").glob("*.c")), folder=tmp_path)
    include = [f"-I{made / 'src'}", f"-I{tmp_path}"]
    ran("c++", *STRICT, *include, "-DADAMB_SIMULATE=1", "-c", "sketch.cpp", folder=tmp_path)
    ran("c++", *sorted(tmp_path.glob("*.o")), "-o", "sketch", folder=tmp_path)
    ran(tmp_path / "sketch", folder=tmp_path)


def test_without_ranges_the_coordinates_have_their_numbers(oven: Path, tmp_path: Path) -> None:
    assert main(["port", f"{oven}:Plain", "--runtime", "c", "--out", str(tmp_path / "made")]) == 0
    plant = (tmp_path / "made" / "plant.h").read_text()
    assert "read_state_1(void)" in plant and "read_state_2(void)" in plant and "set_action_1(int32_t" in plant


def test_any_word_can_be_a_name(oven: Path, tmp_path: Path) -> None:
    need("make", "cc")
    assert main(["port", f"{oven}:Words", "--runtime", "c", "--out", str(tmp_path / "made")]) == 0
    assert "mean reward" in ran("make", "run", "CFLAGS=-O2 -Werror -Wpedantic", folder=tmp_path / "made")


# ---- MicroPython -----------------------------------------------------------------------------------------

PLANT = """
import sys
import plant

class Oven(plant.Plant):
    periods = 0

    def say(self, event):
        print(event, end="")

    def feed(self):
        self.say("f")

    def read_temperature(self):
        return 10001 if 3 <= self.periods < 6 else 5000

    def read_door(self):
        return 10000

    def set_duty(self, setting):
        self.say("s" if setting == plant.SAFE_DUTY else "o" if 0 <= setting <= 10000 else "!")

    def reward(self, h):
        self.say(h)
        return 30000

    def wait(self):
        self.say("p")
        self.periods += 1
        if self.periods == 12:
            raise KeyboardInterrupt

oven = Oven()
import main
try:
    main.run(oven)
except KeyboardInterrupt:
    pass
"""


@pytest.fixture(scope="module")
def on_pico(run: Path) -> Path:
    folder = run.parent / "pico"
    assert main(["port", str(run), "--trained", "--board", "pico", "--out", str(folder)]) == 0
    return folder


def test_the_loop_on_a_board_has_the_same_sensors_and_no_other_plant(on_pico: Path) -> None:
    programs = {path.name for path in on_pico.glob("*.py")}
    assert programs == {"adamb_settings.py", "main.py", "manifest.py", "plant.py", "selftest.py"}
    assert '"temperature": (2500, 10000),  # temperature 25 to 100 °C, in 0.01 °C' in (
        on_pico / "adamb_settings.py"
    ).read_text(encoding="utf-8")
    readme = (on_pico / "README.md").read_text()
    assert not re.search(r"heater|simulate\.py|main_guarded|adamb_board", readme) and "`plant.py` is yours" in readme
    named = re.findall(r"^\| `([\w.]+)`", readme, re.MULTILINE)
    assert "main.py" in named and all((on_pico / name).is_file() for name in named if "." in name), named


def test_on_a_board_a_reading_out_of_range_is_neither_acted_on_nor_learnt_from(on_pico: Path) -> None:
    files = copied(on_pico, "mpy", "adamb_settings.py", "main.py", "trained.sav")
    files["/plant.py"] = (on_pico / "plant.py").read_text().replace("SAFE_DUTY = None", "SAFE_DUTY = 1234")
    shown = run_program(PLANT, files, seconds=200).require_success().output
    # The third period ends with a reading out of range, and two episodes end in between.
    assert shown == "s" + "fop0fop1fops" + 3 * "fsp" + "fop2fop3" + "fop0fop1fop2fop", shown


def test_on_a_board_nothing_starts_before_a_safe_setting_is_chosen(on_pico: Path) -> None:
    files = copied(on_pico, "mpy", "adamb_settings.py", "main.py", "plant.py", "trained.sav")
    ended = run_program("exec(open('main.py').read(), {'__name__': '__main__'})\n", files, seconds=200)
    assert "choose the safe settings in plant.py" in ended.errors + ended.output
