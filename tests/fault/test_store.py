"""Stores lose no completed save by power cuts at any operation, torn pages, flipped bits or worn sectors.

Every failure of the driver prints the arguments that replay it.
"""

from __future__ import annotations

import re
import subprocess
from array import array
from pathlib import Path

import pytest

from adamb.firmware_model import _spec, core, store
from adamb.firmware_model.host import binding
from support.campaigns import few
from support.drivers import FLAGS, SANITIZERS, Driver
from support.flash import TEARS, CStore, Flash, fitting
from support.paths import CORE, FAULT
from support.planted import Fickle
from support.used_blocks import CONFIGS, new_block

# page, sector, sectors, words, what it is like
GEOMETRIES = {
    "NOR flash, a save a sector": (256, 4096, 4, 2000),
    "small sectors": (64, 512, 3, 240),
    "two sectors a save, one left over": (64, 1024, 7, 700),
    "large sectors of many saves": (128, 16384, 2, 480),
    "microcontroller flash of eight-byte pages": (8, 2048, 4, 400),
}
geometries = pytest.mark.parametrize("geometry", few(GEOMETRIES.values(), 3), ids=GEOMETRIES)


def build(folder: Path, *flags: str) -> Driver:
    objects = []
    for source in [*sorted(CORE.glob("*.c")), FAULT / "store_driver.c"]:
        target = folder / f"{source.stem}.o"
        command = ["gcc", *FLAGS, *flags, "-c", str(source), "-o", str(target)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        objects.append(str(target))
    subprocess.run(["gcc", *flags, *objects, "-o", str(folder / "store_driver")], check=True)
    return Driver(folder / "store_driver")


@pytest.fixture(scope="module")
def driver(build_driver, tmp_path_factory) -> Driver:
    """With sanitizers; `build_driver` skips where there are none."""
    return build(tmp_path_factory.mktemp("sanitized"), *SANITIZERS)


@pytest.fixture(scope="module")
def fast_driver(tmp_path_factory) -> Driver:
    return build(tmp_path_factory.mktemp("fast"), "-O2")


def cuts_of(output: str) -> int:
    return int(re.search(r"(\d+) cuts", output)[1])


@geometries
def test_power_lost_at_any_operation_of_a_short_run_loses_no_completed_save(driver, geometry):
    out = driver("cuts", *geometry, 9, 7, 1 if geometry[0] == 8 else len(TEARS))
    assert "0 losses" in out and cuts_of(out) > 200


@pytest.mark.campaign
def test_power_lost_at_every_operation_of_200_saves_loses_no_completed_save(fast_driver):
    total = 0
    for page, *rest in GEOMETRIES.values():
        out = fast_driver("cuts", page, *rest, 200, 1, 1 if page == 8 else len(TEARS))
        assert "0 losses" in out
        least, most = map(int, re.search(r"erases (\d+) to (\d+)", out).groups())
        assert most - least <= 1, "wear is even"
        total += cuts_of(out)
    print(f"{total} cuts in all")
    assert total >= 20_000


@geometries
def test_cut_after_cut_on_the_same_storage_loses_no_completed_save(fast_driver, geometry):
    out = fast_driver("runs", *geometry, 400, 3)
    assert "0 losses" in out and cuts_of(out) > 300
    least, most = map(int, re.search(r"erases (\d+) to (\d+)", out).groups())
    assert most - least <= 0.25 * most + 10, "wear stays even under cuts"


@pytest.mark.parametrize("geometry", [(64, 512, 4, 240), (128, 4096, 3, 480), (64, 1024, 6, 700)])
def test_a_worn_storage_gives_all_its_life_and_keeps_the_last_save(driver, geometry):
    out = driver("wear", *geometry, 30, 5)
    saves, slots = map(int, re.findall(r"\d+", out)[:2])
    assert saves >= 30 * slots


def test_every_flipped_bit_of_a_4_kib_snapshot_is_found_and_changes_nothing(fast_driver):
    out = fast_driver("flips", 2048, 1)
    assert "4112 bytes, 32896 flips" in out


def test_snapshots_are_handled_inside_their_memory(driver):
    assert "flips" in driver("flips", 240, 2)


@pytest.mark.parametrize("geometry", [(64, 512, 4, 240), (128, 16384, 2, 240)])
def test_any_flipped_bit_of_the_newest_save_brings_back_the_one_before(fast_driver, geometry):
    assert "the one before it was restored" in fast_driver("rot", *geometry, 4)


@pytest.mark.parametrize("seed", few([1, 2, 3]))
def test_forged_saves_stay_inside_the_block_and_pass_the_check_or_are_refused(driver, seed):
    out = driver("forge", 64, 512, 4, 240, 3000, seed)
    taken, cleared = map(int, re.findall(r"(\d+) (?:passed|left)", out))
    assert taken > 300 and cleared > 300, "both must occur for the test to mean something"


def learning_blocks(steps: int, words: int = 240):
    """The states of a controller, one after every few episodes."""
    block = array("H", bytes(2 * words))
    controller = binding.init(core.Config(horizon=4), block)
    state, action = [0], [0]
    for step in range(steps):
        controller.act(step % 4, state, action)
        state[0] = (action[0] + 7919 * step) & 0xFFFF
        controller.observe(step % 4, state[0] ^ 0x1234, state)
        if step % 4 == 3:
            controller.end_episode()
        if step % 50 == 49:
            yield array("H", block)


def same_used(found: array, wanted: array) -> bool:
    used = 4 * wanted[_spec.H_FRESH]
    return found[:used] == wanted[:used] and not any(found[used:])


def test_both_twins_leave_the_same_flash_through_cuts_and_restores():
    """The same calls, the same cuts: bytes, erases, results and the restored words agree."""
    twins = [Flash(32, 1024, 3, seed=5) for _ in range(2)]
    stores = [CStore(twins[0], 240), store.open(twins[1], 240)]
    for i, block in enumerate(learning_blocks(1500)):
        for flash in twins:
            flash.lose_power(3 + 5 * i % 17 if i % 3 == 2 else 0, TEARS[i % len(TEARS)])
        codes = [each.save(block) for each in stores]
        assert codes[0] == codes[1] == (_spec.ERR_DEVICE if twins[0].dead else 0), i
        if twins[0].dead:
            for flash in twins:
                flash.power_on()
            stores = [CStore(twins[0], 240), store.open(twins[1], 240)]
        found = [array("H", b"\x5a" * 480) for _ in range(2)]
        config = fitting(block)
        assert [each.restore(config, into) for each, into in zip(stores, found, strict=True)] == [0, 0]
        assert found[0] == found[1]
        assert twins[0].data == twins[1].data and twins[0].erases == twins[1].erases, i
        assert not isinstance(stores[0], CStore) or stores[0].intact
        assert (stores[0].newest, stores[0].sequence) == (stores[1].newest, stores[1].sequence)


@pytest.mark.parametrize("tear", TEARS)
def test_power_lost_at_every_operation_of_the_python_store_loses_no_completed_save(tear):
    before, last, coming = list(learning_blocks(150))
    for operation in range(1, 12):
        flash = Flash(64, 512, 2, seed=operation)
        made = store.open(flash, 240)
        assert made.save(before) == 0 and made.save(last) == 0
        flash.lose_power(operation, tear)
        code = made.save(coming)
        cut = flash.dead
        flash.power_on()
        found = array("H", bytes(480))
        assert store.open(flash, 240).restore(fitting(last), found) == 0
        assert same_used(found, coming) or (code != 0 and same_used(found, last)), f"operation {operation}"
    assert not cut, "the loop must reach the end of the save"


@pytest.mark.parametrize("open_store", [store.open, CStore], ids=["python", "c"])
def test_an_empty_store_a_small_block_and_a_damaged_one_are_told_apart(open_store):
    flash = Flash(64, 512, 4, seed=1)
    made = open_store(flash, 240)
    block = array("H", b"\x5a" * 480)
    assert made.restore(core.Config(), block) == _spec.ERR_EMPTY and set(block) == {0x5A5A}
    state = next(learning_blocks(50))
    assert made.save(state) == 0
    small = array("H", b"\x5a" * 476)
    assert made.restore(fitting(state), small) == _spec.ERR_MEMORY and set(small) == {0x5A5A}
    damaged = array("H", state)
    damaged[_spec.H_FREE_N] += 1
    image = bytes(flash.data)
    assert made.save(damaged) == _spec.ERR_BLOCK and flash.data == image
    larger = array("H", bytes(2 * 400))
    assert isinstance(binding.init(core.Config(), larger), binding.Controller)
    assert made.restore(fitting(state), larger) == 0 and same_used(larger, state)


@pytest.mark.parametrize(
    "geometry", [(0, 512, 4), (64, 500, 4), (64, 512, 1), (64, 32, 4), (64, 256, 3), (64, 512, 0x7FFFFFFF)]
)
def test_a_geometry_that_cannot_keep_the_promise_is_refused(geometry):
    flash = Flash(64, 512, 4)
    flash.page_bytes, flash.sector_bytes, flash.sectors = geometry
    assert store.open(flash, 240) == _spec.ERR_CONFIG
    assert CStore(flash, 240).code == _spec.ERR_CONFIG


def test_saves_of_another_version_are_told_and_left_alone(monkeypatch):
    flash = Flash(64, 512, 4)
    state = next(learning_blocks(50))
    monkeypatch.setattr(store.snapshot, "SNAPSHOT_VERSION", 2)
    assert store.open(flash, 240).save(state) == 0
    monkeypatch.undo()
    block = array("H", b"\x5a" * 480)
    for made in (store.open(flash, 240), CStore(flash, 240)):
        assert made.restore(fitting(state), block) == _spec.ERR_BLOCK and set(block) == {0x5A5A}


def test_every_kind_of_controller_can_be_stored():
    for name in CONFIGS:
        _, words, _ = new_block(name)
        flash = Flash(64, 1024, 2 * (len(words) // 512 + 2))
        assert CStore(flash, len(words)).save(words) == 0
        found = array("H", bytes(2 * len(words)))
        assert store.open(flash, len(words)).restore(fitting(words), found) == 0
        assert same_used(found, words), name


@pytest.mark.parametrize("open_store", [store.open, CStore], ids=["python", "c"])
def test_a_slot_that_reads_as_an_older_save_the_second_time_is_not_the_newest(open_store):
    """The number found first and the save that is then read must be of one and the same save."""
    flash = Fickle(64, 512, 4, seed=5)
    made = open_store(flash, 240)
    for block in learning_blocks(150):
        assert made.save(block) == 0
    assert made.newest == 2
    flash.become_fickle(slot=2, other=1, reads=3)  # twice for its number, then for what it holds
    again = open_store(flash, 240)
    assert again.newest == 1 and again.sequence == 3
