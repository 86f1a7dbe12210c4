"""`adamb port` from a problem or a run: shape, options, cap, and what was learnt."""

from __future__ import annotations

import re
import shutil
import textwrap
from array import array
from pathlib import Path
from typing import Any

import pytest

from adamb.budgets.boards import load_board
from adamb.firmware_model import _spec, controller, core
from adamb.firmware_model.host import binding
from adamb.tools.cli import main
from adamb.tools.device.micropython.interpreter import run_program
from adamb.tools.device.port.job import PLANTS, PortJob
from adamb.tools.device.port.micropython import API
from adamb.tools.device.settings import DeviceSettings
from support.building import ARDUINO_H, STRICT, c_output, need, ran
from support.campaigns import few
from support.command import adamb, refused
from support.on_board import copied

pytest.importorskip("ziglang", reason="pip install adamb[device]")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "mine"
    options = [
        "--agent-set",
        "phi=2",
        "--agent-set",
        "when_full=freeze",
        "--agent-set",
        "detect=off",
        "--budget",
        "2KiB",
        "--record",
    ]
    assert main(["run", "oil-2d", "--episodes", "150", "--seeds", "2", *options, "--out", str(folder)]) == 0
    return folder


def settings_of(folder: Path) -> dict[str, object]:
    """The configuration of the controller that is made with them, and its words."""
    found: dict[str, Any] = {}
    text = (folder / "adamb_settings.py").read_text()
    exec(text.replace("from adamb import", "from adamb.firmware_model.controller import"), found)
    made = controller.Controller(**found["SETTINGS"])
    fields = {name: getattr(made.config, name) for name in DeviceSettings(1, 1, 1).fields()}
    return fields | {"words": len(made.block)}


def exported(tmp_path: Path, *arguments: object) -> Path:
    assert main(["port", *map(str, arguments), "--out", str(tmp_path / "made")]) == 0
    return tmp_path / "made"


def test_a_problem_gives_its_dimensions_and_its_horizon(tmp_path):
    made = settings_of(exported(tmp_path, "oil-2d", "--board", "pico", "--agent-set", "bonus=0.5,seed=9"))
    assert (made["d_s"], made["d_a"], made["horizon"]) == (2, 2, 5)
    assert (made["bonus"], made["auto_bonus"], made["seed"]) == (2048, 0, 9)


def test_a_run_gives_its_options_and_its_cap_and_both_can_be_changed(tmp_path, run):
    made = settings_of(exported(tmp_path / "a", run, "--board", "pico"))
    assert (made["d_s"], made["when_full"], made["detect"], made["words"]) == (2, 1, 0, 1024)
    assert list(made["thresholds"][:3]) == [2, 8, 32]
    changed = [
        "--agent-set",
        "when_full=reclaim",
        "--agent-set",
        "detect=on",
        "--agent-set",
        "phi=1",
        "--budget",
        "4KiB",
    ]
    made = settings_of(exported(tmp_path / "b", run, "--board", "pico", *changed))
    assert (made["when_full"], made["detect"], made["words"]) == (0, 1, 2048)
    assert list(made["thresholds"][:3]) == [1, 4, 16]


