"""cffi build of the host simulator's compiled parts: one extension from every file under host_sim/c.

What Python may call is the text between `/* cffi begin */` and `/* cffi end */` of each header, so a new C
file needs no change here.
"""

import re
from pathlib import Path

from cffi import FFI

FOLDER = Path(__file__).resolve().parent / "c"
_SECTION = re.compile(r"/\* cffi begin \*/(.*?)/\* cffi end \*/", re.DOTALL)


def declarations(headers: list[Path]) -> str:
    """The C declarations that the headers offer to Python."""
    return "\n".join(section for header in headers for section in _SECTION.findall(header.read_text()))


HEADERS = sorted(FOLDER.rglob("*.h"))
# Fused multiply-add, which some processors have and compilers then use, rounds once in place of twice.
# Without it a seed gives the same numbers everywhere. Nothing here asks whether an operation trapped.
FLAGS = ["-O3", "-std=c99", "-ffp-contract=off", "-fno-trapping-math"]
ffibuilder = FFI()
ffibuilder.cdef(declarations(HEADERS))
ffibuilder.set_source(
    "adamb.host_sim._sim",
    "\n".join(f'#include "{header.relative_to(FOLDER)}"' for header in HEADERS),
    sources=[f"host_sim/c/{path.relative_to(FOLDER)}" for path in sorted(FOLDER.rglob("*.c"))],
    include_dirs=["host_sim/c"],
    extra_compile_args=FLAGS,
)
