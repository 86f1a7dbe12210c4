"""Findings about one block: is it sound, who owns its bytes, what has it learnt."""

from __future__ import annotations

import hashlib
from collections import Counter
from functools import cached_property
from typing import Any

import numpy as np

from adamb.budgets.ledger import Ledger, ledger_of
from adamb.firmware_model import _spec
from adamb.firmware_model.config import usable
from adamb.firmware_model.host import binding
from adamb.firmware_model.host.errors import InputError
from adamb.firmware_model.host.reader import BlockView, DamagedBlock
from adamb.tools.inspect.block_file import BlockFile


class Inspection:
    """Everything known about one block; a block of another version raises, a damaged one is described."""

    def __init__(self, file: BlockFile) -> None:
        self.file, self.words = file, np.ascontiguousarray(file.words)
        self.problems: list[str] = list(file.problems)
        self.view: BlockView | None = None
        self.ledger: Ledger | None = None
        if not usable(self.words.tolist()) and self._agrees():
            raise InputError("file", str(file.path), "was written by another version of the core")
        self._look()

    def _agrees(self) -> bool:
        """True if the sealed words make sense: then the block is of another version, else it is damaged."""
        w = self.words.tolist()
        steps = _spec.H_WORDS + 1 + (w[_spec.H_SCALE] >> 8) + ((w[_spec.H_DIMS] >> 8) + 1) * _spec.S_WORDS
        return (steps + 3) >> 2 == w[_spec.H_POOL_AT] and w[_spec.H_FRESH] <= w[_spec.H_UNITS] <= len(w) // 4

    def _look(self) -> None:
        try:
            self.view = BlockView(self.words)
            self.ledger = ledger_of(self.view, len(self.words))
        except DamagedBlock as error:
            self.problems.append(str(error))
        pointer = binding.ffi.from_buffer("uint16_t[]", self.words)
        self.check_code = int(binding.lib.adamb_check(pointer, len(self.words)))
        if self.check_code and not self.problems:
            self.problems.append("adamb_check found a mean, a count or a counter that does not add up")

    @property
    def sound(self) -> bool:
        return not self.problems

    @property
    def digest(self) -> str:
        """The digest that `adamb run` prints for the same block."""
        return hashlib.sha256(self.words.astype("<u2").tobytes()).hexdigest()[:16]

    @cached_property
    def trees(self) -> list[dict[str, Any]]:
        """Each partition: the steps that use it, its balls, and how many there are of each level."""
        if self.view is None:
            return []
        found = []
        for tree in range(self.view.trees):
            balls = self.view.balls(tree)
            levels = Counter(ball.level for ball in balls)
            found.append(
                {
                    "steps": list(range(self.view.horizon)) if self.view.shared else [tree],
                    "balls": len(balls),
                    "visited": sum(ball.visited for ball in balls),
                    "visits": sum(ball.n for ball in balls),
                    "levels": [levels.get(level, 0) for level in range(max(levels) + 1)],
                }
            )
        return found

    @cached_property
    def values(self) -> list[dict[str, Any]]:
        """V of each step: how many cells, and the least, mean and greatest value over the states."""
        if self.view is None:
            return []
        one, found = 1 << self.view.fraction, []
        for h in range(self.view.horizon):
            cells = self.view.values(h)
            shares = [2.0**-cell.bits for cell in cells]
            worth = [cell.value / one for cell in cells]
            mean = sum(share * value for share, value in zip(shares, worth, strict=True))
            found.append({"h": h, "cells": len(cells), "min": min(worth), "mean": mean, "max": max(worth)})
        return found

    @property
    def episodes(self) -> dict[str, Any] | None:
        """What the next episode is, and what is known of both kinds."""
        view = self.view
        if view is None:
            return None
        kinds = {name: kind._asdict() for name, kind in view.kinds.items()}
        kinds["held"] |= {"action": view.held_action, "value": view.held_value, "balls": len(view.held_balls)}
        return {"next": view.next_kind, **kinds}

    def to_json(self) -> dict[str, Any]:
        view, ledger = self.view, self.ledger
        return {
            "file": str(self.file.path),
            "form": self.file.form,
            "offset": self.file.offset,
            "bytes": 2 * len(self.words),
            "digest": self.digest,
            "spec_hash": int(self.words[_spec.H_HASH]),
            "sound": self.sound,
            "problems": self.problems,
            "check": self.check_code,
            "configuration": None if view is None else view.describe(),
            "counters": None if view is None else view.counters,
            "episodes": self.episodes,
            "ledger": None if ledger is None else ledger.bytes,
            "used_bytes": None if ledger is None else ledger.used_bytes,
            "peak_bytes": None if ledger is None else ledger.peak_bytes,
            "partitions": self.trees,
            "values": self.values,
        }
