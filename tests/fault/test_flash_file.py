"""A store in a file keeps its promise through a kill, a full disk and a wrong file."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from array import array

import pytest

from adamb.firmware_model import _spec, check, core, store
from adamb.firmware_model.host.errors import InputError
from adamb.host_sim.flash_file import FileFlash
from adamb.tools.cli import main
from support.campaigns import few
from support.used_blocks import learnt, same_used

WORDS = 1024
# Saves as fast as it can, and says the number of every completed save, which is also in the block.
SAVER = """
import sys
from array import array
from pathlib import Path
from adamb.firmware_model import _spec, core, store
from adamb.host_sim.flash_file import FileFlash
block = array("H", bytes(2 * 1024))
controller = core.init(core.Config(seed=9), block)
saves = store.open(FileFlash(Path(sys.argv[1])), len(block))
action = array("H", [0])
for k in range(1, 60000):
    controller.act(0, [k], action)
    block[_spec.H_RNG] = k
    assert saves.save(block) == 0
    print(k, flush=True)
"""


def used_block(seed=9):
    return learnt(core.init, core.Config(seed=seed), WORDS, 200)


def restored(path):
    found = array("H", bytes(2 * WORDS))
    saves = store.open(FileFlash(path), WORDS)
    return saves.restore(core.Config(), found), found


def test_a_save_is_there_after_the_file_is_opened_again(tmp_path):
    block, path = used_block(), tmp_path / "controller.flash"
    flash = FileFlash(path)
    assert store.open(flash, WORDS).save(block) == 0
    flash.close()
    code, found = restored(path)
    assert code == 0 and same_used(found, block)
    assert path.stat().st_size == 16 * 4096


def test_inspect_reads_the_file(tmp_path, capsys):
    path = tmp_path / "controller.flash"
    assert store.open(FileFlash(path), WORDS).save(used_block()) == 0
    assert main(["inspect", str(path)]) == 0
    assert "save 1 of a store" in capsys.readouterr().out


@pytest.mark.parametrize("wait", few([0.21, 0.05, 0.4]))
def test_a_kill_loses_no_completed_save(tmp_path, wait):
    path = tmp_path / "controller.flash"
    child = subprocess.Popen([sys.executable, "-c", SAVER, path], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "1\n"
    time.sleep(wait)
    os.kill(child.pid, signal.SIGKILL)
    said = [int(line) for line in ["1", *child.communicate()[0].split()]]
    code, found = restored(path)
    assert code == 0 and check.check(found) == 0
    assert found[_spec.H_RNG] in (said[-1], said[-1] + 1)


def test_a_disk_without_room_is_an_error_code_and_the_last_save_stays(tmp_path):
    path = tmp_path / "controller.flash"
    block = used_block()
    flash = FileFlash(path)
    saves = store.open(flash, WORDS)
    assert saves.save(block) == 0
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
        assert saves.save(used_block(seed=3)) == _spec.ERR_DEVICE
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    code, found = restored(path)
    assert code == 0 and same_used(found, block)


def test_a_file_of_another_size_or_place_is_refused_and_unchanged(tmp_path):
    path = tmp_path / "letter.txt"
    path.write_text("not a storage")
    with pytest.raises(InputError, match="13 bytes; a storage of this geometry has 65536"):
        FileFlash(path)
    assert path.read_text() == "not a storage"
    with pytest.raises(InputError, match="cannot hold a store: No such file"):
        FileFlash(tmp_path / "missing" / "controller.flash")
