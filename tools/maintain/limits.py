"""The limits that the core keeps, typed here and nowhere else: tests compare, docs/limits.md shows what is measured.

A byte or an instruction more is no failure until it passes its limit.

For the most expensive observe of a long run (or end_episode, which learns from held episodes) an emulator is too
slow. The core's own work counter (one unit per node, ball or count that it looks at) is not: a first run counts the
work of every call, a second one keeps the block as it was before those that took most, and only these are replayed.
So is a uniform sample of all calls of observe, for its mean.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from adamb.firmware_model.host import binding
from adamb.firmware_model.host.errors import InputError
from adamb.host_sim.agents import Shape
from adamb.host_sim.agents.core import CoreAgent
from adamb.host_sim.problems import make_problem
from adamb.host_sim.runner import Estimate, simulate
from adamb.tools.device.emulator import core
from adamb.tools.device.emulator.callgraph import stack_report
from adamb.tools.device.emulator.compile import build_library
from adamb.tools.device.latency.bounds import C_FOLDER, DeepestAct, LearningBound
from adamb.tools.device.latency.meters import memory_for
from adamb.tools.device.settings import DeviceSettings
from adamb.tools.device.stream import Diverged, to_words
from adamb.tools.stopping import stop_on_interrupt

KIB = 1024
FLASH_AT_WORK, FLASH_WITH_ALL = 12 * KIB, 22 * KIB
"""Bytes on a Cortex-M0+; all: every call of adamb.h, built for size or for speed on any processor here."""
STACK_AT_WORK, STACK_WITH_ALL = 512, 1024
ACT, ACT_2_2 = 200, 300
"""Instructions of a Cortex-M0 with one state and one action, and with two of each."""
OBSERVE, OBSERVE_MEAN = 20_000, 3000
"""In the runs of a million steps in 4 KiB that tests/device/test_gates.py makes."""
OBSERVE_BOUND, OBSERVE_BOUND_2_2 = 50_000, 150_000
"""No observe or end_episode costs more, whatever is learnt: the certificates of `adamb latency`."""
SCRUB_SLICE = 4000
ENGINE_LUTS, ENGINE_LUTS_1_1 = 700, 420
ENGINE_MHZ = {"ice40": 60, "ecp5": 100}
"""What it was built for; place and route differ by some per cent from version to version, so no test compares it."""

TARGET = "cortex-m0"


@cache
def _counting() -> tuple[Any, Any]:
    """The core with its work counter, and the code that reads it."""
    from cffi import FFI

    ffi = FFI()
    ffi.cdef(core.declared(C_FOLDER / "observe_calls.h"))
    library = build_library(
        [*core.sources(), C_FOLDER / "observe_calls.c"],
        includes=[core.c_folder(), C_FOLDER],
        forced=[C_FOLDER / "observe_calls.h"],
        flags=["-DADAMB_HAS_DIVIDE"],
    )
    return ffi, ffi.dlopen(str(library))


class Place(NamedTuple):
    """One call of a run: of one controller, the `call`th of all."""

    call: int
    controller: int


@dataclass(frozen=True)
class KeptCall:
    """The arguments of a call, and the block before it; the step of an end_episode is H."""

    block: np.ndarray
    h: int
    reward: int
    following: list[int]


class WatchedAgent(CoreAgent):
    """The controller, counting the work of each observe and end_episode, and keeping the calls at some places."""

    def __init__(self, shape: Shape, *, places: Iterable[Place] = (), **options: Any) -> None:
        super().__init__(shape, **options)
        self.wanted: dict[int, list[int]] = {}
        for place in places:
            self.wanted.setdefault(place.call, []).append(place.controller)
        self.kept: dict[Place, KeptCall] = {}
        self.work: list[np.ndarray] = []
        """Of each call, the units of each controller; every episode is H calls of observe and one of end_episode."""

    def observe(self, h: int, rewards: np.ndarray, next_states: np.ndarray) -> None:
        self._call(h, to_words(np.asarray(rewards) + 0.5 / 65536), to_words(np.ascontiguousarray(next_states)))

    def end_episode(self) -> None:
        self._call(self.horizon, np.zeros(self.n, np.uint16), None)

    def _call(self, h: int, rewards: np.ndarray, following: np.ndarray | None) -> None:
        ffi, lib = _counting()
        for i in self.wanted.get(len(self.work), ()):
            words = [] if following is None else following[i].tolist()
            self.kept[Place(len(self.work), i)] = KeptCall(self.blocks[i].copy(), h, int(rewards[i]), words)
        blocks, rewards_at = (ffi.from_buffer("uint16_t[]", words) for words in (self.blocks, rewards))
        next_at = ffi.NULL if following is None else ffi.from_buffer("uint16_t[]", following)
        work = np.zeros(self.n, np.uint32)
        work_at = ffi.from_buffer("uint32_t[]", work)
        code = lib.adamb_observe_calls(blocks, self.words, self.n, h, self.d_s, rewards_at, next_at, work_at)
        if code:
            raise core.CoreError(f"a call of step {h} returned {code}")
        self.work.append(work)


def replay(calls: Iterable[KeptCall], settings: DeviceSettings) -> np.ndarray:
    """Instructions of each call on the emulated board, which must leave the same block as the host."""
    board, found = None, []
    with stop_on_interrupt() as stop:
        for call in calls:
            if stop.asked:  # not before: an exception inside the emulator would be lost
                raise KeyboardInterrupt
            block, words = call.block.copy(), len(call.block)
            if board is None:
                memory = memory_for(2 * words, 1024)
                board = core.EmulatedCore(settings.config(), words, target=TARGET, memory=memory)
            board.load(block.tobytes())
            here = binding.ffi.from_buffer("uint16_t[]", block)
            if call.h < settings.horizon:
                board.observe(call.h, call.reward, call.following)
                binding.lib.adamb_observe(here, call.h, call.reward, binding.ffi.new("uint16_t[]", call.following))
            else:
                board.end_episode()
                binding.lib.adamb_end_episode(here)
            found.append(board.last.instructions)
            if board.block() != block.tobytes():
                raise Diverged(f"a call of step {call.h}: another block on {TARGET} than on the host")
    return np.array(found)


@dataclass(frozen=True)
class Worst:
    """The worst call that learnt in `steps` steps, and the mean of observe estimated from a uniform sample."""

    steps: int
    replayed: int
    learn_max: int
    """Of an observe, or of an end_episode."""
    observe_mean: Estimate
    lightest_kept: int
    """Instructions of the cheapest call among the heaviest: how far the tail reaches."""


def watch(
    problem: str, *, steps: int, instances: int, places: Iterable[Place] = (), budget_bytes: int = 4096
) -> tuple[DeviceSettings, WatchedAgent]:
    """Play about `steps` steps on this computer, several seeds side by side; 100 seeds share a million."""
    horizon = make_problem(problem, [0]).horizon
    episodes = steps // (instances * horizon)
    if episodes < 1:
        raise InputError("steps", steps, f"at least {instances * horizon}: one episode for each seed")
    made = make_problem(problem, range(instances), episodes=episodes)
    agent = WatchedAgent(made.shape, budget_bytes=budget_bytes, places=places)
    simulate(made, agent)
    return DeviceSettings(made.d_s, made.d_a, horizon), agent


def price(problem: str, *, steps: int, keep: int = 1000, instances: int = 100) -> Worst:
    """Run twice, and replay the heaviest calls and a sample of observe on the target."""
    settings, counted = watch(problem, steps=steps, instances=instances)
    work = np.array(counted.work)
    heaviest = [Place(*divmod(int(at), instances)) for at in np.argsort(work, axis=None)[-keep:]]
    observes = np.flatnonzero(np.arange(len(work)) % (settings.horizon + 1) < settings.horizon)
    chosen = np.random.default_rng(0).choice(len(observes) * instances, keep, replace=False)
    sample = [Place(int(observes[at // instances]), int(at % instances)) for at in chosen]
    _, again = watch(problem, steps=steps, instances=instances, places={*heaviest, *sample})
    heavy, drawn = (replay([again.kept[place] for place in places], settings) for places in (heaviest, sample))
    half = 1.96 * float(drawn.std(ddof=1)) / len(drawn) ** 0.5
    return Worst(
        len(observes) * instances, len(heavy), int(max(heavy.max(), drawn.max())),
        Estimate(float(drawn.mean()), half), int(heavy.min()),
    )  # fmt: skip


def measured() -> list[tuple[str, int, int]]:
    """What, its limit, and the figure of the core as it is now."""

    def act(d_s: int, d_a: int) -> int:
        deepest = DeepestAct(DeviceSettings(d_s, d_a, 5).config(), TARGET)
        return deepest.instructions(deepest.deepest)

    def stack(roots: tuple[str, ...]) -> int:
        image = core.core_image("cortex-m0plus", "size", roots)
        return stack_report(image, roots or core.public_functions()).bytes

    def learning(d_s: int, d_a: int) -> int:
        bound = LearningBound.measure(DeviceSettings(d_s, d_a, 5), TARGET)
        return max(bound.observe, bound.end_episode)

    flash = core.flash("cortex-m0plus").running_bytes
    whole = core.core_image("cortex-m0plus").sizes.flash_bytes
    worst = price("oil-laplace", steps=1_000_000)
    return [
        ("flash at work, bytes", FLASH_AT_WORK, flash),
        ("flash of all calls of `adamb.h`", FLASH_WITH_ALL, whole),
        ("stack at work, bytes", STACK_AT_WORK, stack(core.RUNNING)),
        ("stack of any call", STACK_WITH_ALL, stack(())),
        ("`act`, one state and one action, instructions", ACT, act(1, 1)),
        ("`act`, two states and two actions", ACT_2_2, act(2, 2)),
        ("`observe`, mean", OBSERVE_MEAN, round(worst.observe_mean.mean)),
        ("`observe` or `end_episode`, worst of a million steps", OBSERVE, worst.learn_max),
        ("no `observe` or `end_episode` takes more, one state and one action", OBSERVE_BOUND, learning(1, 1)),
        ("the same, two states and two actions", OBSERVE_BOUND_2_2, learning(2, 2)),
    ]


def table() -> str:
    rows = ["| Cortex-M0 | limit | now |", "|---|---:|---:|"]
    rows += [f"| {what} | {most:,} | {now:,} |" for what, most, now in measured()]
    return "\n".join(rows)
