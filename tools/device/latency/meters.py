"""Cost of every single act and observe over a recorded stream, on one target."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from adamb.firmware_model.host.errors import InputError
from adamb.tools.device.emulator import avr, core
from adamb.tools.device.emulator.callgraph import stack_report
from adamb.tools.device.emulator.compile import MemoryMap, memory_holding
from adamb.tools.device.micropython.interpreter import run_program
from adamb.tools.device.micropython.package import board_files, replay_in_micropython
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
    """Progress at Ctrl-C: 12 of 2000 episodes; both numbers are the same where all was done."""
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

    def __init__(self, emulated: core.EmulatedCore | avr.AvrCore, stream: Stream, say: Callable[[str], None]) -> None:
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

    def replay(self, stream: Stream) -> tuple[np.ndarray, np.ndarray]:
        """Costs of act and observe (3, K, H); Ctrl-C ends it after two episodes: one has no exponent."""
        with stop_on_interrupt() as stop:
            replay(stream, self, stop=lambda: stop.asked and self.episodes > 1)
        return self.act_costs[:, : self.episodes], self.observe_costs[:, : self.episodes]


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
    act, observe = metered.replay(stream)
    flash = core.flash(target, optimise)
    has_cycles = emulated.last.cycles_low is not None
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
    act, observe = metered.replay(stream)
    running = avr.sizes(processor, core.RUNNING)
    with_check = avr.sizes(processor, (*core.RUNNING, core.DIAGNOSIS))
    return CallCosts(
        target=processor,
        unit="cycles",
        act=act[0],
        observe=observe[0],
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


REPEATS = 3

KINDS = ("mpy", "py")

_START = """
import gc
from array import array
before = gc.mem_alloc()
from adamb import core
print(gc.mem_alloc() - before)
block = array("H", bytes(2 * {words}))
controller = core.init(core.Config(), block)
print(gc.mem_alloc() - before)
"""


@dataclass(frozen=True)
class Start:
    """Heap taken until the controller runs. No collection happens in between in this build, so what a board
    needs at its peak is no more, and what it keeps is less: `init_bytes` counts the block's zeros twice."""

    import_bytes: int
    init_bytes: int


@cache
def start_bytes(kind: str = "mpy", block_bytes: int = 4096) -> Start:
    """Peak of importing the core, and of that and init; pointers are 32-bit there as on a board."""
    run = run_program(_START.format(words=block_bytes // 2), board_files(kind)).require_success()
    imported, begun = map(int, run.output.split())
    return Start(imported, begun)


def import_bytes(kind: str = "mpy") -> int:
    return start_bytes(kind).import_bytes


def package_bytes(kind: str = "mpy", *, optional: bool = False) -> int:
    """Bytes of the package's files."""
    return sum(path.stat().st_size for path in board_files(kind, optional=optional).values())


def measure_micropython(stream: Stream, fields: dict[str, Any]) -> CallCosts:
    """Microseconds in MicroPython's WebAssembly build on this computer, from bytecode."""
    # Every replay is the same, so the least of several is the call without this computer's interruptions.
    runs = repeated(lambda: replay_in_micropython(stream, fields), REPEATS)
    times = np.min([np.frombuffer(run.files["/times.bin"], "<f4") for run in runs], axis=0)
    times = times.reshape(stream.episodes, stream.horizon, 2)
    return CallCosts(
        target="micropython",
        unit="us",
        act=times[:, :, 0].astype(float),
        observe=times[:, :, 1].astype(float),
        note=f"MicroPython in WebAssembly on this computer, least of {len(runs)} replays; not a board's time",
        flash_bytes=package_bytes(),
        ram_bytes=2 * stream.words + import_bytes(),
        done=(len(runs), REPEATS, "replays"),
        start={kind: asdict(start_bytes(kind, 2 * stream.words)) for kind in KINDS},
    )
