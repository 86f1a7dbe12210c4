"""A block as bytes and back (SPEC 11); the bytes are those of C's adamb_snapshot_save.

    out = bytearray(snapshot.bytes(block))
    length = snapshot.save(block, out)             # negative: an ERR_ code
    code = snapshot.restore(out, config, block)    # 0, or an ERR_ code
    length = snapshot.write(block, file)           # the same in pieces, to an open file, and back
    code = snapshot.read(file, config, block)

Everything is put together byte by byte and the CRC in two halves of 16 bits, so that no number leaves the
31 bits that MicroPython keeps without allocating.
"""

from array import array

# isort: off
from ._spec import SNAPSHOT_HEAD_BYTES, SNAPSHOT_MAGIC, SNAPSHOT_VERSION, SPEC_HASH, UNITS_MAX
from ._spec import ERR_BLOCK, ERR_DEVICE, ERR_DIMENSIONS, ERR_MEMORY
from ._spec import H_DIMS, H_FRESH, H_MAGIC, H_UNITS, H_WORDS

# isort: on
from .check import check
from .config import dims as config_dims
from .config import usable

AT_VERSION = 2
AT_HASH = 4
AT_UNITS = 6
AT_WORDS = 8
AT_CRC = 12
PIECE_BYTES = 32
# The CRC of each half byte: low byte first, its low 16 bits, then the high ones.
_CRC_LOW = (
    b"\x00\x00\x64\x10\xc8\x20\xac\x30\x90\x41\xf4\x51\x58\x61\x3c\x71"
    b"\x20\x83\x44\x93\xe8\xa3\x8c\xb3\xb0\xc2\xd4\xd2\x78\xe2\x1c\xf2"
)
_CRC_HIGH = (
    b"\x00\x00\xb7\x1d\x6e\x3b\xd9\x26\xdc\x76\x6b\x6b\xb2\x4d\x05\x50"
    b"\xb8\xed\x0f\xf0\xd6\xd6\x61\xcb\x64\x9b\xd3\x86\x0a\xa0\xbd\xbd"
)


def crc_new():
    """The CRC-32 (the polynomial of zlib) of nothing: {low half, high half}, inverted."""
    return array("H", (0xFFFF, 0xFFFF))


def crc(state, byte):
    """Take a byte into the CRC."""
    low = state[0] ^ byte
    high = state[1]
    for _ in (0, 1):
        i = (low & 15) << 1
        low = (low >> 4 | (high & 15) << 12) ^ (_CRC_LOW[i] | _CRC_LOW[i + 1] << 8)
        high = high >> 4 ^ (_CRC_HIGH[i] | _CRC_HIGH[i + 1] << 8)
    state[0] = low
    state[1] = high


def crc_is(state, data, at):
    """Whether the four bytes at this place are the CRC."""
    return state[0] ^ 0xFFFF == get16(data, at) and state[1] ^ 0xFFFF == get16(data, at + 2)


def crc_set(state, data, at):
    set16(data, at, state[0] ^ 0xFFFF)
    set16(data, at + 2, state[1] ^ 0xFFFF)


def get16(data, at):
    return data[at] | data[at + 1] << 8


def get32(data, at):
    return get16(data, at) | get16(data, at + 2) << 16


def set16(data, at, value):
    data[at] = value & 0xFF
    data[at + 1] = value >> 8 & 0xFF


def set32(data, at, value):
    set16(data, at, value & 0xFFFF)
    set16(data, at + 2, value >> 16)


def bytes(block):
    """Bytes that a snapshot of the block takes now, or ERR_BLOCK."""
    if len(block) < H_WORDS or not usable(block):
        return ERR_BLOCK
    if block[H_FRESH] > block[H_UNITS] or block[H_UNITS] << 2 > len(block):
        return ERR_BLOCK
    return SNAPSHOT_HEAD_BYTES + 8 * block[H_FRESH]


def byte(block, head, at, index):
    """Byte `index` of the snapshot whose head lies in `head` at `at`."""
    if index < SNAPSHOT_HEAD_BYTES:
        return head[at + index]
    index -= SNAPSHOT_HEAD_BYTES
    return block[index >> 1] >> (8 if index & 1 else 0) & 0xFF


def put(block, index, byte):
    """Byte `index`, one behind the head, into the block. Low bytes first."""
    word = (index - SNAPSHOT_HEAD_BYTES) >> 1
    block[word] = block[word] | byte << 8 if index & 1 else byte


def head(block, out, at):
    """Write the head of a snapshot; its length, or ERR_BLOCK for a block that fails the check."""
    length = bytes(block)
    if length < 0:
        return length
    set16(out, at, SNAPSHOT_MAGIC)
    set16(out, at + AT_VERSION, SNAPSHOT_VERSION)
    set16(out, at + AT_HASH, SPEC_HASH)
    set16(out, at + AT_UNITS, block[H_UNITS])
    set32(out, at + AT_WORDS, block[H_FRESH] << 2)
    state = crc_new()
    for i in range(length):
        if i < AT_CRC or i >= SNAPSHOT_HEAD_BYTES:
            crc(state, byte(block, out, at, i))
    crc_set(state, out, at + AT_CRC)
    # After the CRC: a bit that flips from here on makes it wrong, and one that flipped before is seen.
    return ERR_BLOCK if check(block) else length


