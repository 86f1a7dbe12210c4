"""Saves that survive a power cut at any moment (SPEC 12); C's adamb_store writes the same bytes.

    store = open(flash, len(block))                # an int means ERR_CONFIG
    code = store.restore(config, block)            # ERR_DEVICE: what was learnt may still be there; try again
    if code < 0:
        core.init(config, block)
    code = store.save(block)                       # now and then; 0 or an ERR_ code

`flash` has page_bytes, sector_bytes, sectors, read(address, buffer), prog(address, buffer), erase(address);
the calls return 0, or anything else when they failed: a read ERR_BLOCK where it fails until the place is
erased. adamb_store.h describes each call, its cost, and what the store does about failures.
"""

from . import snapshot

# isort: off
from ._spec import SNAPSHOT_HEAD_BYTES, STORE_HEAD_BYTES, STORE_MAGIC, STORE_VERSION, UNITS_MAX
from ._spec import ERR_BLOCK, ERR_CONFIG, ERR_DEVICE, ERR_DIMENSIONS, ERR_EMPTY, ERR_MEMORY
from ._spec import H_DIMS, H_MAGIC, H_WORDS

# isort: on
from .config import dims as config_dims
from .snapshot import get16, get32, set16, set32

_VERSION = 2
_SEQUENCE = 4
_BYTES = 8
_CRC = 12
_HEADS = STORE_HEAD_BYTES + SNAPSHOT_HEAD_BYTES
_SNAPSHOT_CRC = STORE_HEAD_BYTES + snapshot.AT_CRC
_NEXT_SLOT = 1
_NEXT_GROUP = 2


def open(flash, words):
    """The store on this storage for blocks of so many words, or ERR_CONFIG."""
    page = flash.page_bytes
    sector = flash.sector_bytes
    if not 1 <= page <= sector <= 0x10000000 or sector % page or words < H_WORDS:
        return ERR_CONFIG
    if not 0 <= flash.sectors <= 0x7FFFFFFF // sector:
        return ERR_CONFIG
    slot_bytes = (_HEADS + 2 * min(words, 4 * UNITS_MAX) + page - 1) // page * page
    store = Store(flash, slot_bytes)
    if store.slots < 2 * store.group_slots:
        return ERR_CONFIG
    store._scan()
    return store


