"""`adamb port` from a problem or a run: shape, options, cap, and what was learnt."""

from __future__ import annotations

import re
import shutil
import subprocess
import textwrap
from array import array
from pathlib import Path

import pytest

pytest.importorskip("ziglang", reason="pip install adamb[device]")

from adamb.budgets.boards import load_board
from adamb.firmware_model import _spec, core
from adamb.firmware_model.host import binding
from adamb.tools.cli import main
from adamb.tools.device.micropython.interpreter import run_program
from adamb.tools.device.port.micropython import API
from support.command import adamb, refused
from support.on_board import copied


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "mine"
    options = ["--phi", "2", "--when-full", "freeze", "--detect", "off", "--budget", "2KiB", "--record"]
    assert main(["run", "oil-2d", "--episodes", "150", "--seeds", "2", *options, "--out", str(folder)]) == 0
    return folder


def settings_of(folder: Path) -> dict[str, object]:
    found: dict[str, object] = {}
    exec((folder / "adamb_settings.py").read_text(), found)
    return vars(found["CONFIG"]) | {"words": found["BLOCK_WORDS"]}


def exported(tmp_path: Path, *arguments: object) -> Path:
    assert main(["port", *map(str, arguments), "--out", str(tmp_path / "made")]) == 0
    return tmp_path / "made"


def test_a_problem_gives_its_dimensions_and_its_horizon(tmp_path):
    made = settings_of(exported(tmp_path, "oil-2d", "--board", "pico", "--bonus", "0.5", "--seed", 9))
    assert (made["d_s"], made["d_a"], made["horizon"]) == (2, 2, 5)
    assert (made["bonus"], made["auto_bonus"], made["seed"]) == (2048, 0, 9)


def test_a_run_gives_its_options_and_its_cap_and_both_can_be_changed(tmp_path, run):
    made = settings_of(exported(tmp_path / "a", run, "--board", "pico"))
    assert (made["d_s"], made["freeze"], made["detect"], made["words"]) == (2, 1, 0, 1024)
    assert made["thresholds"][:3] == (2, 8, 32)
    changed = ["--when-full", "reclaim", "--detect", "on", "--phi", "1", "--budget", "4KiB"]
    made = settings_of(exported(tmp_path / "b", run, "--board", "pico", *changed))
    assert (made["freeze"], made["detect"], made["words"]) == (0, 1, 2048)
    assert made["thresholds"][:3] == (1, 4, 16)


@pytest.mark.parametrize("board", ["pico", "microbit", "generic-cortex-m0-8k"])
def test_for_c_the_block_suits_the_board(board, tmp_path):
    header = (exported(tmp_path, "--c", "--board", board) / "adamb_settings.h").read_text()
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
    start = textwrap.dedent(loop[loop.index("        block = array") : loop.index("        self.controller")])
    names = ("array import array", "adamb.firmware_model import core, snapshot")
    imports = "import adamb_settings\n" + "".join(f"from {name}\n" for name in names)
    program = imports + start + STEPS + "print(*block)\n"
    files = copied(folder, "mpy", "adamb_settings.py", "trained.sav")
    shown = run_program(program, files).require_success().output
    assert list(map(int, shown.split())) == gone_on(run)


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs cc")
def test_in_c_the_controller_goes_on_where_the_run_ended(tmp_path, run):
    folder = exported(tmp_path, run, "--trained", "--c")
    loop = (folder / "example_main.c").read_text()
    start = re.search(r"static int start\(void\)\n\{.*?\n\}", loop, re.DOTALL)[0]
    (folder / "dump.c").write_text(
        '#include <stdio.h>\n#include "adamb_settings.h"\n#include "adamb_snapshot.h"\n'
        '#include "adamb_trained.h"\nstatic uint16_t block[ADAMB_BLOCK_WORDS];\n'
        + start
        + "\nint main(void)\n"
        "{\n    if (start() != 0) return 2;\n    for (unsigned i = 0; i < ADAMB_BLOCK_WORDS; i++) "
        'printf("%u ", block[i]);\n    return 0;\n}\n'
    )
    sources = [path.name for path in folder.glob("*.c") if path.name != "example_main.c"]
    command = ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-I.", *sources, "-o", "dump"]
    subprocess.run(command, cwd=folder, check=True)
    shown = subprocess.run([folder / "dump"], capture_output=True, text=True, check=True).stdout
    assert list(map(int, shown.split())) == array("H", (run / "block.bin").read_bytes()).tolist()


