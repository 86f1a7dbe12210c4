"""Boards in QEMU behind `socket://`: C firmware that serves the link, and the micro:bit's own MicroPython."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from adamb.host_sim import make_problem, simulate
from adamb.tools.device.emulator import core
from adamb.tools.device.emulator.compile import MemoryMap, build_image
from adamb.tools.device.loop import board, transports
from support.command import adamb, refused
from support.qemu import machine, needs_qemu

FIRMWARE = Path("/usr/share/firmware-microbit-micropython/firmware.hex")
needs_firmware = pytest.mark.skipif(
    not FIRMWARE.exists(), reason="apt-get install firmware-microbit-micropython; it is optional"
)


@needs_qemu
def test_firmware_in_c_plays_over_its_uart_what_the_c_core_plays_here():
    program = build_image(
        [Path(__file__).with_name("uart_board.c"), transports.FOLDER / "adamb_link.c", *core.sources()],
        target="cortex-m3",
        roots=["adamb_reset"],
        includes=[core.c_folder(), transports.FOLDER],
        memory=MemoryMap(flash_bytes=4 << 20, ram_bytes=64 << 10),
        defines=core.defines("cortex-m3"),
    )
    results = []
    with machine("-M", "mps2-an385", "-kernel", str(program)) as place:
        for target in (f"board:{place}", "c"):
            problem = make_problem("oil-laplace", [0], episodes=4)
            results.append(simulate(problem, "adamb", budget_bytes="1KiB", core=target))
    there, here = results
    assert there.digest == here.digest and np.array_equal(there.returns, here.returns)
    assert there.target["software"] == "C core" and "act" not in there.target, "it has no clock"


@needs_qemu
@needs_firmware
def test_a_board_whose_heap_is_too_small_is_one_line_and_stays_as_it_was(capsys):
    """The micro:bit's MicroPython leaves 9 KiB; the Python core alone takes four times that."""
    with machine("-M", "microbit", "-device", f"loader,file={FIRMWARE}") as place:
        task = ["oil-laplace", "--budget", "1KiB", "--episodes", 5, "--core", f"board:{place}", "--quiet"]
        for _ in range(2):
            says = refused(capsys, "run", *task)
            assert "bytes of heap are free" in says and f"{board.needed_bytes(512)} are needed" in says


@needs_qemu
@needs_firmware
def test_a_sweep_that_asks_for_such_a_board_names_it_and_goes_on(capsys, tmp_path):
    with machine("-M", "microbit", "-device", f"loader,file={FIRMWARE}") as place:
        (tmp_path / "s.toml").write_text(
            'problems = ["oil-laplace"]\nepisodes = 5\nseeds = 1\nbudgets = ["1KiB"]\n'
            f'agents = ["adamb", {{ name = "adamb", core = "board:{place}", label = "there" }}]\n'
        )
        arguments = [tmp_path / "s.toml", "--out", tmp_path / "s", "--jobs", 1, "--quiet"]
        code, _, error = adamb(capsys, "sweep", *arguments)
    assert code == 2 and "bytes of heap are free" in error and "finished cells are saved" in error
    assert "adamb" in (tmp_path / "s" / "results.csv").read_text()
