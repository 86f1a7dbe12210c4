"""`--core board:socket://…` with MicroPython in QEMU, from its sources: Cortex-M3 and Cortex-M0 decide."""

from __future__ import annotations

import json

import pytest

from adamb.tools.device.micropython import sources
from adamb.tools.device.micropython.machine import MACHINES
from support.command import adamb, refused
from support.native import needs_qemu
from support.qemu_board import machine

pytestmark = needs_qemu
TASK = ("oil-laplace", "--budget", "1KiB", "--episodes", 4, "--seeds", 1)


def told(capsys, *more: object) -> tuple[dict, str]:
    """What a run says, and what it tells on the way."""
    code, out, error = adamb(capsys, "run", *TASK, *more, "--json", "-")
    assert code == 0, error
    return json.loads(out), error


@pytest.mark.parametrize(
    ("name", "native"), [("mps2-an385", True), ("mps2-an385", False), ("microbit", False)]
)
def test_the_digest_is_that_of_the_c_core_and_the_board_is_left_as_it_was(capsys, name, native):
    firmware = sources.qemu_firmware(name, native=native)
    here, _ = told(capsys, "--core", "c")
    with machine(*MACHINES[name], "-semihosting", "-kernel", str(firmware)) as place:
        for _ in range(2 if native else 1):
            there, error = told(capsys, "--core", f"board:{place}")
            assert there["digest"] == here["digest"]
            assert there["reward_per_episode"] == here["reward_per_episode"]
            assert there["target"]["software"].endswith("qemu C core" if native else "qemu")
            assert there["target"]["blocks_compared"] == 4 and "act" not in there["target"], "it has no clock"
            assert "there is no file system; files are kept in its heap" in error
            assert f"copying {1 if native else 19} files" in error, "the reset has taken what was there"


def test_a_block_that_its_heap_does_not_hold_is_one_line(capsys):
    """200 KiB of heap hold the Python core and its files, but not so large a block beside them."""
    firmware = sources.qemu_firmware("microbit", native=False)
    with machine(*MACHINES["microbit"], "-semihosting", "-kernel", str(firmware)) as place:
        task = ["oil-laplace", "--budget", "124KiB", "--episodes", 2, "--core", f"board:{place}", "--quiet"]
        assert "bytes of heap are free" in refused(capsys, "run", *task)