def test_a_trained_block_of_another_version_is_refused(run, tmp_path, capsys):
    old = tmp_path / "old"
    shutil.copytree(run, old)
    words = array("H", (old / "block.bin").read_bytes())
    words[_spec.H_HASH] ^= 1
    (old / "block.bin").write_bytes(words.tobytes())
    error = refused(capsys, "port", old, "--trained", "--c", "--out", tmp_path / "made")
    assert "is not a block of this version" in error and not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--trained"], "name the folder of a run made with --record"),
        (["oil-2d", "--trained"], "is no folder of a run"),
        (["oil-2d", "--state-dims", 1], "oil-2d has its own dimensions; leave it out"),
        (["oil-2d", "--horizon", 7], "horizon = 7: oil-2d has its own horizon; leave it out"),
        (["oil-3d"], "did you mean oil-2d?"),
        (["RUN", "--trained", "--phi", "1"], "keeps the options of its run"),
        (["RUN", "--trained", "--budget", "1KiB"], "the trained block has 2048 bytes"),
        (["--detect", "maybe"], "must be one of off, on"),
        (["--seed", -1], "must be from 0 to 65535"),
    ],
)
def test_what_does_not_go_together_is_one_line(arguments, complaint, run, tmp_path, capsys):
    given = [run if word == "RUN" else word for word in arguments]
    assert complaint in refused(capsys, "port", *given, "--c", "--out", tmp_path / "made")


@pytest.mark.parametrize(
    ("source", "complaint"),
    [("gym:Pendulum-v1", "has 200 steps, at most 31 are planned"), ("gym:CartPole-v1", "has 500 steps")],
)
def test_an_environment_too_long_is_answered_by_the_way_to_port_it(source, complaint, tmp_path, capsys):
    """A horizon that was typed had been refused as known already, so that there was no way on."""
    for more in ((), ("--horizon", 20)):
        error = refused(capsys, "port", source, "--c", *more, "--out", tmp_path / "made")
        assert complaint in error and "adamb port DIR" in error


def test_that_way_ends_in_a_port(tmp_path):
    run = ["run", "gym:Pendulum-v1", "--horizon", "8", "--continuing", "--episodes", "3", "--seeds", "1"]
    assert main([*run, "--quiet", "--out", str(tmp_path / "run")]) == 0
    made = settings_of(exported(tmp_path, tmp_path / "run", "--board", "pico"))
    assert (made["d_s"], made["d_a"], made["horizon"]) == (3, 1, 8)


def test_a_folder_that_is_no_run_is_not_taken_for_the_name_of_a_problem(tmp_path, capsys):
    error = refused(capsys, "port", tmp_path, "--c", "--out", tmp_path / "made")
    assert "is no folder of a run" in error


def test_a_run_of_a_rival_or_without_a_recording_is_refused(tmp_path, capsys):
    for agent in ("random", "adamb"):
        command = ["run", "oil-laplace", "--agent", agent, "--episodes", 5, "--out", tmp_path / agent]
        assert adamb(capsys, *command)[0] == 0
    made = ["--c", "--out", tmp_path / "made"]
    assert "is a run of random" in refused(capsys, "port", tmp_path / "random", *made)
    assert "add --record" in refused(capsys, "port", tmp_path / "adamb", "--trained", *made)


def test_the_export_holds_the_specification_and_the_calls(tmp_path):
    folder = exported(tmp_path, "--board", "pico")
    assert (folder / "SPEC.md").read_bytes() == (Path(core.__file__).parent / "SPEC.md").read_bytes()
    readme = (folder / "README.md").read_text()
    for module, names in API.items():
        for name in names:
            assert re.search(rf"\| `{module}\.{re.escape(name)}\([^`]*\)` \| [^|]+ \|\n", readme), name


def test_every_exported_readme_explains_restarts_and_names_no_section_it_lacks(tmp_path: Path) -> None:
    for name, options in {"c": ["--c"], "package": ["--c", "--package"], "pico": ["--board", "pico"]}.items():
        assert main(["port", *options, "--out", str(tmp_path / name)]) == 0
        text = (tmp_path / name / "README.md").read_text()
        assert "## When the plant changes" in text and "`restarts`" in text and "(below)" not in text, name


@pytest.mark.parametrize("options", [["--c"], ["--c", "--package"], ["--board", "pico"]], ids=" ".join)
def test_a_readme_says_which_coordinates_the_loops_leave_to_you(options: list[str], tmp_path: Path) -> None:
    """The loops know one sensor and one actuator; nothing had said so where there are more."""
    for dims, said in {"3+2": ["state[1]", "state[2]", "action[1]"], "1+1": []}.items():
        folder = tmp_path / dims
        assert main(["port", "--dims", dims, *options, "--out", str(folder)]) == 0
        text = (folder / "README.md").read_text()
        assert re.findall(r"`((?:state|action)\[\d\])`", text) == said
