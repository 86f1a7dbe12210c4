"""A block from a file, however it left the board: raw words, a printed array, a snapshot, a dump of the flash
that holds saves, what a probe printed of a memory, or a recording of a run."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from adamb.firmware_model import _spec
from adamb.firmware_model.config import usable
from adamb.firmware_model.host.errors import InputError
from adamb.tools.inspect.probe_text import MAX_BYTES, read_probe

MARK = int(_spec.MAGIC).to_bytes(2, "little")
SNAPSHOT = struct.pack("<HH", _spec.SNAPSHOT_MAGIC, _spec.SNAPSHOT_VERSION)
STORE = struct.pack("<HH", _spec.STORE_MAGIC, _spec.STORE_VERSION)
SNAPSHOT_HEAD = struct.Struct("<HHHHII")
STORE_HEAD = struct.Struct("<HHIII")
BYTE_ROWS = tuple(int.from_bytes(mark[:2], "big") for mark in (MARK, SNAPSHOT, STORE))
OFFSET = "--at"
ZIP = b"PK\x03\x04"
_ARRAY = re.compile(r"array\(\s*['\"]H['\"]\s*,\s*\[([^\]]*)\]")
_HEX_WORDS = re.compile(r"\s*(?:0x)?[0-9a-fA-F]{4}(?:[\s,]+(?:0x)?[0-9a-fA-F]{4})*\s*")


@dataclass(frozen=True)
class BlockFile:
    """The words of a block and where they were found."""

    path: Path
    words: np.ndarray
    form: str
    offset: int = 0
    problems: tuple[str, ...] = ()
    """Faults of the envelope that the words came in."""


def read_block(path: Path, *, at: int | None = None) -> BlockFile:
    """The block in a file, perhaps at this byte or in this frame; an InputError says what the file is not."""
    if path.stat().st_size > MAX_BYTES:
        raise InputError("file", str(path), f"is larger than {MAX_BYTES} bytes; that is no block")
    content = path.read_bytes()
    if content.startswith(ZIP):
        return _from_recording(path, at)
    words = _text_words(content)
    if words is not None:
        return BlockFile(path, _checked(path, words), "printed words")
    probed = read_probe(path, content)
    content, form = probed if probed is not None else (content, "little-endian words")
    if content.startswith(SNAPSHOT) and at is None:
        return _from_snapshot(path, content, "a snapshot", 0)
    saved = None if at is not None else _newest_save(content)
    if saved is not None:
        return _from_snapshot(path, content[saved[0] :], f"save {saved[1]} of a store", saved[0])
    return _from_bytes(path, content, at, form)


def holds_block(path: Path) -> bool:
    """Whether a file is one of a block, and not a trace; an InputError where it is neither."""
    from adamb.host_sim.traces import TraceReader

    try:
        read_block(path)
    except InputError as no_block:
        with path.open("rb") as file:
            marked = file.read(4).startswith((MARK, MARK[::-1], SNAPSHOT, STORE, ZIP))
        if marked or f"{OFFSET} " in no_block.limit or no_block.value != str(path):  # a line of a print
            raise
        try:
            TraceReader(path)
        except InputError as no_trace:
            raise InputError("file", str(path), f"{no_block.limit}; and as a trace: {no_trace}") from None
        return False
    return True


def _from_recording(path: Path, frame: int | None) -> BlockFile:
    from adamb.host_sim.recording import Recording

    recording = Recording.load(path)
    count = len(recording.frames)
    if frame is not None and not -count <= frame < count:
        raise InputError("at", frame, f"the recording has frames 0 to {count - 1}")
    words = recording.frames[-1 if frame is None else frame]
    missing = int(words[_spec.H_UNITS]) * int(_spec.UNIT_WORDS) - len(words)
    whole = np.concatenate([words, np.zeros(max(0, missing), dtype=np.uint16)])
    return BlockFile(path, whole, "a frame of a recording")


def _from_snapshot(path: Path, content: bytes, form: str, offset: int) -> BlockFile:
    """The words of a snapshot (SPEC 11.2), even if its checksum says that some are wrong."""
    if len(content) < SNAPSHOT_HEAD.size:
        raise InputError("file", str(path), "is the beginning of a snapshot; the rest is missing")
    _, _, spec_hash, units, words, crc = SNAPSHOT_HEAD.unpack_from(content)
    if spec_hash != _spec.SPEC_HASH:
        raise InputError("file", str(path), "is a snapshot by another version of the core")
    body = content[SNAPSHOT_HEAD.size : SNAPSHOT_HEAD.size + 2 * words]
    if len(body) < 2 * max(words, int(_spec.H_WORDS)) or not words <= 4 * units <= 4 * int(_spec.UNITS_MAX):
        raise InputError("file", str(path), f"is a snapshot of {words} words, of which {len(body) // 2} are here")
    problems: tuple[str, ...] = ()
    if zlib.crc32(body, zlib.crc32(content[: SNAPSHOT_HEAD.size - 4])) != crc:
        problems = ("the snapshot's checksum does not match its words",)
    used = np.frombuffer(body, dtype="<u2").astype(np.uint16)
    rest = np.zeros(int(_spec.UNIT_WORDS) * units - words, dtype=np.uint16)
    return BlockFile(path, _marked(path, np.concatenate([used, rest])), form, offset, problems)


def _marked(path: Path, words: np.ndarray) -> np.ndarray:
    if int(words[0]) != _spec.MAGIC:
        raise InputError("file", str(path), "is a snapshot of something that is not a block")
    return words


def _newest_save(content: bytes) -> tuple[int, int] | None:
    """Place and number of the newest sound save of a store (SPEC 12)."""
    found = max(_saves(content), default=None)
    return None if found is None else (found[1], found[0])


def _saves(content: bytes) -> Iterator[tuple[int, int]]:
    """(number, place of the snapshot) of every save whose two checksums are right."""
    at = content.find(STORE)
    while at >= 0:
        snapshot = at + STORE_HEAD.size
        head = content[snapshot : snapshot + SNAPSHOT_HEAD.size]
        if len(head) == SNAPSHOT_HEAD.size:
            _, _, sequence, length, crc = STORE_HEAD.unpack_from(content, at)
            body = content[snapshot + SNAPSHOT_HEAD.size : snapshot + length]
            whole = zlib.crc32(body, zlib.crc32(head[:-4])) == SNAPSHOT_HEAD.unpack(head)[5]
            if sequence and whole and zlib.crc32(head, zlib.crc32(content[at : snapshot - 4])) == crc:
                yield sequence, snapshot
        at = content.find(STORE, at + 1)


def _from_bytes(path: Path, content: bytes, offset: int | None, form: str) -> BlockFile:
    start = offset or 0
    if not 0 <= start < max(len(content), 1):
        raise InputError("at", start, f"the file has {len(content)} bytes")
    part = content[start:]
    if len(part) < 2 * _spec.H_WORDS:
        raise InputError("file", str(path), f"has {len(part)} bytes; a block has at least {2 * _spec.H_WORDS}")
    words = np.frombuffer(part[: len(part) // 2 * 2], dtype="<u2").astype(np.uint16)
    if int(words[0]) != _spec.MAGIC:
        raise InputError("file", str(path), _why_not(content, int(words[0]), start))
    length = min(len(words), max(int(words[_spec.H_UNITS]) * int(_spec.UNIT_WORDS), int(_spec.H_WORDS)))
    kept = words if offset is None else words[:length]
    return BlockFile(path, kept, form, start)


def _why_not(content: bytes, first: int, start: int) -> str:
    if first == (int(_spec.MAGIC) >> 8 | (int(_spec.MAGIC) & 255) << 8):
        return "holds big-endian words; swap the bytes of every word (dd conv=swab)"
    found = content.find(MARK, start)
    while found >= 0 and not _begins_block(content[found : found + 2 * _spec.H_WORDS]):
        found = content.find(MARK, found + 1)
    if found > 0:
        return f"does not start with a block, but there is one at byte {found}: add {OFFSET} {found}"
    return f"is not a block: it starts with {first:#06x}, a block with {int(_spec.MAGIC):#06x}"


def _begins_block(content: bytes) -> bool:
    words = np.frombuffer(content[: len(content) // 2 * 2], dtype="<u2").tolist()
    return len(words) >= _spec.H_WORDS and usable(words)


def _text_words(content: bytes) -> list[int] | None:
    """Words that a board printed, as array('H', [...]) or as hexadecimal words; None for anything else.

    Rows of two bytes, by xxd -p, look like the words: those of a block begin with its mark.
    """
    try:
        text = content.decode("ascii")
    except UnicodeDecodeError:
        return None
    printed = _ARRAY.search(text)
    if printed:
        return [int(word) for word in re.findall(r"-?\d+", printed[1])]
    if _HEX_WORDS.fullmatch(text):
        words = [int(word, 16) for word in re.findall(r"(?:0x)?[0-9a-fA-F]{4}", text)]
        return None if words[0] in BYTE_ROWS else words
    return None


def _checked(path: Path, words: list[int]) -> np.ndarray:
    if len(words) < _spec.H_WORDS or any(not 0 <= word <= 0xFFFF for word in words) or words[0] != _spec.MAGIC:
        raise InputError("file", str(path), "holds printed numbers that are not the words of a block")
    return np.array(words, dtype=np.uint16)
