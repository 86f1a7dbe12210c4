"""Learners in compiled memory: C makes them, and steps them all in a call."""

from __future__ import annotations

from typing import Any

import numpy as np

from adamb.host_sim._sim import ffi, lib
from adamb.host_sim.agent import AGENT_STREAM, Agent, CompiledAgent


class CompiledLearners(Agent):
    """`c_name` begins the names of the C functions; a subclass hands its configuration to `_make`."""

    c_name = ""
    offset = action_offset = 0.0
    _learners: Any

    def _make(self, config: Any) -> None:
        words = [
            np.random.SeedSequence([seed, AGENT_STREAM]).generate_state(1, np.uint64) for seed in self.seeds
        ]
        seeds = ffi.from_buffer("uint64_t[]", np.concatenate(words))
        made = getattr(lib, f"{self.c_name}_new")(config, seeds)
        if made == ffi.NULL:
            raise MemoryError("the host has not enough memory for these learners")
        self._learners = ffi.gc(made, getattr(lib, f"{self.c_name}_free"))

    def act(self, h: int, states: np.ndarray) -> np.ndarray:
        actions = np.empty((self.n, self.d_a))
        pointer = ffi.from_buffer("double[]", actions)
        getattr(lib, f"{self.c_name}_act")(
            self._learners, 0, self.n, h, doubles(states + self.offset), pointer
        )
        return actions - self.action_offset

    def observe(self, h: int, rewards: np.ndarray, next_states: np.ndarray) -> None:
        call, following = getattr(lib, f"{self.c_name}_observe"), doubles(next_states + self.offset)
        if call(self._learners, 0, self.n, h, doubles(rewards), following) < 0:
            raise MemoryError("the host has not enough memory for what is learnt")

    def end_episode(self) -> None:
        if hasattr(lib, f"{self.c_name}_end_episode"):
            getattr(lib, f"{self.c_name}_end_episode")(self._learners, 0, self.n)

    def _compiled(self) -> CompiledAgent:
        offsets = {"offset": self.offset, "action_offset": self.action_offset}
        return CompiledAgent.of(self.c_name, self._learners, self.n, **offsets)


def doubles(array: np.ndarray) -> Any:
    """A pointer to numbers the C side only reads; valid while `array` lives."""
    return ffi.from_buffer("double[]", np.ascontiguousarray(array, dtype=np.float64))