def save(block, out):
    """Write a snapshot to a bytearray; its length, or ERR_BLOCK or ERR_MEMORY, and nothing is written."""
    start = bytearray(SNAPSHOT_HEAD_BYTES)
    length = head(block, start, 0)
    if length > len(out):
        return ERR_MEMORY
    for i in range(length):
        out[i] = byte(block, start, 0, i)
    return length


def write(block, file):
    """Write a snapshot to an open file in pieces; its length, or ERR_BLOCK or ERR_DEVICE."""
    start = bytearray(SNAPSHOT_HEAD_BYTES)
    piece = bytearray(PIECE_BYTES)
    length = head(block, start, 0)
    n = 0
    for i in range(length):
        piece[n] = byte(block, start, 0, i)
        n += 1
        if n == PIECE_BYTES or i + 1 == length:
            if file.write(memoryview(piece)[:n]) != n:
                return ERR_DEVICE
            n = 0
    return length


def head_check(head, at, length):
    """0 when a head is one of this version and of a snapshot of this length; else ERR_BLOCK."""
    words = get32(head, at + AT_WORDS)
    units = get16(head, at + AT_UNITS)
    known = (
        get16(head, at) == SNAPSHOT_MAGIC
        and get16(head, at + AT_VERSION) == SNAPSHOT_VERSION
        and get16(head, at + AT_HASH) == SPEC_HASH
    )
    fits = units <= UNITS_MAX and H_WORDS <= words <= units << 2 and length == SNAPSHOT_HEAD_BYTES + 2 * words
    return 0 if known and fits else ERR_BLOCK


def finish(head, at, dims, block):
    """After the last put: clear the rest, check all, dims too; on an error the whole block becomes 0."""
    keep = get32(head, at + AT_WORDS)
    good = not check(block) and block[H_DIMS] == dims and block[H_FRESH] << 2 == keep
    if not good or block[H_UNITS] != get16(head, at + AT_UNITS):
        keep = 0
    for i in range(keep, len(block)):
        block[i] = 0
    return 0 if keep else ERR_BLOCK


def restore(data, config, block):
    """Make the block what it was when saved; adamb_snapshot.h says what each error leaves behind.

    A snapshot of other dimensions or another horizon than the configuration's is refused (ERR_DIMENSIONS).
    """
    if len(data) < SNAPSHOT_HEAD_BYTES or head_check(data, 0, len(data)):
        return ERR_BLOCK
    state = crc_new()
    for i in range(len(data)):
        if i < AT_CRC or i >= SNAPSHOT_HEAD_BYTES:
            crc(state, data[i])
    if not crc_is(state, data, AT_CRC):
        return ERR_BLOCK
    units = get16(data, SNAPSHOT_HEAD_BYTES + 2 * H_UNITS)
    fresh = get16(data, SNAPSHOT_HEAD_BYTES + 2 * H_FRESH)
    if units != get16(data, AT_UNITS) or fresh << 2 != get32(data, AT_WORDS):
        return ERR_BLOCK
    dims = config_dims(config)
    if get16(data, SNAPSHOT_HEAD_BYTES + 2 * H_DIMS) != dims:
        return ERR_DIMENSIONS
    if units << 2 > len(block):
        return ERR_MEMORY
    for i in range(SNAPSHOT_HEAD_BYTES, len(data)):
        put(block, i, data[i])
    return finish(data, 0, dims, block)


def _read_words(file, head, block, first):
    """Read what is behind the head, into the block if there is one; 0 when its CRC is right."""
    end = SNAPSHOT_HEAD_BYTES + 2 * get32(head, AT_WORDS)
    at = SNAPSHOT_HEAD_BYTES
    state = crc_new()
    for i in range(AT_CRC):
        crc(state, head[i])
    file.seek(at)
    piece = bytearray(PIECE_BYTES)
    while at < end:
        n = min(end - at, PIECE_BYTES)
        if file.readinto(memoryview(piece)[:n]) != n:
            return ERR_DEVICE
        for i in range(n):
            crc(state, piece[i])
            if block is not None:
                put(block, at + i, piece[i])
            if at == SNAPSHOT_HEAD_BYTES:
                first[i] = piece[i]
        at += n
    return 0 if crc_is(state, head, AT_CRC) else ERR_BLOCK


def read(file, config, block):
    """The same from an open file in pieces, read twice: 0, an error of restore, or ERR_DEVICE for a file too short."""
    head = bytearray(SNAPSHOT_HEAD_BYTES)
    first = bytearray(PIECE_BYTES)
    file.seek(0)
    if file.readinto(head) != SNAPSHOT_HEAD_BYTES:
        return ERR_DEVICE
    if head_check(head, 0, SNAPSHOT_HEAD_BYTES + 2 * get32(head, AT_WORDS)):
        return ERR_BLOCK
    error = _read_words(file, head, None, first)
    if error:
        return error
    units = get16(head, AT_UNITS)
    if get16(first, 2 * H_UNITS) != units or get16(first, 2 * H_FRESH) << 2 != get32(head, AT_WORDS):
        return ERR_BLOCK
    dims = config_dims(config)
    if get16(first, 2 * H_DIMS) != dims:
        return ERR_DIMENSIONS
    if units << 2 > len(block):
        return ERR_MEMORY
    error = _read_words(file, head, block, first)
    if error:
        block[H_MAGIC] = 0  # the check below then refuses and clears
    found = finish(head, 0, dims, block)
    return error or found
