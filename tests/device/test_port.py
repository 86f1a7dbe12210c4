"""`adamb port` writes folders that build, run and learn without anything of ours installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from adamb.tools.cli import main
from adamb.tools.device import core
from adamb.tools.device.compile import build_image
from adamb.tools.device.elf import Image

pytest.importorskip("ziglang", reason="pip install adamb[device]")


def run_command(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def c_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("port") / "controller"
    assert main(["port", "--c", "--budget", "2KiB", "--out", str(folder)]) == 0
    return folder


def test_the_c_folder_holds_the_core_unchanged(c_folder: Path) -> None:
    for path in [*core.sources(), *core.c_folder().glob("*.h")]:
        assert (c_folder / path.name).read_bytes() == path.read_bytes()


def test_no_placeholder_is_left_in_a_generated_file(c_folder: Path) -> None:
    for path in c_folder.iterdir():
        assert not re.search(r"@[A-Z_]+@", path.read_text()), path.name


@pytest.mark.skipif(shutil.which("make") is None or shutil.which("cc") is None, reason="needs make and cc")
def test_the_c_example_builds_without_warnings_and_learns(c_folder: Path) -> None:
    done = run_command(c_folder, "make", "run", "CFLAGS=-O2 -Werror -Wpedantic")
    assert done.returncode == 0, done.stderr + done.stdout
    first, last = re.findall(r"(\d\.\d+) in the", done.stdout)
    assert float(last) > 0.9 > float(first)


@pytest.mark.skipif(shutil.which("cmake") is None or shutil.which("cc") is None, reason="needs cmake and cc")
def test_the_c_folder_builds_with_cmake(c_folder: Path) -> None:
    for arguments in (["-B", "made", "-DADAMB_EXAMPLE=ON"], ["--build", "made"]):
        done = run_command(c_folder, "cmake", *(["-S", "."] if "-B" in arguments else []), *arguments)
        assert done.returncode == 0, done.stderr
    assert run_command(c_folder, str(c_folder / "made" / "adamb_example")).returncode == 0


def test_the_c_loop_links_for_a_microcontroller(c_folder: Path, tmp_path: Path) -> None:
    board = tmp_path / "board.c"
    board.write_text(
        "#include <stdint.h>\nint32_t board_sensor(void);\nvoid board_actuator(uint16_t duty);\n"
        "void board_wait(void);\nint32_t board_sensor(void) { return 6000; }\n"
        "void board_actuator(uint16_t duty) { (void)duty; }\nvoid board_wait(void) {}\n"
    )
    sources = [*sorted(c_folder.glob("*.c")), board]
    image = Image(build_image(sources, target="cortex-m0plus", roots=["main"], includes=[c_folder]))
    assert image.sizes.data_bytes == 0
    assert image.sizes.bss_bytes == 2048, "the block is the only variable"


def test_the_size_table_is_measured_on_these_sources(c_folder: Path) -> None:
    flash = core.core_image("cortex-m0plus", "size").sizes.flash_bytes
    assert f"| cortex-m0plus | {flash:,} |" in (c_folder / "README.md").read_text()


def test_a_folder_that_is_not_empty_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    assert main(["port", "--c", "--out", str(tmp_path)]) == 2
    assert "not empty" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--c", "--budget", "100B"], "needs at least"),
        (["--c", "--state-dims", "4"], "state-dims"),
        (["--c", "--board", "microbit", "--budget", "16KiB"], "16384 bytes required"),
        (["--c", "--deploy", "/dev/ttyACM0"], "deploy"),
        ([], "name a board"),
        (["--board", "nonsense"], "nonsense"),
    ],
)
def test_an_impossible_port_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], complaint: str
) -> None:
    assert main(["port", "--out", str(tmp_path / "new"), *arguments]) == 2
    errors = capsys.readouterr().err
    assert complaint in errors
    assert errors.count("\n") == 1
    assert not (tmp_path / "new").exists()
