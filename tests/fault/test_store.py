"""Stores lose no completed save by power cuts at any operation, torn pages, flipped bits or worn sectors."""

from __future__ import annotations

from array import array

import pytest

from adamb.firmware_model import _spec, core, store
from adamb.firmware_model.host import binding
from support.flash import TEARS, CStore, Flash, fitting
from support.planted import FlakyStorage
from support.used_blocks import CONFIGS, new_block, same_used

# page, sector, sectors, words, what it is like
GEOMETRIES = {
    "small sectors": (64, 512, 3, 240),
    "NOR flash, a save a sector": (256, 4096, 4, 2000),
    "two sectors a save, one left over": (64, 1024, 7, 700),
    "large sectors of many saves": (128, 16384, 2, 480),
    "microcontroller flash of eight-byte pages": (8, 2048, 4, 400),
}
twins = pytest.mark.parametrize("open_store", [store.open, CStore], ids=["python", "c"])


def learning_blocks(steps: int, words: int = 240):
    """The states of a controller, one after every few episodes."""
    block = array("H", bytes(2 * words))
    controller = binding.init(core.Config(horizon=3), block)
    state, action = [0], [0]
    for step in range(steps):
        controller.act(step % 3, state, action)
        state[0] = (action[0] + 7919 * step) & 0xFFFF
        controller.observe(step % 3, state[0] ^ 0x1234, state)
        if step % 3 == 2:
            controller.end_episode()
        if step % 50 == 49:
            yield array("H", block)


def restored(open_store, flash: Flash, like: array) -> array:
    """What is found after a reset."""
    flash.power_on()
    found = array("H", bytes(2 * len(like)))
    assert open_store(flash, len(like)).restore(fitting(like), found) == 0
    return found


def cut_everywhere(open_store, geometry: tuple[int, ...], tear: str) -> None:
    *flash_sizes, words = geometry
    before, last, coming, later = list(learning_blocks(200, words))
    for operation in range(1, 1000):
        flash = Flash(*flash_sizes, seed=operation)
        made = open_store(flash, words)
        assert made.save(before) == 0 and made.save(last) == 0
        flash.lose_power(operation, tear)
        code, kept = made.save(coming), last
        if not flash.dead:
            break
        found = restored(open_store, flash, last)
        if not same_used(found, last):
            assert same_used(found, coming), f"operation {operation}"
            kept = coming
        made = open_store(flash, words)
        flash.lose_power(1 + operation % 9, TEARS[operation % len(TEARS)])
        code = made.save(later)
        found = restored(open_store, flash, last)
        assert same_used(found, later) or (code != 0 and same_used(found, kept)), f"again after {operation}"
        assert open_store(flash, words).save(before) == 0
        assert same_used(restored(open_store, flash, last), before)
    assert operation > 5 and code == 0, "the loop must reach the end of the save"


@pytest.mark.parametrize("tear", TEARS)
@pytest.mark.parametrize("geometry", GEOMETRIES.values(), ids=GEOMETRIES)
def test_power_lost_at_any_operation_loses_no_completed_save(geometry, tear):
    cut_everywhere(CStore, geometry, tear)


@pytest.mark.parametrize("tear", TEARS)
def test_power_lost_at_any_operation_of_the_python_store_loses_no_completed_save(tear):
    cut_everywhere(store.open, GEOMETRIES["small sectors"], tear)


@pytest.mark.parametrize("geometry", [(64, 512, 4, 240), (128, 4096, 3, 480), (64, 1024, 6, 700)])
def test_a_worn_storage_gives_all_its_life_and_keeps_the_last_save(geometry):
    *flash_sizes, words = geometry
    endurance, saves, code = 9, 0, 0
    flash, blocks = Flash(*flash_sizes, worn=endurance), list(learning_blocks(200, words))
    made = CStore(flash, words)
    while code == 0:
        code = made.save(blocks[saves % len(blocks)])
        saves += code == 0
        assert same_used(restored(CStore, flash, blocks[0]), blocks[(saves - 1) % len(blocks)])
    assert code == _spec.ERR_DEVICE and saves >= endurance * made.slots


def test_every_flipped_bit_of_a_snapshot_is_found_and_changes_nothing():
    config, block, pointer = new_block("1+1 per step", extra=1400, steps=4000)
    data = bytearray(2 * len(block) + 16)
    length = binding.lib.adamb_snapshot_save(pointer, binding.ffi.from_buffer(data), len(data))
    bytes_of, into = binding.ffi.from_buffer(data), array("H", [0x5A5A] * len(block))
    place, untouched = binding.ffi.from_buffer("uint16_t[]", into), array("H", into)

    def restore(count: int) -> int:
        return binding.lib.adamb_snapshot_restore(bytes_of, count, config, place, len(into))

    for bit in range(8 * length):
        data[bit // 8] ^= 1 << bit % 8
        assert restore(length) < 0, f"bit {bit}"
        data[bit // 8] ^= 1 << bit % 8
    assert length > 3000 and all(restore(shorter) < 0 for shorter in range(length))
    assert into == untouched
    assert restore(length) == 0 and same_used(into, block)


def test_any_flipped_bit_of_the_newest_save_brings_back_the_one_before():
    before, newest = list(learning_blocks(100))
    flash = Flash(64, 512, 4)
    made = CStore(flash, 240)
    assert made.save(before) == made.save(newest) == 0
    at = made.newest * flash.sector_bytes
    for bit in range(8 * at, 8 * (at + 32 + 8 * newest[_spec.H_FRESH])):
        flash.flip(bit)
        assert same_used(restored(CStore, flash, newest), before), f"bit {bit}"
        flash.flip(bit)
    assert same_used(restored(CStore, flash, newest), newest)


@twins
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


@twins
def test_a_slot_that_reads_as_an_older_save_the_second_time_is_not_the_newest(open_store):
    """The number found first and the save that is then read must be of one and the same save."""
    flash = FlakyStorage(64, 512, 4, seed=5)
    made = open_store(flash, 240)
    for block in learning_blocks(150):
        assert made.save(block) == 0
    assert made.newest == 2
    flash.swap_slots(slot=2, other=1, reads=3)  # twice for its number, then for what it holds
    again = open_store(flash, 240)
    assert again.newest == 1 and again.sequence == 3
