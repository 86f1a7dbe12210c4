"""Learners in compiled memory: C makes them, steps them all in a call, and gives what they know as bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from adamb.host_sim._sim import ffi, lib
from adamb.host_sim.agent import AGENT_STREAM, Agent, CompiledAgent
from adamb.host_sim.going_on import MEMORY


class CompiledLearners(Agent):
    """`c_name` begins the names of the C functions; a subclass hands its configuration to `_make`."""

    c_name = ""
    in_memory = True
    offset = action_offset = 0.0
    _learners: Any

    def _make(self, config: Any) -> None:
        words = [
            np.random.SeedSequence([seed, AGENT_STREAM]).generate_state(1, np.uint64) for seed in self.seeds
        ]
        self._made_of = config, np.concatenate(words)
        self._learners = self._new()

    def _new(self) -> Any:
        """Learners that have seen nothing; they free themselves."""
        config, seeds = self._made_of
        made = getattr(lib, f"{self.c_name}_new")(config, ffi.from_buffer("uint64_t[]", seeds))
        if made == ffi.NULL:
            raise MemoryError("the host has not enough memory for these learners")
        return ffi.gc(made, getattr(lib, f"{self.c_name}_free"))

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

    def memory(self) -> np.ndarray:
        row, call = ffi.new("kept_row *"), getattr(lib, f"{self.c_name}_kept")
        call(self._learners, row)
        found = np.empty(row.at, dtype=np.uint8)
        pointer = ffi.from_buffer("uint8_t[]", found)
        row.bytes, row.size, row.at = pointer, len(found), 0
        call(self._learners, row)
        return found

    def refuses(self, kept: Mapping[str, np.ndarray]) -> str | None:
        """Others take the bytes first: C reads none outside, but is not undone where it finds them wrong."""
        return None if self._read(kept, self._new()) else "what it has learnt is damaged"

    def go_on(self, episodes: int, kept: Mapping[str, np.ndarray]) -> None:
        self._read(kept, self._learners)

    def _read(self, kept: Mapping[str, np.ndarray], learners: Any) -> bool:
        found = np.ascontiguousarray(kept[MEMORY])
        row, pointer = ffi.new("kept_row *"), ffi.from_buffer("uint8_t[]", found)
        row.bytes, row.size, row.back = pointer, len(found), 1
        getattr(lib, f"{self.c_name}_kept")(learners, row)
        if row.wrong < 0:
            raise MemoryError("the host has not enough memory for what was learnt")
        return not row.wrong and row.at == row.size


def doubles(array: np.ndarray) -> Any:
    """A pointer to numbers the C side only reads; valid while `array` lives."""
    return ffi.from_buffer("double[]", np.ascontiguousarray(array, dtype=np.float64))
