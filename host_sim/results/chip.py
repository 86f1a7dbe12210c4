"""The file of `adamb chip`: chip.json."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from adamb.host_sim.results.record import Record, read_record

CHIP = "chip.json"


@dataclass
class CallCost:
    """One kind of call on the chip: cycles, and accesses of the SRAM."""

    who: str
    calls: int
    cycles_mean: float
    cycles_p99: int
    cycles_max: int
    reads_mean: float
    writes_mean: float


@dataclass
class EngineSize:
    """An engine that was synthesised, placed and routed; or a chip, with an engine built for the same."""

    family: str
    built_for: str
    luts: int
    flip_flops: int
    block_rams: int
    mhz: float
    multipliers: int = 0


@dataclass(kw_only=True)
class ChipSummary(Record):
    """chip.json; `digest_host` is that of the C core on the computer after the same episodes."""

    problem: str
    cpu: str
    optimise: str
    mode: str
    share: str
    budget_bytes: int
    sram_bytes: int
    program_bytes: int
    episodes: int
    horizon: int
    d_s: int
    d_a: int
    seed: int
    finest: int
    reward_mean: float
    act_engine: CallCost
    act_processor: CallCost | None
    observe: CallCost
    end_episode: CallCost
    bound_act_cycles: int
    engines: list[EngineSize]
    digest: str
    digest_host: str
    chips: list[EngineSize] = field(default_factory=list)
    """The engine, the processor beside it and their memories, on the parts where they fit."""
    left_out: list[str] = field(default_factory=list)
    """What does not fit a part, and why."""
    tools: str = ""
    """Versions of what synthesised, placed and routed the engines; the clock depends on them."""
    format: int = 1

    @property
    def agrees(self) -> bool:
        return self.digest == self.digest_host

    def decision_ns(self, engine: EngineSize) -> float:
        """The most expensive decision that was met, at the clock of an engine."""
        return 1000 * self.act_engine.cycles_max / engine.mhz

    def decisions_within(self, engine: EngineSize, seconds: float) -> int:
        """How many such decisions, one after the other, are done in a time."""
        return int(seconds * engine.mhz * 1e6 / self.act_engine.cycles_max + 1e-9)

    def observe_us(self, chip: EngineSize) -> float:
        """An observe of the mean length at the clock of a chip."""
        return self.observe.cycles_mean / chip.mhz

    def placed(self) -> list[tuple[str, EngineSize]]:
        """What was placed and routed, with its name."""
        engines = [(f"engine {size.built_for}", size) for size in self.engines]
        return engines + [("chip", size) for size in self.chips]


@dataclass
class ChipFolder:
    """A folder of `adamb chip` as read back."""

    path: Path
    summary: ChipSummary

    @classmethod
    def read(cls, path: Path) -> ChipFolder:
        return cls(path, read_record(ChipSummary, path / CHIP))
