"""How large the frame of each compiled function of device Python is.

On a board a function whose frame exceeds 11 words takes that frame from the heap on every call, and a locked
heap does not show it. The frame size is in the compiled file, so it can be checked without a board. The
reader covers version 6 of the .mpy format as far as frames need: strings, constants, bytecode headers.
"""

from __future__ import annotations

import ast
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from adamb.firmware_model.host.errors import AdambError
from adamb.tools.device.micropython.interpreter import compile_file

VERSION = 6
FRAME_LIMIT_WORDS = 11
EXCEPTION_SLOT_WORDS = 3
_BYTECODE = 0
_STR, _BYTES, _INT, _FLOAT, _COMPLEX, _TUPLE = 5, 6, 7, 8, 9, 10


class NotBytecode(AdambError):
    """The file is not a .mpy file of the version this reader knows."""


@dataclass(frozen=True)
class Frame:
    """One compiled function: stack words, active exception handlers, bytecode length."""

    name: str
    n_state: int
    exception_slots: int
    code_bytes: int

    @property
    def words(self) -> int:
        """Words of the frame; above 11 a board takes them from the heap."""
        return self.n_state + EXCEPTION_SLOT_WORDS * self.exception_slots


@dataclass(frozen=True)
class _Code:
    data: bytes
    kind: int
    children: tuple[_Code, ...]


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def take(self, count: int) -> bytes:
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self) -> int:
        value = 0
        while True:
            byte = self.byte()
            value = value << 7 | byte & 0x7F
            if not byte & 0x80:
                return value


def _read_string(reader: _Reader) -> str:
    head = reader.number()
    if head & 1:
        # One of the names every firmware holds; only its number is in the file.
        return f"static:{head >> 1}"
    text = reader.take(head >> 1).decode()
    reader.take(1)
    return text


def _skip_constant(reader: _Reader) -> None:
    kind = reader.byte()
    if kind == _TUPLE:
        for _ in range(reader.number()):
            _skip_constant(reader)
    elif kind >= _STR:
        length = reader.number()
        reader.take(length + (1 if kind in (_STR, _BYTES) else 0))


def _read_code(reader: _Reader) -> _Code:
    head = reader.number()
    data = reader.take(head >> 3)
    children: tuple[_Code, ...] = ()
    if head & 3 != _BYTECODE:
        raise NotBytecode("native code in a .mpy file: frames can be read from bytecode only")
    if head & 4:
        children = tuple(_read_code(reader) for _ in range(reader.number()))
    return _Code(data, head & 3, children)


def _read_frame(data: bytes, names: list[str]) -> Frame:
    """The bytecode header: sizes packed bit by bit over a variable number of bytes, then the name."""
    reader = _Reader(data)
    byte = reader.byte()
    n_state, slots, shift = byte >> 3 & 0xF, byte >> 2 & 1, 0
    while byte & 0x80:
        byte = reader.byte()
        n_state |= (byte & 0x30) << 2 * shift
        slots |= (byte & 0x02) << shift
        shift += 1
    while reader.byte() & 0x80:
        pass
    return Frame(names[reader.number()], n_state + 1, slots, len(data))


def _walk(code: _Code) -> Iterator[_Code]:
    yield code
    for child in code.children:
        yield from _walk(child)


def read_frames(content: bytes) -> list[Frame]:
    """Frames of a compiled file, the module's own first, in the order of definition."""
    if len(content) < 4 or content[0] != ord("M") or content[1] != VERSION:
        raise NotBytecode(f"not a .mpy file of version {VERSION}: starts with {content[:4]!r}")
    reader = _Reader(content)
    reader.take(4)
    n_names, n_constants = reader.number(), reader.number()
    names = [_read_string(reader) for _ in range(n_names)]
    for _ in range(n_constants):
        _skip_constant(reader)
    return [_read_frame(code.data, names) for code in _walk(_read_code(reader))]


def _compile_text(text: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "probe.py"
        source.write_text(text)
        return compile_file(source, Path(folder) / "probe.mpy").read_bytes()


@cache
def _static_names(candidates: tuple[str, ...]) -> dict[str, str]:
    """Which of these function names the compiler writes as numbers; found by compiling them."""
    frames = read_frames(_compile_text("".join(f"def {name}(): pass\n" for name in candidates)))
    return {frame.name: name for frame, name in zip(frames[1:], candidates, strict=True)}


def frames_of(source: Path) -> list[Frame]:
    """Frames of every function in a .py file, as the device compiler makes them."""
    text = source.read_text()
    names = {
        node.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }
    known = _static_names(tuple(sorted(names)))
    frames = read_frames(_compile_text(text))
    return [
        Frame(known.get(frame.name, frame.name), frame.n_state, frame.exception_slots, frame.code_bytes)
        for frame in frames
    ]


def oversized(sources: Iterable[Path], *, ignore: Iterable[str] = ()) -> list[str]:
    """Functions whose frame a board takes from the heap, one line each; module bodies run only once."""
    skipped = set(ignore)
    return [
        f"{source.name}: {frame.name} needs {frame.words} words ({frame.n_state} + "
        f"{EXCEPTION_SLOT_WORDS} x {frame.exception_slots}), the limit is {FRAME_LIMIT_WORDS}"
        for source in sources
        for frame in frames_of(source)[1:]
        if frame.words > FRAME_LIMIT_WORDS and frame.name not in skipped
    ]
