"""The shipped controller as an agent: the C core through its batch entry, or the Python twin."""

from __future__ import annotations

import hashlib
from array import array
from importlib import import_module
from typing import Any

import numpy as np

from adamb.firmware_model import _spec
from adamb.firmware_model.host import binding
from adamb.firmware_model.host.errors import AdambError
from adamb.firmware_model.host.options import WORD_BYTES, block_words, make_config
from adamb.host_sim._sim import ffi as sim
from adamb.host_sim.agents import Agent, CompiledAgent, Shape

ONE = 65536
UNIT_BYTES = WORD_BYTES * _spec.UNIT_WORDS


class CoreAgent(Agent):
    """n controllers in one array of blocks, each exactly as large as the budget."""

    name = "adamb"

    def __init__(self, shape: Shape, *, budget_bytes: int | str | None = None, **options: Any) -> None:
        super().__init__(shape, budget_bytes=budget_bytes)
        self.config = make_config(self.d_s, self.d_a, self.horizon, options)
        self.words = block_words(self.config, self.budget_bytes)
        self.blocks = np.zeros((self.n, self.words), dtype=np.uint16)
        for block, seed in zip(self.blocks, self.seeds, strict=True):
            pointer = binding.ffi.from_buffer("uint16_t[]", block)
            _raise(binding.lib.adamb_init(binding.c_config(self.config.with_seed(seed)), pointer, self.words))
        self._keep_in(self.blocks)
        self._actions = np.empty((self.n, self.d_a))
        self._actions_pointer = binding.ffi.from_buffer("double[]", self._actions)

    def _keep_in(self, blocks: np.ndarray) -> None:
        """Resume in these rows, which hold the same words."""
        self.blocks = blocks
        self._blocks = binding.ffi.from_buffer("uint16_t[]", blocks)

    def act(self, h: int, states: np.ndarray) -> np.ndarray:
        pointer = binding.ffi.from_buffer("double[]", np.ascontiguousarray(states, dtype=np.float64))
        _raise(binding.lib.adamb_batch_act(self._blocks, self.words, self.n, h, pointer, self._actions_pointer))
        return self._actions.copy()

    def observe(self, h: int, rewards: np.ndarray, next_states: np.ndarray) -> None:
        reward = binding.ffi.from_buffer("double[]", np.ascontiguousarray(rewards, dtype=np.float64))
        state = binding.ffi.from_buffer("double[]", np.ascontiguousarray(next_states, dtype=np.float64))
        _raise(binding.lib.adamb_batch_observe(self._blocks, self.words, self.n, h, reward, state))

    def end_episode(self) -> None:
        _raise(binding.lib.adamb_batch_end_episode(self._blocks, self.words, self.n))

    def compiled(self) -> CompiledAgent:
        core = sim.new("play_core *", {"words": self.words})
        core.blocks = sim.cast("uint16_t *", self.blocks.ctypes.data)
        for name in ("act", "observe", "end_episode"):
            address = binding.ffi.addressof(binding.lib, f"adamb_batch_{name}")
            pointer = int(binding.ffi.cast("uintptr_t", address))
            setattr(core, name, sim.cast(sim.typeof(getattr(core, name)), pointer))
        return CompiledAgent.of("play_core", core, self.n, self.blocks)

    def bytes_used(self) -> np.ndarray:
        return (self.blocks[:, _spec.H_FRESH].astype(np.int64) - self.blocks[:, _spec.H_FREE_N]) * UNIT_BYTES

    def bytes_peak(self) -> np.ndarray:
        used = self.blocks[:, _spec.H_POOL_AT].astype(np.int64) + self.blocks[:, _spec.H_USED_PEAK]
        return used * UNIT_BYTES

    def stats(self) -> dict[str, np.ndarray]:
        column = {
            name: self.blocks[:, index].astype(np.int64)
            for name, index in (
                ("splits", _spec.H_SPLITS),
                ("refused_splits", _spec.H_REFUSED),
                ("no_room", _spec.H_NO_ROOM),
                ("reclaims", _spec.H_RECLAIMS),
                ("saturations", _spec.H_SATURATIONS),
                ("restarts", _spec.H_RESTARTS),
                ("share", _spec.H_SHARE),
            )
        }
        share = column.pop("share")
        trees = np.where(share == _spec.SHARE_OFF, self.horizon, 1)
        children = (1 << (self.d_s + self.d_a)) - 1
        return {
            "leaves": trees + children * column["splits"],
            "shared": (share != _spec.SHARE_OFF).astype(np.int64),
            **column,
        }

    def describe(self) -> dict[str, Any]:
        return {**self.config.words, "block_bytes": self.words * WORD_BYTES, "finest_level": self.config.finest}

    def digest(self) -> str | None:
        return hashlib.sha256(self.blocks[0].tobytes()).hexdigest()[:16]


class PythonCoreAgent(CoreAgent):
    """The same blocks driven by the Python twin; slow, and bit for bit the same."""

    def __init__(self, shape: Shape, **options: Any) -> None:
        super().__init__(shape, **options)
        core = import_module("adamb.firmware_model.core")
        self._controllers = [core.attach(array("H", block.tobytes())) for block in self.blocks]
        self._state = array("H", [0] * self.d_s)
        self._action = array("H", [0] * self.d_a)

    def act(self, h: int, states: np.ndarray) -> np.ndarray:
        points = _fractions(states)
        for i, controller in enumerate(self._controllers):
            self._state[:] = _row(points[i])
            _raise(controller.act(h, self._state, self._action))
            self._actions[i] = [value / ONE for value in self._action]
        return self._actions.copy()

    def observe(self, h: int, rewards: np.ndarray, next_states: np.ndarray) -> None:
        points, scaled = _fractions(next_states), _fractions(np.asarray(rewards) + 0.5 / ONE)
        for i, controller in enumerate(self._controllers):
            self._state[:] = _row(points[i])
            _raise(controller.observe(h, int(scaled[i]), self._state))

    def end_episode(self) -> None:
        for i, controller in enumerate(self._controllers):
            _raise(controller.end_episode())
            self.blocks[i] = controller.w


def _row(values: np.ndarray) -> array:
    return array("H", values.tolist())


def _fractions(values: np.ndarray) -> np.ndarray:
    """Q0.16 as the batch entry rounds: cut, and the last code for 1.0."""
    return np.minimum(np.maximum(np.asarray(values, dtype=np.float64), 0.0) * ONE, ONE - 1).astype(np.uint16)


REFUSALS = {
    _spec.ERR_ARGUMENT: "argument",
    _spec.ERR_CONFIG: "configuration",
    _spec.ERR_MEMORY: "memory",
    _spec.ERR_BLOCK: "damaged block",
    _spec.ERR_ORDER: "order of calls",
}


def _raise(code: int) -> None:
    if code:
        raise AdambError(f"the core refused a call: {REFUSALS.get(code, code)} (code {code})")
