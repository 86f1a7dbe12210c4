"""cffi build of the C core: one extension from every file in firmware_model/c.

What Python may call is the text between `/* cffi begin */` and `/* cffi end */` of each header.
"""

import re
from pathlib import Path

from cffi import FFI

FOLDER = Path(__file__).resolve().parent / "c"
_SECTION = re.compile(r"/\* cffi begin \*/(.*?)/\* cffi end \*/", re.DOTALL)
HEADERS = sorted(FOLDER.glob("*.h"))
SOURCES = sorted(FOLDER.glob("*.c"))


def declarations() -> str:
    """The C declarations that the headers offer to Python."""
    return "\n".join(section for header in HEADERS for section in _SECTION.findall(header.read_text()))


ffibuilder = FFI()
ffibuilder.cdef(declarations())
ffibuilder.set_source(
    "adamb.firmware_model._core",
    "\n".join(f'#include "{header.name}"' for header in HEADERS),
    sources=[f"firmware_model/c/{path.name}" for path in SOURCES],
    include_dirs=["firmware_model/c"],
    extra_compile_args=["-O2", "-std=c99"],
)
