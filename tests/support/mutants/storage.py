"""Scenarios of what surrounds a controller: snapshots, stores, guards."""

from __future__ import annotations

import itertools
import zlib
from array import array
from collections.abc import Iterator
from functools import partial
from random import Random
from typing import Any

from adamb.firmware_model import _spec
from support.flash import TEARS, Flash, fitting
from support.mutants.scenarios import KINDS, Twin, digest, used_block
from support.planted import FlakyStorage


class Failing(Flash):
    """Its read fails once, with this code; 0: it says nothing and delivers nothing."""

    fails_at, code = 0, -1

    def read(self, address: int, buffer: Any) -> int:
        self.fails_at -= 1
        return self.code if self.fails_at == 0 else super().read(address, buffer)


class Counted(Flash):
    """It counts its reads."""

    reads = 0

    def read(self, address: int, buffer: Any) -> int:
        self.reads += 1
        return super().read(address, buffer)


class Stuck(Flash):
    """An erase leaves the last bit of every sector's first byte 0, as it is in a save."""

    def erase(self, address: int) -> int:
        code = super().erase(address)
        self.data[address] &= 0xFE
        return code


class Vast(Flash):
    """2 GiB, of which nothing can be read."""

    def read(self, address: int, buffer: Any) -> int:
        return -1


def snapshots(twin: Twin, size: float) -> Iterator[Any]:
    for name in list(KINDS) if size > 0.5 else ("1+1 per step", "2+2 shared"):
        block, rng = array("H", used_block(name)[1]), Random(name)
        length = twin.snapshot_bytes(block)
        data = twin.save(block, length)
        yield length, zlib.crc32(data), twin.save(block, length - 1)
        for words in (len(block) - 1, len(block), len(block) + 9, 4 * block[_spec.H_UNITS] - 1):
            code, found = twin.restore(data, words)
            yield code, digest(found)
        for cut in (0, 1, 15, 16, 17, length - 1):
            yield cut, twin.restore(data[:cut], len(block))[0]
        for i in range(int(60 * size) + 12):
            bad = bytearray(data)
            at = rng.randrange(16) if i % 2 else rng.randrange(length)
            bad[at] ^= 1 << rng.randrange(8)
            if i % 3:  # forged: the CRC fits
                bad[12:16] = zlib.crc32(bad[:12] + bad[16:]).to_bytes(4, "little")
            code, found = twin.restore(bytes(bad), len(block))
            yield at, code, digest(found)
        for word in range(_spec.H_WORDS):
            damaged = array("H", block)
            damaged[word] ^= 1
            yield word, twin.snapshot_bytes(damaged), isinstance(twin.save(damaged, length + 64), int)


def stores(twin: Twin, size: float) -> Iterator[Any]:
    """Saves with cuts, wear, flipped bits and heads that read differently the second time."""
    blocks = [array("H", used_block("1+1 smallest", steps)[1]) for steps in (100, 300, 700)]
    words = len(blocks[0])
    for geometry in [(0, 512, 4), (64, 500, 4), (64, 32, 4), (64, 64, 2), (64, 512, 1), (64, 512, 2),
                     (8, 256, 9), (64, 512, 0x7FFFFFFF), (64, 0x20000000, 2)]:  # fmt: skip
        flash = Flash(64, 512, 4)
        flash.page_bytes, flash.sector_bytes, flash.sectors = geometry
        made = twin.open_store(flash, words)
        yield geometry, made if isinstance(made, int) else (made.newest, made.sequence)
    yield from borders_of_store(twin)
    for geometry in [(64, 512, 3), (32, 2048, 2), (16, 64, 40), (256, 256, 5), (1, 512, 3)]:
        yield from life_of_store(twin, Flash(*geometry, seed=3), blocks, int(30 * size) + 6)
    yield from life_of_store(twin, Flash(64, 512, 4, seed=4, worn=2), blocks, int(30 * size) + 8)
    yield from life_of_store(twin, Stuck(64, 512, 4, seed=10), blocks, 4)
    yield from fickle(twin, blocks)
    yield from forged(twin, blocks, int(100 * size))
    yield from far_apart(twin, blocks)
    yield from heads(twin, blocks)
    yield from failing_reads(twin, blocks)
    yield from refusals(twin, blocks)


