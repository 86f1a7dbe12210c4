"""`adamb port` writes folders that build, run and learn without anything of ours installed."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from adamb.firmware_model import _spec
from adamb.tools.cli import main
from adamb.tools.device.emulator import core
from adamb.tools.device.emulator.compile import Image, build_image
from adamb.tools.device.extras import DeviceToolFailed
from adamb.tools.device.micropython.interpreter import Run, run_program
from adamb.tools.device.micropython.package import board_sources
from adamb.tools.device.port import job
from adamb.tools.device.port.micropython import install_commands
from support.building import need, ran
from support.command import refused
from support.on_board import copied
from support.paths import ROOT
from support.stubs import check

pytest.importorskip("ziglang", reason="pip install adamb[device]")


def test_the_c_folder_holds_the_core_unchanged(c_folder: Path) -> None:
    for path in [*core.sources(), *core.c_folder().glob("*.h")]:
        assert (c_folder / path.name).read_bytes() == path.read_bytes()


def test_no_placeholder_is_left_in_a_generated_file(c_folder: Path, library: Path, pico: Path) -> None:
    for path in (path for folder in (c_folder, library, pico) for path in folder.rglob("*") if path.is_file()):
        assert not re.search(rb"@[A-Z_]+@", path.read_bytes()), path.name


def test_the_c_example_builds_without_warnings_and_learns(c_folder: Path) -> None:
    need("make", "cc")
    said = ran("make", "run", "CFLAGS=-O2 -Werror -Wpedantic", folder=c_folder)
    first, last = re.findall(r"(\d\.\d+) in the", said)
    assert float(last) > 0.82 and float(last) > float(first) + 0.15, said
    assert "0 readings were out of range" in said


def test_the_core_as_one_file_builds_without_warnings_and_plays_the_same(c_folder: Path, tmp_path: Path) -> None:
    need("make", "cc")
    one = tmp_path / "one"
    assert main(["port", "--runtime", "one-file", "--budget", "2KiB", "--out", str(one)]) == 0
    assert [path.name for path in one.glob("adamb*.c")] == ["adamb.c"]
    run = ("make", "--no-print-directory", "run", "CFLAGS=-O2 -Werror -Wpedantic")
    said = [ran(*run, folder=folder) for folder in (c_folder, one)]
    played = [text[text.index("in the") :] for text in said]
    assert played[0] == played[1]


def test_the_c_folder_builds_with_cmake(c_folder: Path) -> None:
    need("cmake", "cc")
    for arguments in (["-S", ".", "-B", "made", "-DADAMB_EXAMPLE=ON"], ["--build", "made"]):
        ran("cmake", *arguments, folder=c_folder)
    ran(c_folder / "made" / "adamb_example")


def test_the_c_loop_links_for_a_microcontroller(c_folder: Path, tmp_path: Path) -> None:
    board = tmp_path / "board.c"
    board.write_text(
        '#include "plants/board.h"\nvoid board_begin(void) {}\nint32_t board_sensor(void) { return 600; }\n'
        "void board_actuator(int32_t setting) { (void)setting; }\nvoid board_wait(void) {}\n"
        "void board_feed_watchdog(void) {}\n"
    )
    sources = [*sorted(c_folder.glob("*.c")), board]
    image = Image(build_image(sources, target="cortex-m0plus", roots=["main"], includes=[c_folder]))
    assert image.sizes.data_bytes == 0
    assert image.sizes.bss_bytes == 2048 + 3 * 16, "the block and three units with their counters"


def test_a_folder_that_is_not_empty_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    assert "not empty" in refused(capsys, "port", "--runtime", "c", "--out", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--runtime", "c", "--budget", "100B"], "needs at least"),
        (["--runtime", "c", "--dims", "4+1"], "dims"),
        (["--runtime", "c", "--board", "microbit", "--budget", "16KiB"], "16384 bytes required"),
        (["--runtime", "c", "--deploy", "/dev/ttyACM0"], "deploy"),
        ([], "name a board"),
        (["--board", "nonsense"], "nonsense"),
        (["--board", "microbit"], "10048 bytes of heap"),
        (["--board", "microbit"], "adamb port --runtime c --board nrf51"),
        (["--board", "pico", "--budget", "200KiB"], "209936 available"),
    ],
)
def test_an_impossible_port_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], complaint: str
) -> None:
    assert complaint in refused(capsys, "port", "--out", tmp_path / "new", *arguments)
    assert not (tmp_path / "new").exists()


def on_the_board(folder: Path, kind: str, script: str, **more: bytes | str) -> Run:
    """Run a script in MicroPython with the port copied where its README says."""
    files = copied(folder, kind, "adamb_settings.py", "vectors.bin", "selftest.py")
    files |= {f"/{name.replace('_dot_', '.')}": content for name, content in more.items()}
    return run_program(script, files, seconds=200)


@pytest.mark.parametrize("kind", ["py", "mpy"])
def test_the_self_test_passes_on_micropython(pico: Path, kind: str) -> None:
    run = on_the_board(pico, kind, (pico / "selftest.py").read_text())
    assert (run.output, run.status) == ("PASS\n", 0), run.errors


def test_the_readme_says_how_to_try_it_on_a_computer(pico: Path) -> None:
    lines = [line for line in (pico / "README.md").read_text().splitlines() if line.startswith("PYTHONPATH=")]
    assert [line.split()[-1] for line in lines] == ["selftest.py", "simulate.py"]
    done = subprocess.run(lines[0], shell=True, cwd=pico, capture_output=True, text=True, check=True)
    assert done.stdout == "PASS\n", done.stderr


def test_a_self_test_that_fails_on_a_computer_has_its_exit_code(pico: Path, tmp_path: Path) -> None:
    vectors = bytearray((pico / "vectors.bin").read_bytes())
    vectors[-1] ^= 1
    (tmp_path / "vectors.bin").write_bytes(vectors)
    command = [sys.executable, str(pico / "selftest.py")]
    path = {**os.environ, "PYTHONPATH": str(pico / "py")}
    done = subprocess.run(command, cwd=tmp_path, env=path, capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout.startswith("FAIL "), done.stderr


def test_the_self_test_passes_without_the_optional_module_and_uses_it_where_it_is(pico: Path) -> None:
    script = (pico / "selftest.py").read_text()
    files: dict[str, Path | bytes | str] = {
        f"/lib/{path.relative_to(pico / 'mpy').as_posix()}": path for path in (pico / "mpy").rglob("*.mpy")
    }
    files["/vectors.bin"] = pico / "vectors.bin"
    place = "/lib/adamb/check"
    del files[f"{place}.mpy"]
    assert run_program(script, files).output == "PASS\n"
    unhappy = "def check(w):\n    return -4\ndef stats(w):\n    return {'episodes': 60}\n"
    run = run_program(script, {**files, f"{place}.py": unhappy})
    assert run.output == "FAIL the self-check returned -4, and counts 60 episodes\n"


@pytest.mark.parametrize(
    ("word", "complaint"), [(5 + 12 + 15 + 1, "action 0 is"), (-1, "the block is"), (5, "init returned")]
)
def test_the_self_test_names_the_first_difference(pico: Path, word: int, complaint: str) -> None:
    vectors = bytearray((pico / "vectors.bin").read_bytes())
    vectors[2 * word] ^= 0x40
    run = on_the_board(pico, "mpy", (pico / "selftest.py").read_text(), vectors_dot_bin=bytes(vectors))
    assert run.output.startswith("FAIL "), run.errors
    assert complaint in run.output


@pytest.mark.parametrize("name", ["example_main.c", "guarded/guarded_main.c"])
def test_an_example_looks_at_the_code_of_every_call(c_folder: Path, name: str) -> None:
    found = re.findall(
        r"^(.*?)adamb_(?:act|observe|end_episode|guard_save)\(", (c_folder / name).read_text(), re.MULTILINE
    )
    assert len(found) >= 3
    for before in found:
        assert before.rstrip().endswith(("=", "(", "guard,")), before


def test_device_python_uses_only_what_boards_have(pico: Path) -> None:
    files = {path.relative_to(pico / "py").as_posix(): path for path in (pico / "py").rglob("*.py")}
    programs = ("main.py", "simulate.py", "adamb_board.py", "plant.py", "selftest.py", "adamb_settings.py")
    files |= {name: pico / name for name in programs}
    assert len(files) == len(board_sources(optional=True)) + 6
    try:
        found = check(files)
    except DeviceToolFailed as error:
        pytest.skip(str(error))
    assert found == []


def test_mip_finds_every_file_it_lists(pico: Path) -> None:
    content = json.loads((pico / "package.json").read_text())
    assert set(content) == {"urls", "deps", "version"}
    listed = {source for _, source in content["urls"]}
    assert listed == {path.relative_to(pico).as_posix() for path in (pico / "mpy").rglob("*.mpy")}
    assert all(source == f"mpy/{place}" for place, source in content["urls"])


def test_the_manifest_names_a_package_that_is_there(pico: Path) -> None:
    called: dict[str, dict[str, str]] = {}
    names = {
        "metadata": lambda **given: called.update(metadata=given),
        "package": lambda name, base_path: called.update(package={"name": name, "base_path": base_path}),
    }
    exec((pico / "manifest.py").read_text(), names)
    assert (pico / called["package"]["base_path"] / called["package"]["name"]).is_dir()
    assert set(called["metadata"]) == {"description", "version"}


class BoardFiles:
    """Stands in for a board: what mpremote's installer writes ends up here."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def fs_exists(self, path: str) -> bool:
        return False

    def fs_mkdir(self, path: str) -> None:
        pass

    def fs_writefile(self, path: str, data: bytes, **_: object) -> None:
        self.files[path] = data


