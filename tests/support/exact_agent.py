"""The C core with an exact argmax in act: a library compiled for the test, and an agent that calls it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
from cffi import FFI

from adamb.firmware_model.host import binding
from adamb.host_sim.agents.core import ONE, CoreAgent, _fractions
from support.paths import CORE

SOURCE = Path(__file__).with_name("exact_act.c")


@cache
def library():
    target = Path(mkdtemp()) / "exact_act.so"
    binding.compile_library([SOURCE, *sorted(CORE.glob("*.c"))], target, ["-O2", "-std=c99", f"-I{CORE}"])
    ffi = FFI()
    ffi.cdef("int exact_act(uint16_t *, uint32_t, uint32_t, int, const uint16_t *, uint16_t *);")
    return ffi, ffi.dlopen(str(target))


class ExactAgent(CoreAgent):
    """Learns as the core does; acts by a search."""

    def act(self, h, states):
        ffi, exact = library()
        points = np.ascontiguousarray(_fractions(states))
        actions = np.empty((self.n, self.d_a), dtype=np.uint16)
        blocks = ffi.from_buffer("uint16_t[]", self.blocks)
        code = exact.exact_act(
            blocks, self.words, self.n, h, ffi.from_buffer("uint16_t[]", points), ffi.from_buffer("uint16_t[]", actions)
        )
        assert code == 0
        return actions / ONE
