"""Snapshots, statistics, scrub, guard and store are on every processor as on this computer, byte for byte."""

from __future__ import annotations

import random
from array import array
from typing import Any

import pytest

from adamb.firmware_model import _spec
from adamb.firmware_model.host import binding
from adamb.firmware_model.host.binding import ffi, lib
from adamb.firmware_model.host.options import make_config
from support.campaigns import few
from support.flash import TEARS, CStore, Flash, fitting_bytes, sizes_of
from support.twins import CGuard
from support.used_blocks import CONFIGS, DAMAGED, configured, guarded_episode, new_block

for _package in ("ziglang", "elftools", "unicorn"):
    pytest.importorskip(_package, reason="pip install adamb[device]")
machines = pytest.importorskip("support.machines")

every_machine = pytest.mark.parametrize("machine", few(machines.KINDS))
OTHER = {"powerpc": "riscv32", "mips": "s390x", "riscv32": "mips", "s390x": "powerpc"}
"""To which processor a snapshot goes from another."""


def host_snapshot(block: Any) -> bytes:
    out = ffi.new("uint8_t[]", lib.adamb_snapshot_bytes(block))
    assert lib.adamb_snapshot_save(block, out, len(out)) == len(out)
    return bytes(ffi.buffer(out))


def host_restored(data: bytes, words: int) -> array:
    found = array("H", [0x5A5A] * words)
    block = ffi.from_buffer("uint16_t[]", found)
    given = ffi.new("adamb_config *", sizes_of(fitting_bytes(data)))
    assert lib.adamb_snapshot_restore(data, len(data), given, block, words) == 0
    return found


@every_machine
def test_a_snapshot_has_the_same_bytes_on_every_processor_and_goes_from_each_to_each(machine: str) -> None:
    for name in CONFIGS:
        _, content, block = new_block(name)
        here = machines.Saved(machines.Processor(machine), len(content))
        here.put(content)
        data = here.snapshot()
        assert data == host_snapshot(block), name
        restored = host_restored(data, len(content))
        there = machines.Saved(machines.Processor(OTHER[machine]), len(content))
        for one in (here, there):
            one.put(array("H", [0xA5A5] * len(content)))
            assert one.restore(data) == 0, name
            assert one.get() == restored and one.snapshot() == data, name


@every_machine
def test_a_restored_controller_goes_on_as_on_this_computer(machine: str) -> None:
    for name in DAMAGED:
        config, words = configured(name)
        block = array("H", bytes(2 * words))
        made = binding.init(config, block)
        assert not isinstance(made, int)
        processor = machines.Processor(machine)
        moved = machines.Calls(processor, words, config.d_a, processor.kind.order)
        for seed in range(2):
            play(made, config, random.Random(seed))
            other = machines.Saved(moved._machine, words)
            assert other.restore(host_snapshot(ffi.from_buffer("uint16_t[]", block))) == 0
            moved._machine.write_words(moved._block, other.get())
            assert play(moved, config, random.Random(7)) == play(made, config, random.Random(7)), name
            used = 4 * block[_spec.H_FRESH]
            assert moved.w[:used] == block[:used], name


