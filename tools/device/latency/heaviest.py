"""The most expensive observe calls of a long run: found on the host by work, measured on the emulated board.

An emulator is too slow for a million steps. The core's own work counter (one unit per node, ball or count
that it looks at) is not: it selects the calls to keep, with the block as it was before each, and only those
are replayed. A uniform sample of all calls is kept as well, for the mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from adamb.budgets.errors import InputError
from adamb.firmware_model.host import binding
from adamb.host_sim.agent import Shape
from adamb.host_sim.agents.core import CoreAgent
from adamb.host_sim.registry import make_problem
from adamb.host_sim.runner import Estimate, simulate
from adamb.tools.device.emulator import core
from adamb.tools.device.emulator.compile import build_library
from adamb.tools.device.emulator.qemu import C_FOLDER
from adamb.tools.device.latency.meters import memory_for
from adamb.tools.device.settings import DeviceSettings
from adamb.tools.device.stream import Diverged, to_words
from adamb.tools.stopping import stop_on_interrupt

NEXT_WORDS = 3


@cache
def _counting() -> tuple[Any, Any]:
    """The core with its work counter, and the code that keeps calls."""
    from cffi import FFI

    ffi = FFI()
    ffi.cdef(core.declared(C_FOLDER / "observe_calls.h"))
    library = build_library(
        [*core.sources(), C_FOLDER / "observe_calls.c"],
        includes=[core.c_folder(), C_FOLDER],
        forced=[C_FOLDER / "work.h"],
        flags=["-DADAMB_HAS_DIVIDE"],
    )
    return ffi, ffi.dlopen(str(library))


class ObserveCalls:
    """Up to `room` observe calls: keys, steps, rewards, next states, and the blocks before them."""

    def __init__(self, room: int, words: int) -> None:
        ffi, _ = _counting()
        self.keys = np.zeros(room, np.uint32)
        self.steps, self.rewards = np.zeros(room, np.uint16), np.zeros(room, np.uint16)
        self.next = np.zeros((room, NEXT_WORDS), np.uint16)
        self.blocks = np.zeros((room, words), np.uint16)
        self.pointer = ffi.new("adamb_observe_calls *", {"room": room})
        for name in ("keys", "steps", "rewards", "next", "blocks"):
            kind = "uint32_t[]" if name == "keys" else "uint16_t[]"
            setattr(self.pointer, name, ffi.from_buffer(kind, getattr(self, name)))

    def __len__(self) -> int:
        return int(self.pointer.kept)


class WatchedAgent(CoreAgent):
    """The controller, counting the work of each observe call."""

    def __init__(self, shape: Shape, *, keep: int, **options: Any) -> None:
        super().__init__(shape, **options)
        self.heaviest, self.sample = ObserveCalls(keep, self.words), ObserveCalls(keep, self.words)
        self.calls_n = 0

    def observe(self, h: int, rewards: np.ndarray, next_states: np.ndarray) -> None:
        ffi, lib = _counting()
        points = np.ascontiguousarray(to_words(np.asarray(next_states)))
        scaled = to_words(np.asarray(rewards) + 0.5 / 65536)
        blocks, rewards_at, next_at = (
            ffi.from_buffer("uint16_t[]", words) for words in (self.blocks, scaled, points)
        )
        code = lib.adamb_observe_calls_keep(
            self.heaviest.pointer, self.sample.pointer, self.calls_n, blocks, self.words, self.n, h,
            self.d_s, rewards_at, next_at,
        )  # fmt: skip
        if code:
            raise core.CoreError(f"adamb_observe returned {code}")
        self.calls_n += self.n


def replay(
    calls: ObserveCalls, settings: DeviceSettings, target: str = "cortex-m0", optimise: str = "size"
) -> np.ndarray:
    """Instructions of each call on the emulated board, which must leave the same block as the host."""
    words = calls.blocks.shape[1]
    board = core.EmulatedCore(
        settings.config(), words, target=target, memory=memory_for(2 * words, 1024), optimise=optimise
    )
    found = np.zeros(len(calls), np.int64)
    with stop_on_interrupt() as stop:
        for i in range(len(calls)):
            if stop.asked:  # not before: an exception inside the emulator would be lost
                raise KeyboardInterrupt
            block = calls.blocks[i].copy()
            h, reward = int(calls.steps[i]), int(calls.rewards[i])
            board.load(block.tobytes())
            board.observe(h, reward, calls.next[i, : settings.d_s].tolist())
            found[i] = board.last.instructions
            binding.lib.adamb_observe(
                binding.ffi.from_buffer("uint16_t[]", block), h, reward,
                binding.ffi.from_buffer("uint16_t[]", calls.next[i]),
            )  # fmt: skip
            if board.block() != block.tobytes():
                raise Diverged(f"observe call {i} of step {h}: another block on {target} than on the host")
    return found


@dataclass(frozen=True)
class Worst:
    """The worst observe call among `steps`, and the mean estimated from a uniform sample."""

    steps: int
    replayed: int
    observe_max: int
    observe_mean: Estimate
    lightest_kept: int
    """Instructions of the cheapest call among the heaviest: how far the tail reaches."""

    def to_json(self) -> dict[str, Any]:
        return {
            "steps": self.steps,
            "replayed": self.replayed,
            "observe_max": self.observe_max,
            "observe_mean": self.observe_mean.to_json(),
            "lightest_kept": self.lightest_kept,
        }


def watch(
    problem: str,
    *,
    steps: int,
    keep: int = 1000,
    instances: int = 100,
    first_seed: int = 0,
    budget_bytes: int = 4096,
    options: dict[str, Any] | None = None,
    world: dict[str, Any] | None = None,
) -> tuple[DeviceSettings, WatchedAgent]:
    """Play about `steps` steps on this computer, several seeds side by side; 100 seeds share a million."""
    given = {name: value for name, value in (options or {}).items() if value is not None}
    seeds = list(range(first_seed, first_seed + instances))
    horizon = make_problem(problem, [0], **(world or {})).horizon
    episodes = steps // (instances * horizon)
    if episodes < 1:
        raise InputError("steps", steps, f"at least {instances * horizon}: one episode for each seed")
    made = make_problem(problem, seeds, episodes=episodes, **(world or {}))
    agent = WatchedAgent(made.shape, budget_bytes=budget_bytes, keep=keep, **given)
    simulate(made, agent, episodes=episodes)
    return DeviceSettings(made.d_s, made.d_a, horizon, **given), agent


def price(
    settings: DeviceSettings, agent: WatchedAgent, target: str = "cortex-m0", optimise: str = "size"
) -> Worst:
    """What the kept calls cost on the target."""
    heavy = replay(agent.heaviest, settings, target, optimise)
    drawn = replay(agent.sample, settings, target, optimise)
    half = 1.96 * float(drawn.std(ddof=1)) / len(drawn) ** 0.5
    return Worst(
        agent.calls_n, len(heavy), int(max(heavy.max(), drawn.max())),
        Estimate(float(drawn.mean()), half), int(heavy.min()),
    )  # fmt: skip
