"""cffi build of the C core and its batch entry: one extension, or one plain shared library without Python.h.

What Python may call is the text between `/* cffi begin */` and `/* cffi end */` of each header.
"""

import re
from pathlib import Path

from cffi import FFI

FIRMWARE = Path(__file__).resolve().parents[1]
FOLDERS = ("c", "host/batch")
_SECTION = re.compile(r"/\* cffi begin \*/(.*?)/\* cffi end \*/", re.DOTALL)
HEADERS = [
    *(FIRMWARE / "c" / f"adamb{part}.h" for part in ("", "_snapshot", "_store", "_guard", "_unit")),
    FIRMWARE / "host" / "batch" / "adamb_batch.h",
]
SOURCES = [path for folder in FOLDERS for path in sorted((FIRMWARE / folder).glob("*.c"))]
FLAGS = ["-O2", "-std=c99", "-DADAMB_HAS_DIVIDE"]


def declarations() -> str:
    """The C declarations that the headers offer to Python, for both kinds of build."""
    return "\n".join(section for header in HEADERS for section in _SECTION.findall(header.read_text()))


ffibuilder = FFI()
ffibuilder.cdef(declarations() + "\n#define ADAMB_SPEC_HASH ...\n#define ADAMB_LEARNER_HASH ...\n")
ffibuilder.set_source(
    "adamb.firmware_model.host._core",
    '#include "adamb_spec.h"\n' + "\n".join(f'#include "{header.name}"' for header in HEADERS),
    sources=[f"firmware_model/{path.relative_to(FIRMWARE).as_posix()}" for path in SOURCES],
    include_dirs=[f"firmware_model/{folder}" for folder in FOLDERS],
    extra_compile_args=FLAGS,
)
