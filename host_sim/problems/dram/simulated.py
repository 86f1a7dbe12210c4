"""A DRAM controller to be tuned while it runs: page timeout and write drain against a simulated channel.

State: s0 is the share of requests that ask for the row their bank was last asked for (a shadow register, so
it does not depend on the policy), s1 the offered load, s2 the share of writes. Actions: a0 sets the page
timeout, a1 how many waiting writes start a drain when no read waits. One step is an epoch of requests; the
reward is the mean read latency between a conflict (0) and a row hit (1).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from adamb.budgets.errors import InputError
from adamb.host_sim import draws
from adamb.host_sim.compiled import CompiledProblem, ProblemInC
from adamb.host_sim.parameter import Parameter
from adamb.host_sim.problem import Policy
from adamb.host_sim.problems.dram.channel import NEVER, DramTiming, Knobs, lib, load_timing
from adamb.host_sim.problems.dram.compiled import Channels
from adamb.host_sim.problems.dram.lite import action_of, best_timeout, heading
from adamb.host_sim.problems.dram.replay import GAP, PACES, TraceTraffic
from adamb.host_sim.problems.dram.rules import AdaptiveTimeout, BestStatic
from adamb.host_sim.problems.dram.statistics import COUNTS, Statistics
from adamb.host_sim.problems.dram.traffic import SyntheticTraffic, Traffic
from adamb.host_sim.problems.located import LocatedProblem
from adamb.host_sim.registry import register_problem

SIZES = ("1x1", "2x1", "3x2")
#: What info() tells of the last epoch; all but the latency are counts.
MEASURED = (
    "latency", "reads", "writes", "hits", "closed", "conflicts", "reopened", "worst_read", "refreshes",
)  # fmt: skip
#: Worst mean latency that still counts, in cycles, where load and refresh come on top of a conflict.
LOADED_WORST = 120.0


def timeout_cycles(action: float) -> int | None:
    """Page timeout meant by a0; None is never."""
    cycles = int(lib.dram_timeout(action))
    return None if cycles == NEVER else cycles


class Dram(ProblemInC, LocatedProblem):
    """N channels, each with its own traffic; see the module for state, action and reward."""

    horizon = 5
    #: What the controller sees next depends on the requests alone, so looking ahead cannot pay.
    action_moves_state = False
    #: How many files `trace` takes.
    trace_files = 1
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "size": Parameter("1x1", "str", "state x action coordinates", words=SIZES),
        "device": Parameter("DDR4-2400", "str", "DDR4-2400, DDR3-1600, or a DRAMsim3 .ini file"),
        "requests": Parameter(256, "int", "requests an epoch", 1, 1_000_000),
        "streams": Parameter(None, "int", "banks with traffic: 4 in size 1x1, else all", 1, 64),
        "g1": Parameter(100.0, "float", "mean cycles until a stream returns to its row (size 1x1)", 1, 1e6),
        "g2": Parameter(300.0, "float", "mean cycles until a stream asks for another row", 1, 1e6),
        "walk": Parameter(0.1, "float", "deviation of one step of locality, load and write share", 0, 1),
        "worst": Parameter(
            None,
            "float",
            "mean latency in cycles of reward 0: of a conflict in size 1x1, "
            "120 with more load and in CPU traces",
            1,
            1e6,
        ),
        "refresh": Parameter(None, "bool", "refresh all banks every tREFI"),
        "c": Parameter(1.0, "float", "how much of the locality lasts; the rest turns around", 0, 1),
        "trace": Parameter(None, "str", "file of requests to replay in place of the synthetic workload"),
        "gap": Parameter(20.0, "float", "cycles between requests of a trace without times", 0, 1e6),
        "stretch": Parameter(1.0, "float", "memory cycles for each cycle of a trace", 0.001, 1e6),
        "ipc": Parameter(
            None,
            "float",
            "instructions a memory cycle, for CPU traces; left out: at most 4, "
            "slower where the trace asks for more than half the load",
            0.0001,
            1000,
        ),
    }

    def setup(self, generators: list[np.random.Generator]) -> None:
        params = self.params
        self.d_s, self.d_a = (int(part) for part in params["size"].split("x"))
        self.timing: DramTiming = load_timing(params["device"])
        loaded, paced = self.d_s > 1, False
        self.refresh = loaded if params["refresh"] is None else params["refresh"]
        self.set_location(params["c"])
        self.traffic: Traffic
        if params["trace"] is None:
            self.traffic = SyntheticTraffic(self.timing, params, varies=(loaded, self.d_s > 2))
        else:
            self.drift_width = 0
            self.traffic = replay = TraceTraffic(self.n, self.timing, params, epochs=self.horizon + 1)
            params[replay.pace], paced = replay.pace_value, replay.pace == "ipc"
        self.worst = params["worst"] or (LOADED_WORST if loaded or paced else float(self.timing.conflict))
        if self.worst <= self.timing.hit:
            raise InputError("worst", self.worst, f"must be above a row hit, {self.timing.hit} cycles")
        self.neutral = Knobs(refresh=self.refresh).as_c()
        self.in_order_next = False
        self.counted = Statistics(self.n)
        self.channels = Channels(self)
        self.most_at_once = self.channels.most_at_once

    # ---- random draws -----------------------------------------------------------------------------------

    def draw_starts(self, generator: np.random.Generator, episodes: int) -> np.ndarray:
        """Locality, load, write share and the seed of the warm-up epoch (or the place in a trace)."""
        return generator.random((episodes, 4))

    def draw_noise(self, generator: np.random.Generator, episodes: int) -> np.ndarray:
        walks = draws.normal(generator, (episodes, self.horizon, 3))
        return np.concatenate([walks, generator.random((episodes, self.horizon, 1))], axis=2)

    def fresh_start(self, drawn: np.ndarray) -> np.ndarray:
        """A cold channel, warmed by one epoch that is seen but not paid."""
        return self.channels.start(drawn)

    def fresh_starts(self, drawn: np.ndarray, noise: np.ndarray) -> np.ndarray:
        return self.channels.fill(self.c, drawn, noise)

    # ---- one epoch --------------------------------------------------------------------------------------

    def dynamics(
        self, h: int, states: np.ndarray, actions: np.ndarray, noise: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        world = self.channels.world
        world.policy.in_order, self.in_order_next = self.in_order_next, False
        world.carry = self.continuing and self.episode > 0
        self.channels.next(h, self.c, noise)
        played = super().dynamics(h, states, actions, noise)
        world.policy.in_order = 0
        return played

    def world(self) -> CompiledProblem:
        return self.channels.offer()

    def compiled(self) -> CompiledProblem | None:
        return super().compiled() if self.channels.whole else None

    # ---- what a run tells -------------------------------------------------------------------------------

    def figures(self) -> dict[str, np.ndarray]:
        return self.counted.figures()

    def statistics(self) -> dict[str, Any]:
        """Latency histogram, row hits and bank conflicts of all epochs so far."""
        return self.counted.as_dict()

    def notes(self) -> list[str]:
        """About the pace of a trace, and about rewards that cannot tell one policy from another."""
        said, latency = self._idle_paces() + self.traffic.notes(), self.counted.mean_latency
        if latency > self.worst and not self.traffic.saturated:
            said.append(
                f"the mean read latency of {latency:.0f} cycles is above that of reward 0, worst="
                f"{self.worst:g}, so that most rewards are 0; --set worst={2 * latency:.0f} tells them apart"
            )
        return said

    def _idle_paces(self) -> list[str]:
        """A pace that was set in vain: each kind of trace has one, and the synthetic workload none."""
        used = self.traffic.pace if isinstance(self.traffic, TraceTraffic) else None
        instead = "without a trace" if used is None else f"on this trace; --set {used}=… is its pace"
        idle = [name for name in (*PACES.values(), GAP) if name != used]
        return [
            f"{name}={self.params[name]:g} has no effect {instead}"
            for name in idle
            if self.params[name] != self.parameters[name].default
        ]

    def info(self) -> dict[str, np.ndarray]:
        """Adds the epoch in raw units: cycles and counts."""
        raw = super().info()
        if self.last:
            raw |= {f"epoch_{name}": values for name, values in self._measured().items()}
            timeouts = [timeout_cycles(action) for action in raw["action"][:, 0]]
            raw["timeout_cycles"] = np.array([np.inf if t is None else t for t in timeouts])
        return raw

    def _measured(self) -> dict[str, np.ndarray]:
        counts = dict(zip(COUNTS, self.channels.last.T.astype(float), strict=False))
        reads, latency = counts["reads"], np.full(self.n, float(self.timing.hit))
        np.divide(counts["read_latency"], reads, out=latency, where=reads > 0)
        return {name: counts.get(name, latency) for name in MEASURED}

    # ---- rules of real controllers ----------------------------------------------------------------------

    def baselines(self) -> dict[str, Policy]:
        """FCFS schedules in order of arrival; all others are FR-FCFS with a rule for the timeout."""
        policies = super().baselines()
        policies.pop("stay", None)
        policies["fcfs"] = self._fcfs
        policies["open"], policies["closed"] = self._fixed(1.0), self._fixed(0.0)
        for timeout in (50, 100, 200):
            policies[f"timeout-{timeout}"] = self._fixed(float(action_of(np.asarray(timeout))))
        policies["adaptive"] = AdaptiveTimeout(self)
        policies["t-star"] = self._t_star
        policies["best-static"] = BestStatic(self)
        return policies

    def with_timeout(self, a0: np.ndarray | float) -> np.ndarray:
        """Actions (n, d_a) with this page timeout and the usual drain of 16 writes."""
        actions = np.full((self.n, self.d_a), 15.0 / 31.0)
        actions[:, 0] = a0
        return actions

    def _fixed(self, a0: float) -> Policy:
        return lambda h, states: self.with_timeout(a0)

    def _fcfs(self, h: int, states: np.ndarray) -> np.ndarray:
        self.in_order_next = True
        return self.with_timeout(1.0)

    def _t_star(self, h: int, states: np.ndarray) -> np.ndarray:
        """The timeout that is best for a lone stream of the seen locality and load, if its gaps are known."""
        timeouts = np.empty(self.n)
        for i, (place, seen) in enumerate(zip(self.c, states, strict=True)):
            expected = float(heading(place, seen[0]))
            gaps = self.channels.gaps(expected, seen[1] if self.d_s > 1 else 0.0)
            timeouts[i] = best_timeout(np.asarray(expected), *gaps)
        return self.with_timeout(action_of(timeouts))


register_problem("dram-1x1", Dram, size="1x1")
register_problem("dram-2x1", Dram, size="2x1")
register_problem("dram-3x2", Dram, size="3x2")
