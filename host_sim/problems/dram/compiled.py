"""Simulated channels that play whole episodes in C: what they share with `simulated`, and where it lies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adamb.host_sim._sim import ffi, lib
from adamb.host_sim.compiled import CompiledProblem
from adamb.host_sim.problems.dram.channel import REQUEST
from adamb.host_sim.problems.dram.statistics import TOTALS
from adamb.host_sim.problems.dram.traffic import SyntheticTraffic
from adamb.host_sim.problems.tapes import Tapes, pointer

if TYPE_CHECKING:
    from adamb.host_sim.problems.dram.simulated import Dram

CHANNEL_BYTES = ffi.sizeof("dram_channel")


class CompiledChannels:
    """Memory of all channels of a problem, and the tapes of their traffic."""

    def __init__(self, problem: Dram, traffic: SyntheticTraffic, tapes: Tapes) -> None:
        self._counted, self._traffic, self._tapes = problem.counted, traffic, tapes
        n, epochs, requests = problem.n, problem.horizon + 1, traffic.requests
        #: Counts of the last epoch of every instance, in the order of `dram_totals`.
        self.last = np.zeros((n, TOTALS), dtype=np.int64)
        self._c = np.empty(n)
        self._channels = np.zeros((n, CHANNEL_BYTES), dtype=np.uint8)
        self._requests = tapes.array(epochs, requests, kind=REQUEST)
        self._seen = tapes.array(epochs, 3)
        self._warm = tapes.array(CHANNEL_BYTES, kind=np.uint8)
        self._crowded = tapes.array(kind=np.int32)
        world = self._world = ffi.new("dram_world *")
        world.timing, world.policy = problem.timing.as_c()[0], problem.neutral[0]
        world.n, world.d_s, world.d_a, world.horizon = n, problem.d_s, problem.d_a, problem.horizon
        world.requests, world.streams = requests, traffic.streams_n
        world.vary_load, world.vary_writes = traffic.varies
        world.walk, world.worst = problem.params["walk"], problem.worst
        world.gap_stay, world.gap_move = problem.params["g1"], problem.params["g2"]
        world.c, world.tape = pointer("double", self._c), pointer("int32_t", tapes.of)
        world.channel, world.warm = (pointer("dram_channel", each) for each in (self._channels, self._warm))
        world.last, world.sum = (pointer("dram_totals", each) for each in (self.last, self._counted.sums))
        world.episodes, world.traffic = tapes.episodes, pointer("dram_request", self._requests)
        world.seen, world.crowded = pointer("double", self._seen), pointer("int32_t", self._crowded)

    @classmethod
    def of(cls, problem: Dram) -> CompiledChannels | None:
        """None where an episode depends on the one before, on a trace, or on more than there is room for."""
        traffic, tapes = problem.traffic, Tapes(problem.seeds)
        if problem.continuing or not isinstance(traffic, SyntheticTraffic):
            return None
        epochs = problem.horizon + 1
        room = tapes.make_room(epochs * (traffic.requests * REQUEST.itemsize + 24) + CHANNEL_BYTES)
        return cls(problem, traffic, tapes) if room else None

    @property
    def most_at_once(self) -> int:
        return self._tapes.episodes

    def offer(self) -> CompiledProblem:
        return CompiledProblem.of("dram_step", self._world, self, numbers=4)

    def begin(self, c: np.ndarray, drawn: np.ndarray, noise: np.ndarray) -> np.ndarray:
        """Fill the tapes for these episodes at the locations c; their start states (m, n, d_s)."""
        world, tapes, episodes = self._world, self._tapes, len(drawn)
        self._c[:] = c
        numbers: list[Any] = [np.ascontiguousarray(each) for each in (drawn, noise)]
        pointers = [pointer("double", each) for each in numbers]
        for tape, first in enumerate(tapes.firsts):
            lib.dram_world_fill(world, tape, first, episodes, *pointers)
        crowded = int(self._crowded[tapes.of, :episodes].sum())
        self._traffic.count_epochs(world.n * episodes * (world.horizon + 1), crowded)
        states = self._seen[tapes.of, :episodes, 0, : world.d_s]
        return np.ascontiguousarray(states.swapaxes(0, 1))