def test_mpremote_installs_the_whole_package_from_the_folder(pico: Path) -> None:
    installer = pytest.importorskip("mpremote.mip", reason="pip install adamb[device]")
    board = BoardFiles()
    command = install_commands(pico)[0]
    assert command[:4] == ["mip", "install", "--target", "/lib"]
    installer._install_json(board, command[4], None, "/lib", None, True)
    assert board.files == {
        f"/lib/{path.relative_to(pico / 'mpy').as_posix()}": path.read_bytes() for path in (pico / "mpy").rglob("*.mpy")
    }
    assert len(board.files) == len(board_sources(optional=True))


def test_the_readme_gives_the_commands_that_deploying_runs(pico: Path) -> None:
    readme = (pico / "README.md").read_text()
    for arguments in [*install_commands(Path(".")), ["run", "selftest.py"]]:
        words = ["./" + word if word == "package.json" else word for word in arguments if word != "fs"]
        assert f"mpremote connect PORT {' '.join(words)}\n" in readme


def test_a_port_without_a_board_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("mpremote", reason="pip install adamb[device]")
    arguments = ["--board", "pico", "--out", str(tmp_path / "new"), "--deploy", "/dev/does-not-exist"]
    assert main(["port", *arguments]) == 2
    assert "does-not-exist" in capsys.readouterr().err


