"""`--core micropython`: the real interpreter decides and learns, over pipes."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from adamb.firmware_model import _spec
from adamb.firmware_model.host.errors import AdambError
from adamb.host_sim import make_problem, simulate
from adamb.tools.device.emulator.core import HostCore
from adamb.tools.device.loop import board, transports
from adamb.tools.device.loop.link import Link, LinkLost, Timeouts
from adamb.tools.device.settings import DeviceSettings
from support.command import refused
from support.looped import UNIX, play

CORES = ["micropython", pytest.param(f"micropython:{UNIX.program}", marks=UNIX.needed)]


def run(core: str, *, seeds=(0, 1), episodes=8, **options):
    problem = make_problem("oil-laplace", seeds, episodes=episodes)
    return simulate(problem, "adamb", budget_bytes="1KiB", core=core, **options)


@pytest.mark.parametrize("core", CORES)
def test_the_run_is_that_of_the_c_core(core):
    here, there = run("c"), run(core)
    assert there.digest == here.digest and np.array_equal(there.returns, here.returns)
    assert there.target["unit"] == "µs" and there.target["software"].startswith("micropython 1.")
    assert there.target["act"]["calls"] == 2 * 8 * 5 and there.target["observe"]["mean"] > 0


@pytest.mark.parametrize("options", [{"mode": "paper"}, {"share": "off", "when_full": "freeze"}])
def test_options_reach_the_target(options):
    assert run("micropython", seeds=(3,), **options).digest == run("c", seeds=(3,), **options).digest


class Dying(transports.ProcessTransport):
    """A process that dies before its fortieth request, once."""

    left = 40

    def write(self, data):
        Dying.left -= 1
        if Dying.left == 0:
            self._process.kill()
            self._process.wait()
        super().write(data)


def test_a_target_that_dies_is_started_again_with_its_block(monkeypatch):
    monkeypatch.setattr(transports, "ProcessTransport", Dying)
    there = run("micropython", seeds=(5,))
    assert there.digest == run("c", seeds=(5,)).digest and there.target["link"]["returns"] == 1


def test_a_target_that_stays_away_ends_the_run_and_keeps_what_was_done(monkeypatch):
    class Gone(Dying):
        def __init__(self, command):
            if Gone.left <= 0:
                raise LinkLost("no such interpreter any more")
            super().__init__(command)

    Dying.left = 60
    monkeypatch.setattr(transports, "ProcessTransport", Gone)
    with pytest.raises(AdambError, match=r"micropython: .*has not come back") as caught:
        run("micropython", seeds=(5,))
    kept = caught.value.partial
    assert kept.episodes >= 3
    assert np.array_equal(kept.returns, run("c", seeds=(5,)).returns[:, : kept.episodes])


def test_a_program_that_is_not_there_is_one_line(capsys):
    line = refused(capsys, "run", "oil-laplace", "--core", "micropython:/no/such")
    assert "/no/such is not a program" in line
    if shutil.which("micropython") is None:
        assert "apt-get install" in refused(capsys, "run", "oil-laplace", "--core", "micropython:unix")


def test_a_program_that_is_no_micropython_is_one_line(capsys):
    task = ["oil-laplace", "--budget", "1KiB", "--episodes", 5]
    line = refused(capsys, "run", *task, "--core", "micropython:true", "--quiet")
    assert "MicroPython has ended" in line


def test_keep_is_for_boards(capsys):
    line = refused(capsys, "run", "oil-laplace", "--core", "micropython", "--agent-set", "keep=1")
    assert "keep = 1: is for board:PORT" in line


@UNIX.needed
def test_the_heap_that_a_board_is_asked_for_is_enough():
    """`w` scales a size for the words of this computer, so that the heap is that of a 32-bit board."""
    needed = board.needed_bytes(512)

    def command(folder):
        transports.copy_to(folder, "mpy")
        code = f"import sys; sys.path.insert(0, {str(folder)!r}); {transports.MAIN}"
        return [UNIX.program, "-X", f"heapsize={needed}w", "-c", code]

    transport = transports.ProcessTransport(command)
    config = DeviceSettings(1, 1, 5, seed=3).config()
    link = Link(transport, Timeouts(reply_seconds=30.0, tries=1))
    link.hello()
    assert link.init(config, 512) == 0
    play(link, HostCore(config, 512), 100, seed=1)
    assert link.init(config, 60_000) == _spec.ERR_MEMORY, "a block that does not fit is a code, not an end"
    assert link.init(config, 512) == 0
    transport.close()
