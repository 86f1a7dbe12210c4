"""Blocks and snapshots as files: low byte first, on every machine."""

from __future__ import annotations

import sys
from array import array
from pathlib import Path

from adamb.firmware_model import _spec, check, snapshot
from adamb.firmware_model.host import binding
from adamb.firmware_model.host.errors import InputError

_AT_DIMS = _spec.SNAPSHOT_HEAD_BYTES + 2 * _spec.H_DIMS


def pack(dump: Path) -> tuple[bytes, int]:
    """The snapshot of a dumped block, and the bytes of that block."""
    content = dump.read_bytes()
    block = _little_endian(array("H", content[: len(content) // 2 * 2]))
    data = bytearray(max(0, snapshot.bytes(block)))
    if not data or snapshot.save(block, data) < 0:
        raise InputError("dump", str(dump), "is not a block of this version that passes the self-check")
    return bytes(data), 8 * block[_spec.H_UNITS]


def unpack(file: Path, size: int = 0) -> array:
    """The block of a snapshot in so many bytes; 0: as many as it had."""
    data = file.read_bytes()
    own = 8 * snapshot.get16(data, snapshot.AT_UNITS) if len(data) >= _spec.SNAPSHOT_HEAD_BYTES else 0
    if size and size < own:
        raise InputError("budget", size, f"the saved block has {own} bytes")
    block = array("H", bytes((size or own) // 2 * 2))
    pointer = binding.ffi.from_buffer("uint16_t[]", block)
    dims = snapshot.get16(data, _AT_DIMS) if len(data) > _AT_DIMS + 1 else 0
    config = {"d_s": dims & 15, "d_a": dims >> 4 & 15, "horizon": dims >> 8}  # whatever it was saved with
    given = binding.ffi.new("adamb_config *", config)
    if binding.lib.adamb_snapshot_restore(data, len(data), given, pointer, len(block)):
        raise InputError("file", str(file), "is not a snapshot of this version, or it is damaged")
    return block


def facts(file: Path) -> dict[str, int]:
    """What a snapshot holds."""
    block = unpack(file)
    dims = block[_spec.H_DIMS]
    return {
        "version": _spec.SNAPSHOT_VERSION,
        "bytes": file.stat().st_size,
        "block_bytes": 8 * block[_spec.H_UNITS],
        "state_dims": dims & 15,
        "action_dims": dims >> 4 & 15,
        "horizon": dims >> 8,
        **check.stats(block),
    }


def dump_of(block: array) -> bytes:
    """The block as a board would dump it."""
    return _little_endian(array("H", block)).tobytes()


def _little_endian(words: array) -> array:
    """Words of this machine from words of a file, and back."""
    if sys.byteorder == "big":
        words.byteswap()
    return words
