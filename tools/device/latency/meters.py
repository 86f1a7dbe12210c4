"""Cost of every single act and observe over a recorded stream, on one target."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from adamb.budgets.errors import InputError
from adamb.firmware_model import _spec
from adamb.tools.device.emulator import avr, core
from adamb.tools.device.emulator.callgraph import stack_report
from adamb.tools.device.emulator.compile import MemoryMap, memory_holding
from adamb.tools.device.stream import Stream, replay
from adamb.tools.stopping import stop_on_interrupt

HOST_REPEATS = 3


@dataclass(frozen=True)
class CallCosts:
    """Per call (K, H); `unit` names what is counted. Cycle estimates exist for ARMv6-M only."""

    target: str
    unit: str
    act: np.ndarray
    observe: np.ndarray
    note: str
    cycles_act: tuple[np.ndarray, np.ndarray] | None = None
    cycles_observe: tuple[np.ndarray, np.ndarray] | None = None
    stack_bytes: int | None = None
    stack_measured_bytes: int | None = None
    flash_bytes: int | None = None
    flash_check_bytes: int | None = None
    ram_bytes: int | None = None
    done: tuple[int, int, str] = (0, 0, "")
    """How far it came before Ctrl-C: 12 of 2000 episodes; both numbers are the same where all was done."""
    start: dict[str, dict[str, int]] | None = None
    """In MicroPython: peak heap of import and of init, for bytecode and source."""


ARGUMENT_BYTES = 256


def memory_for(block_bytes: int, stack_bytes: int) -> MemoryMap:
    """Memory for a controller: its block, its stack, and a little for arguments."""
    return memory_holding(block_bytes + stack_bytes + ARGUMENT_BYTES)


def _check_room(block_bytes: int, stack_bytes: int, memory: MemoryMap) -> None:
    """Without this a block that is too large is a fault of the emulator, in a call of the core."""
    most = memory.ram_bytes - stack_bytes - ARGUMENT_BYTES
    if block_bytes > most:
        beside = f"beside a stack of {stack_bytes} and {ARGUMENT_BYTES} for arguments"
        raise InputError(
            "budget", block_bytes, f"at most {max(most, 0)} bytes of the board's {memory.ram_bytes}, {beside}"
        )


class _Metered:
    """A core on the emulator that writes down what every call cost."""

    def __init__(
        self, emulated: core.EmulatedCore | avr.AvrCore, stream: Stream, say: Callable[[str], None]
    ) -> None:
        self._core, self._say, self._total = emulated, say, stream.episodes
        shape = (stream.episodes, stream.horizon)
        self.act_costs, self.observe_costs = np.zeros((3, *shape), np.int64), np.zeros((3, *shape), np.int64)
        self.stack_bytes = 0
        self.episodes = 0

    def _note(self, into: np.ndarray, h: int) -> None:
        call = self._core.last
        if isinstance(call, avr.AvrCall):
            into[0, self.episodes, h] = call.cycles
        else:
            into[:, self.episodes, h] = call.instructions, call.cycles_low or 0, call.cycles_high or 0
        self.stack_bytes = max(self.stack_bytes, call.stack_bytes)

    def act(self, h: int, state: Any) -> tuple[int, ...]:
        action = self._core.act(h, state)
        self._note(self.act_costs, h)
        return action

    def observe(self, h: int, reward: int, next_state: Any) -> None:
        self._core.observe(h, reward, next_state)
        self._note(self.observe_costs, h)

    def end_episode(self) -> None:
        self._core.end_episode()
        self.episodes += 1
        self._say(f"episode {self.episodes} of {self._total} on the target")

    def block(self) -> bytes:
        return self._core.block()


def measure_cortex(
    stream: Stream,
    target: str,
    *,
    optimise: str = "size",
    memory: MemoryMap | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> CallCosts:
    """Instructions on an emulated Cortex-M; the replay also proves that it computes what the host does."""
    image = core.core_image(target, optimise)
    stack = stack_report(image, core.HOT_PATH).bytes
    chosen = memory or memory_for(2 * stream.words, stack)
    _check_room(2 * stream.words, stack, chosen)
    emulated = core.EmulatedCore(stream.config, stream.words, target=target, memory=chosen, optimise=optimise)
    metered = _Metered(emulated, stream, say)
    with stop_on_interrupt() as stop:
        replay(stream, metered, stop=lambda: stop.asked and metered.episodes > 1)  # one has no exponent
    flash = core.flash(target, optimise)
    has_cycles = emulated.last.cycles_low is not None
    act, observe = (each[:, : metered.episodes] for each in (metered.act_costs, metered.observe_costs))
    return CallCosts(
        target=target,
        unit="instructions",
        act=act[0],
        observe=observe[0],
        note="executed instructions, counted by emulation"
        if has_cycles
        else "instructions issued, counted by emulation (with those an IT block skips)",
        cycles_act=(act[1], act[2]) if has_cycles else None,
        cycles_observe=(observe[1], observe[2]) if has_cycles else None,
        stack_bytes=stack,
        stack_measured_bytes=metered.stack_bytes,
        flash_bytes=flash.running_bytes,
        flash_check_bytes=flash.check_bytes,
        ram_bytes=2 * stream.words + stack,
        done=(metered.episodes, stream.episodes, "episodes"),
    )


def measure_avr(stream: Stream, processor: str, say: Callable[[str], None] = lambda text: None) -> CallCosts:
    """Cycles on an AVR in simavr, compiled for size; the replay also proves that it computes the same."""
    metered = _Metered(avr.AvrCore(stream.config, stream.words, processor), stream, say)
    with stop_on_interrupt() as stop:
        replay(stream, metered, stop=lambda: stop.asked and metered.episodes > 1)
    running = avr.sizes(processor, core.RUNNING)
    with_check = avr.sizes(processor, (*core.RUNNING, core.DIAGNOSIS))
    return CallCosts(
        target=processor,
        unit="cycles",
        act=metered.act_costs[0, : metered.episodes],
        observe=metered.observe_costs[0, : metered.episodes],
        note=f"cycles in simavr; of the RAM {running.ram_bytes} bytes are tables",
        stack_measured_bytes=metered.stack_bytes,
        flash_bytes=running.flash_bytes,
        flash_check_bytes=with_check.flash_bytes - running.flash_bytes,
        ram_bytes=2 * stream.words + metered.stack_bytes + running.ram_bytes,
        done=(metered.episodes, stream.episodes, "episodes"),
    )


def repeated(replayed: Callable[[], Any], times: int) -> list[Any]:
    """The results of equal replays; Ctrl-C keeps those that are whole."""
    found: list[Any] = []
    try:
        for _ in range(times):
            found.append(replayed())
    except KeyboardInterrupt:
        if not found:
            raise
    return found


def measure_host(stream: Stream) -> CallCosts:
    """Nanoseconds on this computer: the least of three replays of each call, less the cost of calling."""
    module: Any = import_module("adamb.firmware_model.host.binding")
    runs = repeated(lambda: _host_replay(module, stream), HOST_REPEATS)
    act = np.min([run[0] for run in runs], axis=0)
    observe = np.min([run[1] for run in runs], axis=0)
    overhead = _call_overhead(module)
    return CallCosts(
        target="host",
        unit="ns",
        act=np.maximum(act - overhead, 0),
        observe=np.maximum(observe - overhead, 0),
        note=f"least of {len(runs)} replays of each call, less {overhead} ns for the call from Python",
        ram_bytes=2 * stream.words,
        done=(len(runs), HOST_REPEATS, "replays"),
    )


def _host_replay(module: Any, stream: Stream) -> tuple[np.ndarray, np.ndarray]:
    ffi, lib, clock = module.ffi, module.lib, time.perf_counter_ns
    config = ffi.new("adamb_config *")
    ffi.buffer(config)[:] = stream.config
    block = ffi.new("uint16_t[]", stream.words)
    if lib.adamb_init(config, block, stream.words) < 0:
        raise core.CoreError("adamb_init refused the recorded configuration")
    action = ffi.new("uint16_t[3]")
    states = ffi.from_buffer("uint16_t[]", np.ascontiguousarray(stream.states))
    nexts = ffi.from_buffer("uint16_t[]", np.ascontiguousarray(stream.next_states))
    rewards, d_s = stream.rewards.ravel().tolist(), stream.states.shape[2]
    act_ns, observe_ns = np.zeros(len(rewards), np.int64), np.zeros(len(rewards), np.int64)
    for index, reward in enumerate(rewards):
        h, state, following = index % stream.horizon, states + d_s * index, nexts + d_s * index
        start = clock()
        lib.adamb_act(block, h, state, action)
        middle = clock()
        lib.adamb_observe(block, h, reward, following)
        end = clock()
        act_ns[index], observe_ns[index] = middle - start, end - middle
        if h == stream.horizon - 1:
            lib.adamb_end_episode(block)
    shape = (stream.episodes, stream.horizon)
    return act_ns.reshape(shape), observe_ns.reshape(shape)


def _call_overhead(module: Any) -> int:
    """The least time of a call that returns at once because its argument is a null pointer."""
    clock, lib, nothing = time.perf_counter_ns, module.lib, module.ffi.NULL
    samples = []
    for _ in range(2000):
        start = clock()
        lib.adamb_observe(nothing, 0, 0, nothing)
        samples.append(clock() - start)
    return min(samples)


class DeepestAct:
    """The upper bound of act: what it costs to descend a given number of levels of the V tree.

    The descent is the only loop of act whose length depends on what was learnt, so a block whose V tree is
    one path of that length is the worst case, and running it needs no formula.
    """

    def __init__(self, config: bytes, target: str, optimise: str = "size") -> None:
        words = 4096
        self._core = core.EmulatedCore(
            config, words, target=target, memory=memory_for(2 * words, 1024), optimise=optimise
        )
        self._fresh = np.frombuffer(self._core.block(), np.uint16)
        self._d_s = config[0]
        self.deepest = self._d_s * (int(self._fresh[_spec.H_SCALE]) >> 8)

    def instructions(self, depth: int) -> int:
        """Instructions of an act that goes `depth` binary levels down."""
        if not 0 <= depth <= self.deepest:
            raise InputError("depth", depth, f"from 0 to {self.deepest}")
        block = self._fresh.copy()
        slot = int(block[_spec.H_STEPS_AT]) + _spec.S_V_SLOT
        unit = int(block[_spec.H_POOL_AT])
        action = int(block[slot + 2])
        for _ in range(depth):
            block[slot] = unit
            slot = _spec.UNIT_WORDS * unit
            # Both halves end here unless the next round links the first one further down.
            block[slot : slot + 4] = _spec.TAG, _spec.TAG, action, action
            unit += 1
        self._core.load(block.tobytes())
        self._core.act(0, [0] * self._d_s)
        return self._core.last.instructions
