"""One latency measurement: what is asked for, the run that is recorded, and its replay with a meter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from adamb.budgets.battery import Battery
from adamb.budgets.boards import load_board
from adamb.budgets.errors import InputError
from adamb.host_sim.agents import check_horizon
from adamb.host_sim.registry import make_problem
from adamb.tools.device.emulator import avr
from adamb.tools.device.emulator.compile import MemoryMap
from adamb.tools.device.emulator.core import HostCore
from adamb.tools.device.latency import heaviest, meters
from adamb.tools.device.latency.meter_micropython import measure_micropython
from adamb.tools.device.settings import DeviceSettings
from adamb.tools.device.stream import Stream, record


@dataclass(frozen=True)
class LatencyRequest:
    """What to measure; `worst_of` is how many steps to search for the most expensive observe."""

    problem: str
    target: str
    episodes: int
    budget_bytes: int
    seed: int
    optimise: str
    board: str | None
    options: dict[str, Any]
    worst_of: int | None = None
    battery: Battery | None = None
    world: dict[str, Any] = field(default_factory=dict)
    """Horizon, continuing and params of the problem, as make_problem takes them."""


def record_stream(request: LatencyRequest) -> tuple[DeviceSettings, Stream]:
    """Play the problem on the host and write down what the controller saw."""
    made = make_problem(request.problem, [request.seed], episodes=request.episodes, **request.world)
    check_horizon(made.horizon)
    settings = DeviceSettings(made.d_s, made.d_a, made.horizon, seed=request.seed & 0xFFFF, **request.options)
    config, words = settings.config(), request.budget_bytes // 2
    if words < settings.required_words():
        needed = 2 * settings.required_words()
        raise InputError("budget", request.budget_bytes, f"this configuration needs {needed} bytes")
    core = HostCore(config, words)
    return settings, record(request.problem, made, core, config, words, request.episodes)


def find_worst(request: LatencyRequest) -> heaviest.Worst | None:
    """The most expensive observe of many runs, found on the host and priced on the target."""
    if request.worst_of is None:
        return None
    settings, agent = heaviest.watch(
        request.problem,
        steps=request.worst_of,
        first_seed=request.seed,
        budget_bytes=request.budget_bytes,
        options=request.options,
        world=request.world,
    )
    return heaviest.price(settings, agent, request.target, request.optimise)


def measure(
    request: LatencyRequest,
    settings: DeviceSettings,
    stream: Stream,
    say: Callable[[str], None] = lambda text: None,
) -> meters.CallCosts:
    """Replay on the target with a meter on every call; `say` is told how far it is."""
    say(f"replaying {stream.episodes} episodes on {request.target}")
    if request.target == "host":
        return meters.measure_host(stream)
    if request.target == "micropython":
        return measure_micropython(stream, settings.fields())
    if request.target in avr.PROCESSORS:
        return meters.measure_avr(stream, request.target, say=say)
    memory = None
    if request.board is not None:
        board = load_board(request.board)
        memory = MemoryMap(flash_bytes=board.flash_bytes, ram_bytes=board.ram_bytes)
    return meters.measure_cortex(stream, request.target, optimise=request.optimise, memory=memory, say=say)
