"""A problem of the host simulator against the simulated chip, and the same run on this computer beside it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from adamb.firmware_model import _spec as spec
from adamb.firmware_model.host.errors import InputError
from adamb.firmware_model.rtl import EngineShape
from adamb.host_sim.agents import check_horizon
from adamb.host_sim.problem import Problem
from adamb.host_sim.results.measurements import CallCost, ChipSummary, EngineSize
from adamb.host_sim.runner import simulate
from adamb.tools.chip import synthesis
from adamb.tools.chip.simulated import ACT, PROGRAM_WORDS, Cost, SimulatedChip, sram_words
from adamb.tools.device.settings import DeviceSettings
from adamb.tools.device.stream import record
from adamb.tools.options import PlayedProblem
from adamb.tools.stopping import StopRequest, stop_on_interrupt

ANY = "any"
FORM = f"any, or from 1+1 to {spec.DIM_MAX}+{spec.DIM_MAX}, with a horizon to {spec.HORIZON_MAX} as 1+1h5"


def engine_shape(name: str, words: int) -> EngineShape:
    """The shape that a name such as any, 1+1 or 1+1h5 stands for, on an SRAM of these words."""
    shape = EngineShape(words)
    if name == ANY:
        return shape
    found = re.fullmatch(r"(\d)\+(\d)(?:h(\d{1,2}))?", name)
    if found is None:
        raise InputError("engine", name, FORM)
    d_s, d_a, horizon = (None if part is None else int(part) for part in found.groups())
    try:
        return replace(shape, d_s=d_s, d_a=d_a, horizon=horizon)
    except ValueError as error:
        raise InputError("engine", name, FORM) from error


def check_fit(name: str, shape: EngineShape, problem: Problem) -> None:
    """An engine that was built for another problem would call every block of this one damaged."""
    for name_of in ("d_s", "d_a", "horizon"):
        fixed = getattr(shape, name_of)
        if fixed is not None and fixed != getattr(problem, name_of):
            raise InputError("engine", name, f"the problem needs {problem.d_s}+{problem.d_a}h{problem.horizon}")


@dataclass(frozen=True)
class ChipRequest:
    """A simulation to make."""

    played: PlayedProblem
    cpu: str
    budget_bytes: int
    optimise: str
    families: tuple[str, ...]
    engine: str
    options: dict[str, Any]

    @property
    def seed(self) -> int:
        return self.played.seeds[0]

    @property
    def shape(self) -> EngineShape:
        return engine_shape(self.engine, sram_words(self.budget_bytes // 2))


EPISODES_MIN = 2
"""The engine decides in the first, the processor in the second, and so on."""


class EndedEarly(Exception):
    """Between two episodes, because somebody asked for it."""


class MeteredChip:
    """A chip that keeps what every call cost. The processor decides in every second episode."""

    def __init__(self, chip: SimulatedChip, watch: Callable[[int], None]) -> None:
        self.chip, self.watch, self.episodes, self.stop = chip, watch, 0, StopRequest()
        self.costs: dict[str, list[Cost]] = {"engine": [], "processor": [], "observe": [], "end": []}

    def act(self, h: int, state: Sequence[int]) -> tuple[int, ...]:
        if self.episodes % 2:
            _, action = self.chip.ask(ACT, h, state)
            self.costs["processor"].append(self.chip.last)
            return tuple(action)
        action = self.chip.act(h, state)
        self.costs["engine"].append(self.chip.last)
        return action

    def observe(self, h: int, reward: int, next_state: Sequence[int]) -> None:
        self.chip.observe(h, reward, next_state)
        self.costs["observe"].append(self.chip.last)

    def end_episode(self) -> None:
        self.chip.end_episode()
        self.costs["end"].append(self.chip.last)
        self.episodes += 1
        self.watch(self.episodes)
        if self.stop.asked and self.episodes >= EPISODES_MIN:
            raise EndedEarly

    def block(self) -> bytes:
        """Compared at the end only: reading it out would take more cycles than the episode."""
        return b""

    def cost(self, kind: str, who: str) -> CallCost | None:
        """None without a call; the first decision also reads the header, and is left out."""
        found = self.costs[kind][1:] if kind == "engine" else self.costs[kind]
        if not found:
            return None
        cycles = np.array([each.cycles for each in found])
        return CallCost(
            who=who,
            calls=len(found),
            cycles_mean=round(float(cycles.mean()), 2),
            cycles_p99=int(np.quantile(cycles, 0.99, method="higher")),
            cycles_max=int(cycles.max()),
            reads_mean=round(float(np.mean([each.reads for each in found])), 2),
            writes_mean=round(float(np.mean([each.writes for each in found])), 2),
        )


def prepare(request: ChipRequest) -> tuple[Problem, DeviceSettings, SimulatedChip]:
    """Everything that can be refused is, before the first cycle."""
    made = request.played.make()
    check_horizon(made.horizon)
    for name, dims in (("state", made.d_s), ("action", made.d_a)):
        if dims > spec.DIM_MAX:
            raise InputError(f"{name} dimensions", dims, f"the engine has {spec.DIM_MAX}")
    settings = DeviceSettings(made.d_s, made.d_a, made.horizon, seed=request.seed & 0xFFFF, **request.options)
    words, needed = request.budget_bytes // 2, 2 * settings.required_words()
    if 2 * words < needed:
        raise InputError("budget", request.budget_bytes, f"this configuration needs {needed} bytes")
    shape = request.shape
    check_fit(request.engine, shape, made)
    chip = SimulatedChip(settings.config(), words, cpu=request.cpu, optimise=request.optimise, engine=shape)
    return made, settings, chip


def run(request: ChipRequest, made: Problem, settings: DeviceSettings, metered: MeteredChip) -> tuple[float, bool]:
    """Play; the mean reward of an episode, and whether all were played. Ctrl-C ends it with the episode."""
    config, words = settings.config(), request.budget_bytes // 2
    rewards = _Rewards(made)
    with stop_on_interrupt() as metered.stop:
        try:
            record("chip", rewards, metered, config, words, request.played.episodes)  # type: ignore[arg-type]
        except EndedEarly:
            return rewards.mean(metered.episodes), False
    return rewards.mean(metered.episodes), True


class _Rewards:
    """A problem that keeps what it paid."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.paid = problem, [0.0]
        self.n, self.d_s, self.d_a, self.horizon = problem.n, problem.d_s, problem.d_a, problem.horizon

    def begin_episode(self) -> np.ndarray:
        return self.problem.begin_episode()

    def step(self, h: int, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rewards, states = self.problem.step(h, actions)
        self.paid.append(float(rewards[0]))
        return rewards, states

    def mean(self, episodes: int) -> float:
        return sum(self.paid[: 1 + episodes * self.horizon]) / max(episodes, 1)


@dataclass
class Placed:
    """Designs that were synthesised, placed and routed, and reasons why others were not."""

    engines: list[EngineSize] = field(default_factory=list)
    chips: list[EngineSize] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def place(request: ChipRequest, settings: DeviceSettings, say: Callable[[str], None] = lambda text: None) -> Placed:
    """On each family: the engine for any block, the one for these dimensions, the chosen one; the chip."""
    names = dict.fromkeys((ANY, f"{settings.d_s}+{settings.d_a}", request.engine))
    found, sram = Placed(), 2 * request.shape.words
    for family in request.families:
        if reason := synthesis.too_large(family, sram):
            found.left_out.append(f"no engine: {reason}")
            continue
        for built_for in names:
            say(f"placing and routing the engine for {built_for} on {family}; the first start takes minutes")
            size = synthesis.measure(family, engine_shape(built_for, request.shape.words))
            found.engines.append(EngineSize(built_for=built_for, **asdict(size)))
    for family in request.families:
        if reason := synthesis.too_large(family, sram + 4 * PROGRAM_WORDS):
            found.left_out.append(f"no chip: {reason}")
            continue
        say(f"placing and routing the chip with {request.cpu} on {family}")
        size = synthesis.measure(family, request.shape, request.cpu)
        found.chips.append(EngineSize(built_for=request.engine, **asdict(size)))
    return found


def host_digest(request: ChipRequest, episodes: int) -> str:
    """That of `adamb run --core c` with the same seed after these episodes."""
    options = {name: value for name, value in request.options.items() if value is not None}
    result = simulate(
        request.played.make(), "adamb", budget_bytes=request.budget_bytes, core="c", episodes=episodes, **options
    )
    return str(result.digest)


def summarise(
    request: ChipRequest, settings: DeviceSettings, metered: MeteredChip, reward: float, placed: Placed
) -> ChipSummary:
    block = metered.chip.block()
    finest = int.from_bytes(block[2 * spec.H_SCALE : 2 * spec.H_SCALE + 2], "little") >> 8
    engine, observe, end = (
        metered.cost(kind, who) for kind, who in (("engine", "engine"), ("observe", request.cpu), ("end", request.cpu))
    )
    assert engine is not None and observe is not None and end is not None
    return ChipSummary(
        problem=request.played.problem,
        cpu=request.cpu,
        optimise=request.optimise,
        mode=settings.mode,
        share=settings.sharing,
        budget_bytes=request.budget_bytes,
        sram_bytes=2 * request.shape.words,
        program_bytes=metered.chip.image.sizes.flash_bytes,
        episodes=metered.episodes,
        horizon=settings.horizon,
        d_s=settings.d_s,
        d_a=settings.d_a,
        seed=request.seed,
        finest=finest,
        reward_mean=round(reward, 4),
        act_engine=engine,
        act_processor=metered.cost("processor", request.cpu),
        observe=observe,
        end_episode=end,
        bound_act_cycles=finest * settings.d_s + 6,
        engines=placed.engines,
        chips=placed.chips,
        left_out=placed.left_out,
        tools=synthesis.versions(request.families),
        digest=hashlib.sha256(block).hexdigest()[:16],
        digest_host=host_digest(request, metered.episodes),
    )
