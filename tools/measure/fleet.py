"""Many controllers in one array of blocks that step together: calls cost the host more than their work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from adamb.budgets.controller import ControllerConfig, block_words
from adamb.budgets.errors import AdambError
from adamb.budgets.ledger import Ledger, read_ledger
from adamb.firmware_model import _spec
from adamb.firmware_model.host import binding


class Fleet:
    """Controllers of several sizes in one array of blocks, one size after the other."""

    def __init__(
        self, config: ControllerConfig, seeds: Sequence[int], budgets: Mapping[str, int | None]
    ) -> None:
        sizes = {name: block_words(config, budget) for name, budget in budgets.items()}
        self.n, self.stride = len(seeds), max(sizes.values())
        self.words = sizes
        self.rows = {name: slice(i * self.n, (i + 1) * self.n) for i, name in enumerate(sizes)}
        self.blocks = np.zeros((self.n * len(sizes), self.stride), dtype=np.uint16)
        for name, words in sizes.items():
            for block, seed in zip(self.blocks[self.rows[name]], seeds, strict=True):
                pointer = binding.ffi.from_buffer("uint16_t[]", block)
                _checked(binding.lib.adamb_init(binding.c_config(config.with_seed(seed)), pointer, words))
        self._blocks = binding.ffi.from_buffer("uint16_t[]", self.blocks)
        self._actions = np.empty((len(self.blocks), config.d_a))
        self._out = binding.ffi.from_buffer("double[]", self._actions)

    def act(self, h: int, states: np.ndarray) -> np.ndarray:
        points = binding.ffi.from_buffer("double[]", np.ascontiguousarray(states, dtype=np.float64))
        count = len(self.blocks)
        _checked(binding.lib.adamb_batch_act(self._blocks, self.stride, count, h, points, self._out))
        return self._actions

    def observe(self, h: int, rewards: np.ndarray, states: np.ndarray) -> None:
        earned = binding.ffi.from_buffer("double[]", np.ascontiguousarray(rewards, dtype=np.float64))
        points = binding.ffi.from_buffer("double[]", np.ascontiguousarray(states, dtype=np.float64))
        count = len(self.blocks)
        _checked(binding.lib.adamb_batch_observe(self._blocks, self.stride, count, h, earned, points))

    def end_episode(self) -> None:
        _checked(binding.lib.adamb_batch_end_episode(self._blocks, self.stride, len(self.blocks)))

    def ledgers(self, name: str) -> list[Ledger]:
        return [
            read_ledger(block[: int(block[_spec.H_FRESH]) * _spec.UNIT_WORDS].tolist(), self.words[name])
            for block in self.blocks[self.rows[name]]
        ]

    def record(self, name: str) -> dict[str, np.ndarray]:
        """Every quantity of every controller of one size, from its ledger."""
        ledgers = self.ledgers(name)
        return {
            "bytes": np.array([ledger.used_bytes for ledger in ledgers]),
            "leaves": np.array([ledger.leaves for ledger in ledgers]),
            "units": np.array([ledger.pool_units for ledger in ledgers]),
            "entries": np.array([ledger.entries for ledger in ledgers]),
        }


def _checked(code: int) -> None:
    if code:
        raise AdambError(f"the core refused a call with code {code}")
