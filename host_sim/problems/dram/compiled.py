"""The channels of a problem in C, and the tapes of their traffic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adamb.host_sim._sim import ffi, lib
from adamb.host_sim.compiled import CompiledProblem
from adamb.host_sim.problems.dram.channel import REQUEST
from adamb.host_sim.problems.dram.replay import TraceTraffic
from adamb.host_sim.problems.dram.statistics import TOTALS
from adamb.host_sim.problems.tapes import Tapes, pointer

if TYPE_CHECKING:
    from adamb.host_sim.problems.dram.simulated import Dram

CHANNEL_BYTES = ffi.sizeof("dram_channel")


class Channels:
    """Memory of all channels of a problem, and of what is asked of them."""

    def __init__(self, problem: Dram) -> None:
        self._traffic = traffic = problem.traffic
        self._tapes = tapes = Tapes(problem.seeds)
        self._replay = traffic if isinstance(traffic, TraceTraffic) else None
        n, epochs, requests = problem.n, problem.horizon + 1, traffic.requests
        room = tapes.make_room(epochs * (requests * REQUEST.itemsize + 32) + CHANNEL_BYTES)
        #: Whether tapes hold whole episodes: none depends on the one before or on a trace, and there is room.
        self.whole = room and self._replay is None and not problem.continuing
        if not self.whole:
            tapes.episodes = epochs = 1
        #: Counts of the last epoch of every instance, in the order of `dram_totals`.
        self.last = np.zeros((n, TOTALS), dtype=np.int64)
        self._c = np.empty(n)
        self._channels = np.zeros((n, CHANNEL_BYTES), dtype=np.uint8)
        self._asked = tapes.array(epochs, requests, kind=REQUEST)
        self._seen = tapes.array(epochs, 4)
        self._warm = tapes.array(CHANNEL_BYTES, kind=np.uint8)
        #: `latent` of a tape: locality, load and write share, each in [0,1].
        self.traffic = ffi.new("dram_traffic[]", len(tapes.firsts))
        world = self.world = ffi.new("dram_world *")
        world.timing, world.policy = problem.timing.as_c()[0], problem.neutral[0]
        world.n, world.d_s, world.d_a, world.horizon = n, problem.d_s, problem.d_a, problem.horizon
        world.requests, world.streams = requests, traffic.streams_n
        world.vary_load, world.vary_writes = traffic.varies
        world.walk, world.worst = problem.params["walk"], problem.worst
        world.gap_stay, world.gap_move = problem.params["g1"], problem.params["g2"]
        world.c, world.tape = pointer("double", self._c), pointer("int32_t", tapes.of)
        world.channel, world.warm = (pointer("dram_channel", each) for each in (self._channels, self._warm))
        world.last, world.sum = (pointer("dram_totals", each) for each in (self.last, problem.counted.sums))
        world.episodes, world.epochs = tapes.episodes, epochs
        world.asked, world.seen = pointer("dram_request", self._asked), pointer("double", self._seen)
        world.traffic = self.traffic

    @property
    def most_at_once(self) -> int:
        return self._tapes.episodes

    def offer(self) -> CompiledProblem:
        return CompiledProblem.of("dram_step", self.world, self, numbers=4)

    def start(self, drawn: np.ndarray) -> np.ndarray:
        """The first epoch of the next episode; start states (n, d_s)."""
        for tape, first in enumerate(self._tapes.firsts):
            if self._replay is None:
                row = np.ascontiguousarray(drawn[first])
                lib.dram_world_start(self.world, tape, 0, pointer("double", row))
            else:
                self._replay.start(tape, drawn[first], self._asked[tape, 0, 0])
                lib.dram_world_take(self.world, tape, 1)
        return self._count(self._seen[self._tapes.of, :1, :1])[0]

    def next(self, h: int, c: np.ndarray, noise: np.ndarray) -> None:
        """The epoch of step h at the locations c."""
        self._c[:] = c
        epoch = (h + 1) % self.world.epochs
        numbers = np.ascontiguousarray(noise)
        for tape, first in enumerate(self._tapes.firsts):
            if self._replay is None:
                lib.dram_world_next(self.world, tape, 0, h, first, pointer("double", numbers))
            else:
                self._replay.next(tape, self._asked[tape, 0, 0])
                lib.dram_world_take(self.world, tape, 0)
        self._count(self._seen[self._tapes.of, :1, epoch : epoch + 1])

    def fill(self, c: np.ndarray, drawn: np.ndarray, noise: np.ndarray) -> np.ndarray:
        """All epochs of these episodes at the locations c; their start states (m, n, d_s)."""
        self._c[:] = c
        numbers: list[Any] = [np.ascontiguousarray(each) for each in (drawn, noise)]
        pointers = [pointer("double", each) for each in numbers]
        for tape, first in enumerate(self._tapes.firsts):
            lib.dram_world_fill(self.world, tape, first, len(drawn), *pointers)
        return self._count(self._seen[self._tapes.of, : len(drawn)])

    def gaps(self, locality: float, load: float) -> tuple[float, float]:
        """Mean cycles until a stream returns to its row and until it asks for another, as far as is known."""
        found = ffi.new("double[2]")
        lib.dram_world_gaps(self.world, locality, load, found)
        return found[0], found[1]

    def _count(self, seen: np.ndarray) -> np.ndarray:
        """Count epochs (n, m, epochs, 4) that were drawn; the first states (m, n, d_s) of their episodes."""
        self._traffic.count(seen[..., 3])
        return np.ascontiguousarray(seen[:, :, 0, : self.world.d_s].swapaxes(0, 1))