@every_machine
def test_a_flipped_bit_of_a_snapshot_is_refused_on_every_processor(machine: str) -> None:
    _, content, block = new_block("1+1 one step", extra=0, steps=50)
    data, one = host_snapshot(block), machines.Saved(machines.Processor(machine), len(content))
    one.put(array("H", [0x5A5A] * len(content)))
    for bit in range(0, 8 * len(data), 7):
        wrong = bytearray(data)
        wrong[bit // 8] ^= 1 << bit % 8
        assert one.restore(bytes(wrong)) in (_spec.ERR_BLOCK, _spec.ERR_MEMORY), bit
    assert one.restore(data[:-1]) == _spec.ERR_BLOCK
    assert set(one.get()) == {0x5A5A}


@every_machine
def test_statistics_check_and_scrub_answer_as_on_this_computer_on_sound_and_damaged_blocks(machine: str) -> None:
    rng, found = random.Random(machine), 0
    for name in CONFIGS:
        _, content, _ = new_block(name, extra=150, steps=300)
        words, place = len(content), ffi.new("adamb_place *")
        one = machines.Saved(machines.Processor(machine), words)
        for number in range(6):
            damaged = array("H", content)
            for _ in range(number % 3):
                damaged[rng.randrange(4 * content[_spec.H_FRESH])] ^= 1 << rng.randrange(16)
            one.put(damaged)
            pointer = ffi.from_buffer("uint16_t[]", damaged)
            assert one.stats() == binding.read_stats(damaged), name
            assert one.check() == lib.adamb_check(pointer, words), name
            place.path = place.h = place.part = code = 0
            one.begin_pass()
            while code == 0:
                code, next_place = one.scrub()
                assert code == lib.adamb_scrub(pointer, words, place), name
                assert next_place == (place.path, place.h, place.part), name
            found += code < 0
            refused = one.check() != 0
            assert (one.snapshot() == _spec.ERR_BLOCK) == refused, name
    assert found > 5, "damage must be found for the test to mean something"


@every_machine
def test_the_store_leaves_the_same_flash_through_power_cuts_and_restores(machine: str) -> None:
    """The same calls, the same cuts: bytes, erases, results and the restored words agree."""
    flashes = [Flash(32, 1024, 3, seed=5) for _ in range(2)]
    config = make_config(1, 1, 4, {}, seed=1)
    words = binding.required_words(config)
    block = array("H", bytes(2 * words))
    made = binding.init(config, block)
    assert not isinstance(made, int)

    def opened() -> list[Any]:
        return [CStore(flashes[0], words), machines.MachineStore(machines.Processor(machine), flashes[1], words)]

    stores, cuts = opened(), 0
    for number in range(40):
        play(made, config, random.Random(number))
        for flash in flashes:
            flash.lose_power(3 + 5 * number % 17 if number % 3 == 2 else 0, TEARS[number % len(TEARS)])
        codes = [one.save(block) for one in stores]
        assert codes[0] == codes[1] == (_spec.ERR_DEVICE if flashes[0].dead else 0), number
        if flashes[0].dead:
            cuts += 1
            for flash in flashes:
                flash.power_on()
            stores = opened()
        found = [array("H", [0x5A5A] * words) for _ in range(2)]
        assert [one.restore(config, into) for one, into in zip(stores, found, strict=True)] == [0, 0]
        assert found[0] == found[1]
        assert flashes[0].data == flashes[1].data and flashes[0].erases == flashes[1].erases, number
        assert (stores[0].newest, stores[0].sequence) == (stores[1].newest, stores[1].sequence)
    assert cuts > 5


@every_machine
@pytest.mark.parametrize("name", ["1+1", "2+2 paper", "3+3 frozen"])
def test_the_guard_answers_damage_as_on_this_computer_and_leaves_the_same_flash(machine: str, name: str) -> None:
    config, words = configured(name)
    flashes = [Flash(64, 1024, 4 * (words // 512 + 1), seed=7) for _ in range(2)]
    host = CGuard(config, array("H", bytes(2 * words)), CStore(flashes[0], words))
    there = machines.MachineGuard(machines.Processor(machine), config, words, flashes[1])
    assert host.code == there.code == 2, "nothing saved yet: initialised"
    there.machine.write_words(there._block, host.block)  # what init leaves as it was
    rng = random.Random(name)
    for number in range(70):
        seed = rng.random()
        answers = [guarded_episode(one, random.Random(seed)) for one in (host, there)]
        assert answers[0] == answers[1], number
        if number % 5 == 4:
            assert host.save() == there.save() >= 0
        if number % 7 == 3:
            word, bit = rng.randrange(4 * host.block[_spec.H_FRESH]), rng.randrange(16)
            host.block[word] ^= 1 << bit
            there.flip(word, bit)
        assert host.block == there.block, number
        counters = there.counters
        for counter in ("damages", "restored", "reinitialised", "passes"):
            assert getattr(host, counter) == getattr(counters, counter), number
        assert counters.place == (host.place.path, host.place.h, host.place.part)
        assert flashes[0].data == flashes[1].data, number
    assert host.damages > 0 and host.restored > 0


def play(one: Any, config: Any, rng: random.Random) -> list[Any]:
    """Four episodes; every code and action."""
    results: list[Any] = []
    for _ in range(4):
        state, action = [rng.randrange(65536) for _ in range(config.d_s)], array("H", [0] * config.d_a)
        for h in range(config.horizon):
            results += [one.act(h, state, action), *action]
            state = [(action[i % config.d_a] + rng.randrange(9000)) & 0xFFFF for i in range(config.d_s)]
            results.append(one.observe(h, rng.randrange(65536), state))
        results.append(one.end_episode())
    return results
