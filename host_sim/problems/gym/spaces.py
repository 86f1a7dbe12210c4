"""Spaces of an environment as unit cubes: bounds, cells of a Discrete space, coordinates that are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np

from adamb.budgets.errors import InputError

# Spaces use the largest float32 where they mean "no bound".
UNBOUNDED = 1e15
MARGIN = 0.1


class SpaceMap:
    """A Box or Discrete space as the unit cube; a value of a Discrete space is the centre of its cell.

    `keep` are the coordinates that are seen, all of them if None; actions keep all.
    """

    def __init__(
        self,
        kind: str,
        space: gym.Space,
        low: Sequence[float] | None,
        high: Sequence[float] | None,
        keep: Sequence[float] | None = None,
    ) -> None:
        self.kind, self.space = kind, space
        if isinstance(space, gym.spaces.Discrete):
            if low is not None or high is not None:
                raise InputError(f"{kind}_low", low, "the space is Discrete and needs no bounds")
            self.count, self.size = int(space.n), 1
            self.keep = _kept(keep, 1)
            self.low, self.high = np.zeros(1), np.full(1, float(self.count))
        elif isinstance(space, gym.spaces.Box):
            self.count = 0
            self.keep = _kept(keep, int(np.prod(space.shape, dtype=np.int64)))
            self.size = len(self.keep)
            self.low = self._given(f"{kind}_low", low, space.low)
            self.high = self._given(f"{kind}_high", high, space.high)
            if (self.low >= self.high).any():
                raise InputError(f"{kind}_high", high, f"must be above {kind}_low")
        else:
            remedy = "must be Box or Discrete; --set wrapper=file.py:Class can make it one"
            raise InputError(f"{kind} space", str(space), remedy)

    def _given(self, field: str, numbers: Sequence[float] | None, of_space: np.ndarray) -> np.ndarray:
        bounds = of_space.astype(np.float64).reshape(-1)[self.keep].copy()
        bounds[np.abs(bounds) > UNBOUNDED] = np.inf * np.sign(bounds[np.abs(bounds) > UNBOUNDED])
        if numbers is None:
            return bounds
        if len(numbers) not in (1, self.size):
            raise InputError(field, numbers, f"must be 1 or {self.size} numbers")
        return np.broadcast_to(np.asarray(numbers, dtype=np.float64), (self.size,)).copy()

    @property
    def unbounded(self) -> bool:
        return not (np.isfinite(self.low).all() and np.isfinite(self.high).all())

    def require_bounds(self) -> None:
        if self.unbounded:
            shown = f"{self.low.tolist()} to {self.high.tolist()}"
            raise InputError(f"{self.kind} bounds", shown, f"set {self.kind}_low and {self.kind}_high")

    def fit(self, seen: np.ndarray) -> None:
        """Replace missing bounds by those of the values seen, a little wider."""
        lowest, highest = seen.min(axis=0), seen.max(axis=0)
        margin = MARGIN * np.maximum(highest - lowest, 1e-6)
        self.low = np.where(np.isfinite(self.low), self.low, lowest - margin)
        self.high = np.where(np.isfinite(self.high), self.high, highest + margin)

    def raw(self, value: Any) -> np.ndarray:
        """A value of the space as float64 numbers."""
        try:
            numbers = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError("observation", value, f"must be a value of {self.space}") from None
        shape = self.space.shape or ()
        if numbers.shape != shape and not (self.count and numbers.size == 1):
            raise InputError("observation", numbers.shape, f"must have the shape {shape} of its space")
        if self.count:
            return numbers.reshape(1) - int(self.space.start) + 0.5  # type: ignore[attr-defined]
        return numbers.reshape(-1)[self.keep]

    def to_unit(self, value: Any, where: str) -> np.ndarray:
        numbers = self.raw(value)
        if not np.isfinite(numbers).all():
            wrong = float(numbers[~np.isfinite(numbers)][0])
            raise InputError("observation", wrong, f"{where}: must be a finite number")
        return np.clip((numbers - self.low) / (self.high - self.low), 0.0, 1.0)

    def from_unit(self, unit: np.ndarray) -> Any:
        """The value of the space that a point of the unit cube stands for."""
        if self.count:
            start = int(self.space.start)  # type: ignore[attr-defined]
            return min(int(unit[0] * self.count), self.count - 1) + start
        return self.numbers(unit).reshape(self.space.shape).astype(self.space.dtype)

    def numbers(self, unit: np.ndarray) -> np.ndarray:
        """Raw numbers (..., size) of points of the unit cube."""
        if self.count:
            start = int(self.space.start)  # type: ignore[attr-defined]
            return np.minimum(np.floor(unit * self.count), self.count - 1) + start
        return self.low + unit * (self.high - self.low)

    def describe(self) -> Any:
        return {"cells": self.count} if self.count else [self.low.tolist(), self.high.tolist()]


def _kept(keep: Sequence[float] | None, size: int) -> list[int]:
    """Indices of the coordinates that are seen, in the order asked for."""
    if keep is None:
        return list(range(size))
    chosen = [int(index) for index in keep]
    if chosen != list(keep) or len(set(chosen)) < len(chosen) or not all(0 <= i < size for i in chosen):
        shown = ",".join(f"{index:g}" for index in keep)
        raise InputError("observe", shown, f"must be different whole numbers from 0 to {size - 1}")
    return chosen