def borders_of_store(twin: Twin) -> Iterator[Any]:
    """Blocks of the fewest and of the most words, where there is just room for two; the largest storage."""
    for sectors in (127, 128):
        flash = Vast(64, 512, 4)
        flash.page_bytes, flash.sector_bytes, flash.sectors = 0x1000000, 0x1000000, sectors
        made = twin.open_store(flash, 240)
        yield sectors, made if isinstance(made, int) else (made.newest, made.sequence)
    most = 4 * _spec.UNITS_MAX
    for words in (_spec.H_WORDS - 1, _spec.H_WORDS, most, most + 1, most + 4):
        for spare in (-1, 0, 1):
            made = twin.open_store(Flash(8, 8, 2 * ((32 + 2 * min(words, most) + 7) // 8) + spare), words)
            yield words, spare, made if isinstance(made, int) else (made.newest, made.sequence)


def failing_reads(twin: Twin, blocks: list[array]) -> Iterator[Any]:
    """One read after the other fails, in an open, a restore or a save."""
    flash = Failing(64, 512, 4, seed=9)
    made = twin.open_store(flash, len(blocks[0]))
    yield [made.save(block) for block in blocks]
    for flash.code, number in itertools.product((-1, _spec.ERR_BLOCK, 0), range(1, 40)):
        again, found = twin.open_store(flash, len(blocks[0])), array("H", [0x5A5A] * len(blocks[0]))
        flash.fails_at = number
        yield number, again.restore(fitting(blocks[0]), found), again.newest, digest(found)
        flash.fails_at = number
        again = twin.open_store(flash, len(blocks[0]))
        yield again.newest, again.sequence
        flash.fails_at = 1
        yield again.restore(fitting(blocks[0]), found), again.newest, digest(found)
        again = twin.open_store(flash, len(blocks[0]))
        flash.fails_at = number
        yield again.save(blocks[number % 3]), again.newest, again.sequence
        flash.fails_at = 0


def refusals(twin: Twin, blocks: list[array]) -> Iterator[Any]:
    """Saves of other dimensions, and a slot that is a little too small."""
    words, other = len(blocks[0]), fitting(blocks[0])
    other.horizon += 1
    made, found = twin.open_store(Flash(64, 512, 4, seed=9), words), array("H", [0x5A5A] * words)
    yield made.save(blocks[0]), made.restore(other, found), digest(found)
    for less in range(0, 80, 4):
        made = twin.open_store(Flash(8, 512, 4, seed=9), words - less)
        yield less, made if isinstance(made, int) else made.save(blocks[0])


def heads(twin: Twin, blocks: list[array]) -> Iterator[Any]:
    """Heads with a right CRC and lengths about the most; then the newest and the head before it damaged."""
    flash = Flash(64, 512, 4, seed=8)
    made = twin.open_store(flash, len(blocks[0]))
    yield [made.save(block) for block in blocks]
    sound, at = bytes(flash.data), made.newest * flash.sector_bytes
    slot = (32 + 2 * len(blocks[0]) + 63) // 64 * 64
    for length in [*range(slot - 18, slot + 20), 0, 15, 16, 17, 0xFFFFFFFF]:
        head = bytearray(sound[at : at + 32])
        head[4:12] = (77).to_bytes(4, "little") + length.to_bytes(4, "little")
        head[12:16] = zlib.crc32(head[:12] + head[16:]).to_bytes(4, "little")
        flash.data[:] = sound
        flash.data[at : at + 32] = head
        again = twin.open_store(flash, len(blocks[0]))
        found = array("H", bytes(2 * len(blocks[0])))
        yield length, again.newest, again.sequence, again.restore(fitting(blocks[0]), found)
    for before in (1, 2, 3):
        flash.data[:] = sound
        flash.data[at + 99] ^= 1
        flash.data[(made.newest - before) % 4 * flash.sector_bytes] ^= 1
        again = twin.open_store(flash, len(blocks[0]))
        found = array("H", bytes(2 * len(blocks[0])))
        yield before, again.newest, again.sequence, again.restore(fitting(blocks[0]), found), digest(found)
        yield again.save(blocks[1]), again.newest, again.sequence


def life_of_store(twin: Twin, flash: Flash, blocks: list[array], saves: int) -> Iterator[Any]:
    words = len(blocks[0])
    made = twin.open_store(flash, words)
    for i in range(saves):
        flash.lose_power(1 + 7 * i % 23 if i % 3 == 2 else 0, TEARS[i % len(TEARS)])
        code = made.save(blocks[i % len(blocks)])
        if flash.dead or i % 4 == 3:
            flash.power_on()
            made = twin.open_store(flash, words)
        if i % 5 == 4:
            flash.flip(Random(i).randrange(8 * len(flash.data)))
            made = twin.open_store(flash, words)
        found = array("H", [0x5A5A] * (words + i % 2))
        yield i, code, made.restore(fitting(blocks[0]), found), digest(found), made.newest, made.sequence
        yield zlib.crc32(flash.data), tuple(flash.erases), getattr(made, "intact", True)
    config, short = fitting(blocks[0]), array("H", bytes(2 * (words - 1)))
    yield made.restore(config, short), made.save(array("H", bytes(2 * words)))
    made.sequence = 0xFFFFFFFE
    yield [made.save(blocks[0]) for _ in range(3)], zlib.crc32(flash.data)


def fickle(twin: Twin, blocks: list[array]) -> Iterator[Any]:
    """A slot that, once its number is known, reads as an older save: it must not count as the newest."""
    flash = FlakyStorage(64, 512, 4, seed=5)
    made = twin.open_store(flash, len(blocks[0]))
    yield [made.save(block) for block in blocks]
    for reads in (1, 2, 3, 4):
        flash.swap_slots(2, 1, reads)
        again = twin.open_store(flash, len(blocks[0]))
        yield reads, again.newest, again.sequence, flash.heads


def far_apart(twin: Twin, blocks: list[array]) -> Iterator[Any]:
    """Two saves that no check accepts, their numbers far apart: each is looked at once."""
    flash = Counted(64, 512, 4, seed=11)
    made = twin.open_store(flash, len(blocks[0]))
    yield [made.save(block) for block in blocks]
    for slot, number in ((1, 2), (2, 40)):
        at = slot * flash.sector_bytes
        end = at + 16 + int.from_bytes(flash.data[at + 8 : at + 12], "little")
        save = flash.data[at:end]
        save[4:8] = number.to_bytes(4, "little")
        save[32 + 2 * _spec.H_RNG : 34 + 2 * _spec.H_RNG] = bytes(2)
        flash.data[at:end] = resealed(save)
    again, found = twin.open_store(flash, len(blocks[0])), array("H", bytes(2 * len(blocks[0])))
    flash.reads = 0
    yield again.restore(fitting(blocks[0]), found), again.newest, again.sequence, digest(found), flash.reads


def resealed(save: bytearray) -> bytearray:
    """A changed save with both CRCs made right."""
    save[28:32] = zlib.crc32(save[16:28] + save[32:]).to_bytes(4, "little")
    save[12:16] = zlib.crc32(save[:12] + save[16:32]).to_bytes(4, "little")
    return save


def forged(twin: Twin, blocks: list[array], many: int) -> Iterator[Any]:
    """Bytes of the newest save changed and both CRCs made right: refused, or what the older one held."""
    flash, rng = Flash(64, 512, 4, seed=6), Random("forged")
    made = twin.open_store(flash, len(blocks[0]))
    yield [made.save(block) for block in blocks]
    sound, at = bytes(flash.data), made.newest * flash.sector_bytes
    for i in range(many):
        flash.data[:] = sound
        length = int.from_bytes(sound[at + 8 : at + 12], "little")
        where = at + (rng.randrange(32) if i % 2 else rng.randrange(length + 16))
        flash.data[where] ^= 1 << rng.randrange(8)
        flash.data[at : at + 16 + length] = resealed(flash.data[at : at + 16 + length])
        again, found = twin.open_store(flash, len(blocks[0])), array("H", [0x5A5A] * len(blocks[0]))
        code = again.newest, again.sequence, again.restore(fitting(blocks[0]), found)
        yield where, *code, again.newest, digest(found)


def guards(twin: Twin, size: float) -> Iterator[Any]:
    for name in ("1+1", "2+2 shared", "1+1 paper") if size > 0.5 else ("1+1",):
        fields, sound = used_block(name)
        words, config = len(sound) // 2, twin.config(fields)
        for saves in (False, True):
            flash = Flash(64, 1024, 4 * (words // 512 + 1), seed=7)
            block = array("H", bytes(2 * words))
            made = twin.open_guard(config, block, twin.open_store(flash, words) if saves else None)
            yield from life_of_guard(twin, made, fields, Random(name), int(60 * size) + 10)
            yield from ends_of_guard(twin, made, fields)
        for short in (0, 40, twin.required_words(config) - 1):
            left = array("H", [0x5A5A] * short)
            refused = twin.open_guard(config, left, None)
            yield refused if isinstance(refused, int) else 0, digest(left)
        yield from pending(twin, config, fields, words)
        yield twin.guard_without_config(block, twin.open_store(flash, words)), digest(block)
        other = twin.config(fields | {"horizon": fields["horizon"] + 1})
        taken = array("H", bytes(2 * words))
        yield isinstance(twin.open_guard(other, taken, twin.open_store(flash, words)), int), digest(taken)


def pending(twin: Twin, config: Any, fields: dict[str, Any], words: int) -> Iterator[Any]:
    """A save of a controller with an action pending at every step; restored, none is."""
    flash, block = Flash(64, 1024, 4 * (words // 512 + 1), seed=7), array("H", bytes(2 * words))
    made = twin.open_guard(config, block, twin.open_store(flash, words))
    action, later = array("H", [0] * fields["d_a"]), array("H", bytes(2 * words))
    yield [made.controller.act(h, [9] * fields["d_s"], action) for h in range(fields["horizon"])]
    yield made.save(), digest(block), made.handle(_spec.ERR_BLOCK), digest(block)
    again = twin.open_guard(config, later, twin.open_store(flash, words))
    yield digest(later), again.controller.act(0, [9] * fields["d_s"], action), digest(later)


def ends_of_guard(twin: Twin, made: Any, fields: dict[str, Any]) -> Iterator[Any]:
    for counter in ("damages", "restored", "reinitialised", "passes"):
        getattr(made, "count", partial(setattr, made))(counter, 0xFFFE)
    yield from life_of_guard(twin, made, fields, Random("ends"), 9)
    for _ in range(4):
        made.block[_spec.H_HASH] ^= 1
        yield made.handle(_spec.ERR_BLOCK), made.damages, made.restored, made.reinitialised


def life_of_guard(twin: Twin, made: Any, fields: dict[str, Any], rng: Random, episodes: int) -> Iterator[Any]:
    block, action = made.block, array("H", [0] * fields["d_a"])
    for number in range(episodes):
        for h in range(fields["horizon"]):
            point = [rng.randrange(65536) for _ in range(fields["d_s"])]
            codes = [made.handle(made.controller.act(h, point, action))]
            codes.append(made.handle(made.controller.observe(h, rng.randrange(65536), point)))
            codes += [made.tick(), made.tick()]
            yield codes, (made.place.path, made.place.h, made.place.part)
        yield made.handle(made.controller.end_episode()), made.save() if number % 5 == 4 else 0
        if number % 3 == 2:
            block[rng.randrange(4 * block[_spec.H_FRESH])] ^= 1 << rng.randrange(16)
        yield digest(block), made.damages, made.restored, made.reinitialised, made.passes