@pytest.mark.parametrize(("size", "warned"), [("64KiB", True), ("32KiB", False)])
def test_a_save_that_may_outlast_the_watchdog_is_warned_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], size: str, warned: bool
) -> None:
    assert main(["port", "--board", "pico", "--budget", size, "--out", str(tmp_path / "new")]) == 0
    said = capsys.readouterr().err
    text = "warning: a save of main_guarded.py may take 16 s, and the watchdog resets the board after 8.3 s"
    assert (f"{text}; take --budget 32KiB or less\n" in said) == warned == ("warning" in said)


def test_both_exports_say_when_a_controller_restarts_and_how_to_stop_that(c_folder: Path, pico: Path) -> None:
    for folder in (c_folder, pico):
        readme = " ".join((folder / "README.md").read_text().split())
        assert f"for {1 << _spec.DETECT_SPELL_SHIFT} episodes" in readme
        assert "`restarts`" in readme and "`adamb port --agent-set detect=off`" in readme


KINDS = {
    "c": ["--runtime", "c", "--budget", "2KiB"],
    "c package": ["--runtime", "library", "--budget", "2KiB"],
    "micropython": ["--board", "pico"],
    "micropython with usermod": ["--board", "pico", "--runtime", "usermod"],
}


@pytest.fixture(scope="module", params=KINDS)
def export(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of its own: other tests build in the one that they share."""
    folder = tmp_path_factory.mktemp("port") / "export"
    assert main(["port", *KINDS[request.param], "--out", str(folder)]) == 0
    return folder


def test_the_bill_lists_every_file_of_the_folder_with_its_hash(export: Path) -> None:
    content = json.loads((export / job.BILL).read_text(encoding="utf-8"))
    listed = {part["name"]: part["hashes"][0]["content"] for part in content["components"]}
    there = [path for path in export.rglob("*") if path.is_file() and path.name != job.BILL]
    made = {path.relative_to(export).as_posix(): path.read_bytes() for path in there}
    assert listed == {name: hashlib.sha256(data).hexdigest() for name, data in made.items()}
    assert all(part["licenses"] == [{"license": {"id": "MIT"}}] for part in content["components"])
    tools = {tool["name"] for tool in content["metadata"]["tools"]["components"]}
    assert tools == ({"adamb", "mpy-cross"} if "main.py" in made else {"adamb"})


def test_the_licence_is_in_the_folder(export: Path) -> None:
    assert (export / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_the_same_files_give_the_same_bill_and_others_another() -> None:
    files = {"b.c": b"int b;\n", "a.c": b"int a;\n"}
    bill = job.bill(files, "export", "1")
    assert bill == job.bill(dict(reversed(files.items())), "export", "1")
    other = job.bill(files | {"a.c": b"int c;\n"}, "export", "1")
    assert json.loads(bill)["serialNumber"] != json.loads(other)["serialNumber"]