@pytest.mark.parametrize("board", few(["microbit", "pico", "generic-cortex-m0-8k"]))
def test_for_c_the_block_suits_the_board(board, tmp_path):
    header = (exported(tmp_path, "--runtime", "c", "--board", board) / "adamb_settings.h").read_text()
    size = 2 * int(re.search(r"ADAMB_BLOCK_WORDS (\d+)u", header)[1])
    available = load_board(board).available_bytes("c")
    assert size == min(16384, 1 << (available // 4).bit_length() - 1)


STEPS = """
state, action = array("H", (0, 0)), array("H", (0, 0))
for k in range(40):
    controller.act(k % 5, state, action)
    state[0], state[1] = (action[0] * 3 + k * 977) & 0xFFFF, action[1]
    controller.observe(k % 5, action[0], state)
    if k % 5 == 4:
        controller.end_episode()
"""


def gone_on(run: Path) -> list[int]:
    """The block of the run after the steps, by the C core on this computer."""
    block = array("H", (run / "block.bin").read_bytes())
    names = {"array": array, "controller": binding.Controller(block)}
    exec(STEPS, names)
    return block.tolist()


def test_on_micropython_the_controller_goes_on_where_the_run_ended(tmp_path, run):
    folder = exported(tmp_path, run, "--trained", "--board", "pico")
    loop = (folder / "main.py").read_text()
    start = textwrap.dedent(loop[loop.index("        self.controller") : loop.index("        self.state")])
    names = ("array import array", "adamb import Controller", "adamb_settings import SETTINGS")
    imports = "".join(f"from {name}\n" for name in names)
    program = imports + start.replace("self.", "") + STEPS + "print(*controller.block)\n"
    files = copied(folder, "mpy", "adamb_settings.py", "trained.sav")
    shown = run_program(program, files).require_success().output
    assert list(map(int, shown.split())) == gone_on(run)


def test_a_trained_block_of_another_version_is_refused(run, tmp_path, capsys):
    old = tmp_path / "old"
    shutil.copytree(run, old)
    words = array("H", (old / "block.bin").read_bytes())
    words[_spec.H_HASH] ^= 1
    (old / "block.bin").write_bytes(words.tobytes())
    error = refused(capsys, "port", old, "--trained", "--runtime", "c", "--out", tmp_path / "made")
    assert "is not a block of this version" in error and not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--trained"], "name the folder of a run made with --record"),
        (["oil-2d", "--trained"], "is no folder of a run"),
        (["oil-2d", "--dims", "1+1"], "oil-2d has its own dimensions; leave it out"),
        (["oil-2d", "--horizon", "7"], "horizon = 7: oil-2d has its own horizon; leave it out"),
        (["oil-3d"], "did you mean oil-2d?"),
        (["RUN", "--trained", "--agent-set", "phi=1"], "keeps the options of its run"),
        (["RUN", "--trained", "--budget", "1KiB"], "the trained block has 2048 bytes"),
        (["--agent-set", "detect=maybe"], "must be one of off, on"),
        (["--agent-set", "seed=-1"], "must be from 0 to 65535"),
    ],
)
def test_what_does_not_go_together_is_one_line(arguments, complaint, run, tmp_path, capsys):
    given = [run if word == "RUN" else word for word in arguments]
    assert complaint in refused(capsys, "port", *given, "--runtime", "c", "--out", tmp_path / "made")


@pytest.mark.parametrize(
    ("source", "complaint"),
    [("gym:Pendulum-v1", "has 200 steps, at most 31 are planned"), ("gym:CartPole-v1", "has 500 steps")],
)
def test_an_environment_too_long_is_answered_by_the_way_to_port_it(source, complaint, tmp_path, capsys):
    """A horizon that was typed had been refused as known already, so that there was no way on."""
    for more in ((), ("--horizon", 20)):
        error = refused(capsys, "port", source, "--runtime", "c", *more, "--out", tmp_path / "made")
        assert complaint in error and "adamb port DIR" in error


def test_that_way_ends_in_a_port(tmp_path):
    run = ["run", "gym:Pendulum-v1", "--set", "horizon=8", "--set", "continuing=yes", "--episodes", "3", "--seeds", "1"]
    assert main([*run, "--quiet", "--out", str(tmp_path / "run")]) == 0
    made = settings_of(exported(tmp_path, tmp_path / "run", "--board", "pico"))
    assert (made["d_s"], made["d_a"], made["horizon"]) == (3, 1, 8)


def test_a_folder_that_is_no_run_is_not_taken_for_the_name_of_a_problem(tmp_path, capsys):
    error = refused(capsys, "port", tmp_path, "--runtime", "c", "--out", tmp_path / "made")
    assert "is no folder of a run" in error


def test_a_run_of_a_baseline_or_without_a_recording_is_refused(tmp_path, capsys):
    for agent in ("random", "adamb"):
        command = ["run", "oil-laplace", "--agent", agent, "--episodes", 5, "--out", tmp_path / agent]
        assert adamb(capsys, *command)[0] == 0
    made = ["--runtime", "c", "--out", tmp_path / "made"]
    assert "is a run of random" in refused(capsys, "port", tmp_path / "random", *made)
    assert "add --record" in refused(capsys, "port", tmp_path / "adamb", "--trained", *made)


def test_a_readme_says_which_coordinates_the_loops_leave_to_you() -> None:
    """The loops know one sensor and one actuator; nothing had said so where there are more."""
    for dims, said in {(3, 2): ["state[1]", "state[2]", "action[1]"], (1, 1): []}.items():
        text = PortJob(DeviceSettings(*dims, 5), 4096, Path("made"), "adamb port").more_coordinates()
        assert re.findall(r"`((?:state|action)\[\d\])`", text) == said


def test_the_export_holds_the_specification_and_the_calls(tmp_path):
    folder = exported(tmp_path, "--board", "pico")
    assert (folder / "SPEC.md").read_bytes() == (Path(core.__file__).parent / "SPEC.md").read_bytes()
    readme = (folder / "README.md").read_text()
    for name in API:
        assert re.search(rf"\| `{re.escape(name)}\([^`]*\)` \| [^|]+ \|\n", readme), name


@pytest.fixture(scope="module")
def motor_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "motor"
    options = ["--episodes", "60", "--seeds", "1", "--budget", "2KiB", "--record", "--out", str(folder)]
    assert main(["run", "plant-motor", *options]) == 0
    return folder