class Store:
    """A ring of slots; `open` makes it. Two CRCs alone decide whether a save is complete."""

    def __init__(self, flash, slot_bytes):
        sectors = (slot_bytes + flash.sector_bytes - 1) // flash.sector_bytes
        self.flash = flash
        self.page = bytearray(flash.page_bytes)
        self.heads = bytearray(_HEADS)
        self.slot_bytes = slot_bytes
        self.group_bytes = sectors * flash.sector_bytes  # what is erased together, and the slots in it
        self.group_slots = self.group_bytes // slot_bytes
        self.slots = flash.sectors // sectors * self.group_slots
        self.newest = self.slots  # slot of the last completed save; `slots` when there is none
        self.last = self.slots  # slot of the last attempt, complete or not; `slots` when there is none
        self.sequence = 0  # the highest ever given to a save
        self.scanned = False  # not while something could not be read

    def _address(self, slot):
        return slot // self.group_slots * self.group_bytes + slot % self.group_slots * self.slot_bytes

    def _head_crc(self):
        state = snapshot.crc_new()
        for i in range(_HEADS):
            if i < _CRC or i >= STORE_HEAD_BYTES:
                snapshot.crc(state, self.heads[i])
        return state

    def _fetch(self, address, buffer):
        """Read; what the storage leaves unwritten is 0. True when it could be read."""
        for i in range(len(buffer)):
            buffer[i] = 0
        code = self.flash.read(address, buffer)
        if code and code != ERR_BLOCK:
            self.scanned = False  # a save may be there: look again before anything is erased
        return not code

    def _read_heads(self, slot):
        """The number of the save in a slot, 0 when there is none."""
        heads = self.heads
        if (
            not self._fetch(self._address(slot), heads)
            or get16(heads, 0) != STORE_MAGIC
            or get16(heads, _VERSION) != STORE_VERSION
            or not snapshot.crc_is(self._head_crc(), heads, _CRC)
            or get32(heads, _BYTES) > self.slot_bytes - STORE_HEAD_BYTES
        ):
            return 0
        return get32(heads, _SEQUENCE)

    def _read_snapshot(self, slot, block):
        """Read the snapshot after the heads, into the block if there is one; True when its CRC is right."""
        end = STORE_HEAD_BYTES + get32(self.heads, _BYTES)
        state = snapshot.crc_new()
        for i in range(STORE_HEAD_BYTES, _SNAPSHOT_CRC):
            snapshot.crc(state, self.heads[i])
        at = _HEADS
        while at < end:
            page = self.page if end - at >= len(self.page) else memoryview(self.page)[: end - at]
            if not self._fetch(self._address(slot) + at, page):
                return False
            for i in range(len(page)):
                snapshot.crc(state, page[i])
                if block is not None:
                    snapshot.put(block, at - STORE_HEAD_BYTES + i, page[i])
            at += len(page)
        return snapshot.crc_is(state, self.heads, _SNAPSHOT_CRC)

    def _holds(self, slot, number):
        """Whether a slot holds the save of this number, sound: what a restore would take, nothing else."""
        return self._read_heads(slot) == number and self._read_snapshot(slot, None)

    def _find(self, number):
        """The newest sound save with a number of at most this, its heads read; `slots` when there is none."""
        while True:
            best = self.slots
            best_number = 0
            for slot in range(self.slots):
                found = self._read_heads(slot)
                if best_number < found <= number:
                    best = slot
                    best_number = found
            if best == self.slots or self._holds(best, best_number):
                return best
            number = best_number - 1  # so the search ends, whatever the storage returns

    def _scan(self):
        """Look at every slot. Until all of them could be read nothing is restored, written or erased."""
        highest = 0
        self.scanned = True
        self.last = self.slots
        for slot in range(self.slots):
            found = self._read_heads(slot)
            if found > highest:
                highest = found
                self.last = slot
        self.sequence = max(highest, self.sequence)
        self.newest = self._find(highest)
        return self.scanned

    def _erase_group(self, slot):
        for offset in range(0, self.group_bytes, self.flash.sector_bytes):
            if self.flash.erase(self._address(slot) + offset):
                return False
        return True

    def _is_blank(self, slot):
        """Whether all of a slot reads as erased."""
        page = self.page
        for at in range(0, self.slot_bytes, len(page)):
            if not self._fetch(self._address(slot) + at, page):
                return False
            for i in range(len(page)):
                if page[i] != 0xFF:
                    return False
        return True

    def _make_heads(self, block):
        """The heads of the next save, with a number of its own; the length of its snapshot, or an error."""
        heads = self.heads
        length = snapshot.head(block, heads, STORE_HEAD_BYTES)
        if length < 0:
            return length
        if length > self.slot_bytes - STORE_HEAD_BYTES:
            return ERR_MEMORY
        if self.sequence >= 0xFFFFFFFF:
            return ERR_DEVICE  # older than any storage
        self.sequence += 1
        set16(heads, 0, STORE_MAGIC)
        set16(heads, _VERSION, STORE_VERSION)
        set32(heads, _SEQUENCE, self.sequence)
        set32(heads, _BYTES, length)
        snapshot.crc_set(self._head_crc(), heads, _CRC)
        return length

    def _byte(self, block, index):
        if index < STORE_HEAD_BYTES:
            return self.heads[index]
        return snapshot.byte(block, self.heads, STORE_HEAD_BYTES, index - STORE_HEAD_BYTES)

    def _write(self, slot, block, end):
        page = self.page
        for at in range(0, end, len(page)):
            for i in range(len(page)):
                page[i] = self._byte(block, at + i) if at + i < end else 0xFF
            if self.flash.prog(self._address(slot) + at, page):
                return False
        return True

    def _next_slot(self, slot, way):
        """The slot after this one, or the first of what is erased together after it."""
        first = slot // self.group_slots * self.group_slots
        return (first + self.group_slots if way == _NEXT_GROUP else slot + 1) % self.slots

    def _save_to(self, slot, block):
        """Save to this slot: 0, _NEXT_SLOT or _NEXT_GROUP where another may do, or an error."""
        first = slot % self.group_slots == 0
        if first and slot // self.group_slots == self.newest // self.group_slots:
            return _NEXT_GROUP  # the newest save is never erased
        length = self._make_heads(block)  # at every try: the block may have changed while a page was written
        if length < 0:
            return length
        if first and not self._erase_group(slot):
            return _NEXT_GROUP
        self.last = slot
        # Behind the first slot a torn save may lie; a page is written once between two erases.
        if not first and not self._is_blank(slot):
            return _NEXT_SLOT
        if not self._write(slot, block, STORE_HEAD_BYTES + length) or not self._holds(slot, self.sequence):
            return _NEXT_SLOT
        self.newest = slot
        return 0

    def save(self, block):
        """Save the block: 0, or ERR_BLOCK, ERR_MEMORY, ERR_DEVICE, and the save before is still there."""
        if not self.scanned and not self._scan():
            return ERR_DEVICE
        slot = 0 if self.last == self.slots else self._next_slot(self.last, _NEXT_SLOT)
        for _ in range(self.slots):
            code = self._save_to(slot, block)
            if code <= 0:
                return code
            if not self.scanned:
                break
            slot = self._next_slot(slot, code)
        return ERR_DEVICE

    def _has_dims(self, slot, dims):
        """Whether the snapshot of a slot has these dimensions and this horizon."""
        word = bytearray(2)
        return self._fetch(self._address(slot) + _HEADS + 2 * H_DIMS, word) and get16(word, 0) == dims

    def restore(self, config, block):
        """Make the block what it was at the last completed save of these dimensions and this horizon.

        0, or ERR_EMPTY, ERR_MEMORY, ERR_DEVICE, and where no save fits ERR_BLOCK or ERR_DIMENSIONS.
        """
        if not self.scanned and not self._scan():
            return ERR_DEVICE
        dims = config_dims(config)
        error = ERR_EMPTY
        number = self.sequence
        while True:
            slot = self._find(number)
            if not self.scanned:
                return ERR_DEVICE
            if slot == self.slots:
                return error
            number = get32(self.heads, _SEQUENCE) - 1
            error = snapshot.head_check(self.heads, STORE_HEAD_BYTES, get32(self.heads, _BYTES))
            if error:
                continue
            if not self._has_dims(slot, dims):
                error = ERR_DIMENSIONS
                continue
            if get16(self.heads, STORE_HEAD_BYTES + snapshot.AT_UNITS) << 2 > len(block):
                return ERR_MEMORY
            if not self._read_snapshot(slot, block):
                block[H_MAGIC] = 0  # the check below then refuses and clears
            error = snapshot.finish(self.heads, STORE_HEAD_BYTES, dims, block)
            if not error:
                self.newest = slot
                return 0
