"""`adamb port RUN-FOLDER --trained`: every loop in C of an export goes on from what was learnt."""

from __future__ import annotations

import re
import shutil
import subprocess
from array import array
from pathlib import Path

import pytest

pytest.importorskip("ziglang", reason="pip install adamb[device]")

from adamb.tools.cli import main
from adamb.tools.device.port.common import PLANTS
from support.arduino import ARDUINO_H
from support.command import refused

pytestmark = [
    pytest.mark.skipif(shutil.which("c++") is None or shutil.which("cc") is None, reason="needs cc and c++"),
]
WARNINGS = ["-Wall", "-Wextra", "-Werror"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "motor"
    options = ["--episodes", "60", "--seeds", "1", "--budget", "2KiB", "--record", "--out", str(folder)]
    assert main(["run", "plant-motor", *options]) == 0
    return folder


def exported(run: Path, folder: Path, *options: str) -> Path:
    assert main(["port", str(run), "--trained", "--c", *options, "--out", str(folder)]) == 0
    return folder


def words_of(run: Path) -> list[int]:
    return array("H", (run / "block.bin").read_bytes()).tolist()


def done(*command: object, folder: Path) -> str:
    made = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True)
    assert made.returncode == 0, f"{command}\n{made.stdout}{made.stderr}"
    return made.stdout


def block_after(call: str, block: str) -> str:
    """A main that prints the words of a block."""
    return (
        f"int main(void)\n{{\n    {call};\n    for (unsigned i = 0; i < ADAMB_BLOCK_WORDS; i++)"
        f' printf("%u ", {block}[i]);\n    return 0;\n}}\n'
    )


def test_the_sketch_of_the_plant_goes_on_where_the_run_ended(run: Path, tmp_path: Path) -> None:
    """A package had brought what was learnt, and none of its examples had used it."""
    made = exported(run, tmp_path / "AdaMB", "--package")
    (tmp_path / "Arduino.h").write_text(ARDUINO_H)
    sketch = f'#include <Arduino.h>\n#include "{made}/examples/motor/motor.ino"\n'
    (tmp_path / "sketch.cpp").write_text(sketch + block_after("setup()", "controller.block()"))
    include = [f"-I{made / 'src'}", f"-I{tmp_path}"]
    done("cc", "-std=c99", "-O1", "-c", *sorted((made / "src").glob("*.c")), folder=tmp_path)
    done("c++", *WARNINGS, *include, "-c", "sketch.cpp", folder=tmp_path)
    done("c++", *sorted(tmp_path.glob("*.o")), "-o", "sketch", folder=tmp_path)
    assert list(map(int, done(tmp_path / "sketch", folder=tmp_path).split())) == words_of(run)
    others = [made / "examples" / plant / f"{plant}.ino" for plant in PLANTS if plant != "motor"]
    assert not [path.name for path in others if "adamb_trained" in path.read_text()], "of another plant"


def test_a_controller_that_was_trained_for_this_plant_is_good_from_its_first_episode(tmp_path: Path) -> None:
    """The exit code had said that it failed, because its last episodes were no better than its first."""
    options = ["--episodes", "600", "--seeds", "1", "--budget", "4KiB", "--record", "--instance", "paper"]
    assert main(["run", "plant-motor", *options, "--out", str(tmp_path / "run")]) == 0
    said = done("make", "run", folder=exported(tmp_path / "run", tmp_path / "c"))
    found = re.search(r"step: (0\.\d+) in the first 50 episodes", said)
    assert found and float(found[1]) > 0.8, said


def test_a_run_without_a_cap_is_refused_with_the_way_out(tmp_path: Path, capsys) -> None:
    """Its block has the most bytes that a block can have, and a board had been asked for them."""
    options = ["--episodes", "20", "--seeds", "1", "--record", "--out", str(tmp_path / "run")]
    assert main(["run", "plant-motor", *options]) == 0
    capsys.readouterr()
    for target in (["--c"], ["--board", "pico"]):
        says = refused(capsys, "port", tmp_path / "run", "--trained", *target, "--out", tmp_path / "no")
        assert "its run had no cap" in says and "run it with --budget 4KiB" in says
    assert main(["port", str(tmp_path / "run"), "--c", "--out", str(tmp_path / "c")]) == 0, "without it"
    assert "block of 4096 bytes" in capsys.readouterr().out


def test_the_package_installs_what_was_learnt_and_asks_for_its_bytes(run: Path, tmp_path: Path) -> None:
    made = exported(run, tmp_path / "AdaMB", "--package")
    assert "src/adamb_trained.h\n" in (made / "CMakeLists.txt").read_text()
    assert "range 2048 " in (made / "Kconfig").read_text(), "less could not hold the trained block"
    assert "adamb_trained.h" in (made / "README.md").read_text()


def test_the_guarded_loop_goes_on_too_and_keeps_it_as_its_first_save(run: Path, tmp_path: Path) -> None:
    """It had started with nothing, and after damage before its first save it would have again."""
    made = exported(run, tmp_path / "c")
    loop = (made / "guarded" / "guarded_main.c").read_text().replace("int main(void)", "int loop_main(void)")
    twice = "guarded_start(), block[ADAMB_H_UNITS] ^= 1, guarded_start()"
    (made / "dump.c").write_text(loop + block_after(twice, "block"))
    sources = [path.name for path in made.glob("adamb_*.c")]
    command = ["cc", "-std=c99", *WARNINGS, "-DADAMB_SIMULATE=1", "-I.", "dump.c", *sources, "-o", "dump"]
    done(*command, folder=made)
    assert list(map(int, done(made / "dump", folder=made).split())) == words_of(run)