def trained(run: Path, folder: Path, *options: str) -> Path:
    assert main(["port", str(run), "--trained", "--runtime", "c", *options, "--out", str(folder)]) == 0
    return folder


def words_of(run: Path) -> list[int]:
    return array("H", (run / "block.bin").read_bytes()).tolist()


def block_after(call: str, block: str) -> str:
    """A main that prints the words of a block."""
    return (
        f"int main(void)\n{{\n    {call};\n    for (unsigned i = 0; i < ADAMB_BLOCK_WORDS; i++)"
        f' printf("%u ", {block}[i]);\n    return 0;\n}}\n'
    )


def test_the_sketch_of_the_plant_goes_on_where_the_run_ended(motor_run: Path, tmp_path: Path) -> None:
    """A package had brought what was learnt, and none of its examples had used it."""
    need("cc", "c++")
    made = trained(motor_run, tmp_path / "AdaMB", "--runtime", "library")
    (tmp_path / "Arduino.h").write_text(ARDUINO_H)
    sketch = f'#include <Arduino.h>\n#include "{made}/examples/motor/motor.ino"\n'
    (tmp_path / "sketch.cpp").write_text(sketch + block_after("setup()", "controller.block()"))
    include = [f"-I{made / 'src'}", f"-I{tmp_path}"]
    ran("cc", "-std=c99", "-O1", "-c", *sorted((made / "src").glob("*.c")), folder=tmp_path)
    ran("c++", *STRICT, *include, "-c", "sketch.cpp", folder=tmp_path)
    ran("c++", *sorted(tmp_path.glob("*.o")), "-o", "sketch", folder=tmp_path)
    assert list(map(int, ran(tmp_path / "sketch", folder=tmp_path).split())) == words_of(motor_run)
    others = [made / "examples" / plant / f"{plant}.ino" for plant in PLANTS if plant != "motor"]
    assert not [path.name for path in others if "adamb_trained" in path.read_text()], "of another plant"


def test_a_controller_that_was_trained_for_this_plant_is_good_from_its_first_episode(tmp_path: Path) -> None:
    """The exit code had said that it failed, because its last episodes were no better than its first."""
    options = ["--episodes", "600", "--seeds", "1", "--budget", "4KiB", "--record", "--set", "instance=paper"]
    assert main(["run", "plant-motor", *options, "--out", str(tmp_path / "run")]) == 0
    need("make", "cc")
    said = ran("make", "run", folder=trained(tmp_path / "run", tmp_path / "c"))
    found = re.search(r"step: (0\.\d+) in the first 50 episodes", said)
    assert found and float(found[1]) > 0.8, said


def test_a_run_without_a_cap_is_refused_with_the_way_out(tmp_path: Path, capsys) -> None:
    """Its block has the most bytes that a block can have, and a board had been asked for them."""
    options = ["--episodes", "20", "--seeds", "1", "--record", "--out", str(tmp_path / "run")]
    assert main(["run", "plant-motor", *options]) == 0
    capsys.readouterr()
    for target in (["--runtime", "c"], ["--board", "pico"]):
        says = refused(capsys, "port", tmp_path / "run", "--trained", *target, "--out", tmp_path / "no")
        assert "its run had no cap" in says and "run it with --budget 4KiB" in says
    assert main(["port", str(tmp_path / "run"), "--runtime", "c", "--out", str(tmp_path / "c")]) == 0, "without it"
    assert "block of 4096 bytes" in capsys.readouterr().out


def test_the_package_installs_what_was_learnt_and_asks_for_its_bytes(motor_run: Path, tmp_path: Path) -> None:
    made = trained(motor_run, tmp_path / "AdaMB", "--runtime", "library")
    assert "src/adamb_trained.h\n" in (made / "CMakeLists.txt").read_text()
    assert "range 2048 " in (made / "Kconfig").read_text(), "less could not hold the trained block"
    assert "adamb_trained.h" in (made / "README.md").read_text()


@pytest.mark.parametrize(
    ("loop", "call"),
    [
        ("example_main.c", "start()"),
        ("guarded/guarded_main.c", "guarded_start(), block[ADAMB_H_UNITS] ^= 1, guarded_start()"),
    ],
)
def test_a_loop_in_c_goes_on_where_the_run_ended(motor_run: Path, tmp_path: Path, loop: str, call: str) -> None:
    """The guarded loop keeps it as its first save, and has it again after damage."""
    made = trained(motor_run, tmp_path / "c")
    text = (made / loop).read_text().replace("int main(void)", "int loop_main(void)") + block_after(call, "block")
    shown = c_output(text, made, tmp_path, "-DADAMB_SIMULATE=1")
    assert list(map(int, shown.split())) == words_of(motor_run)
