"""A DRAM controller to be tuned while it runs: page timeout and write drain against a simulated channel.

State: s0 is the share of requests that ask for the row their bank was last asked for (a shadow register, so
it does not depend on the policy), s1 the offered load, s2 the share of writes. Actions: a0 sets the page
timeout as in `dram-lite`, in whole cycles, a1 how many waiting writes start a drain when no read waits. One
step is an epoch of requests; the reward is the mean read latency between a conflict (0) and a row hit (1).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from adamb.firmware_model.host.errors import InputError
from adamb.host_sim import draws
from adamb.host_sim._sim import ffi, lib
from adamb.host_sim.compiled import CompiledProblem, ProblemInC, Tapes, pointer
from adamb.host_sim.parameter import Parameter
from adamb.host_sim.problem import LocatedProblem, Policy, Report
from adamb.host_sim.problems import register_problem
from adamb.host_sim.problems.dram.channel import (
    GAP,
    PACES,
    REQUEST,
    DramTiming,
    Knobs,
    SyntheticTraffic,
    TraceTraffic,
    Traffic,
    load_timing,
)
from adamb.host_sim.problems.dram.lite import action_of, best_timeout, heading, timeout_of


class AdaptiveTimeout:
    """Double the timeout when rows were closed too early more often than too late, else halve it."""

    FIRST, LEAST, MOST = 100.0, 1.0, 1023.0

    def __init__(self, problem: Dram) -> None:
        self._problem = problem
        self._timeout = np.full(problem.n, self.FIRST)

    def __call__(self, h: int, states: np.ndarray) -> np.ndarray:
        if h > 0 or self._problem.continuing:
            seen = self._problem.info()
            if "epoch_reopened" in seen:
                early = seen["epoch_reopened"] > seen["epoch_conflicts"]
                self._timeout *= np.where(early, 2.0, 0.5)
                np.clip(self._timeout, self.LEAST, self.MOST, out=self._timeout)
        return self._problem.with_timeout(action_of(self._timeout))


class BestStatic:
    """The best constant action, found on first use by playing all of a grid on a problem of another seed."""

    EPISODES, SEED = 150, 10**9

    def __init__(self, problem: Dram) -> None:
        self._problem = problem
        self._found: np.ndarray | None = None

    def __call__(self, h: int, states: np.ndarray) -> np.ndarray:
        if self._found is None:
            self._found = self._search()
        return np.tile(self._found, (self._problem.n, 1))

    def _search(self) -> np.ndarray:
        problem = self._problem
        axes = [np.linspace(0.0, 1.0, points) for points in ((21,) if problem.d_a == 1 else (9, 5))]
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, problem.d_a)
        return grid[int(np.argmax([self._worth(action) for action in grid]))]

    def _worth(self, action: np.ndarray) -> float:
        problem = self._problem
        params = {**problem.params, "c": float(problem.c[0])}
        copy = type(problem)([self.SEED], name=problem.name, horizon=problem.horizon, **params)
        total = 0.0
        for _ in range(self.EPISODES):
            copy.begin_episode()
            total += sum(float(copy.step(h, action[None, :])[0][0]) for h in range(copy.horizon))
        return total


COUNTS = (
    "reads", "writes", "hits", "closed", "conflicts", "reopened", "read_latency", "worst_read", "refreshes",
)  # fmt: skip
BUCKETS: int = lib.DRAM_LATENCIES
TOTALS = len(COUNTS) + BUCKETS


class Statistics:
    """Sums of `dram_totals`, an instance a row; the histogram is at the end of a row."""

    def __init__(self, n: int) -> None:
        self.sums = np.zeros((n, TOTALS), dtype=np.int64)
        assert ffi.sizeof("dram_totals") == self.sums[0].nbytes, "COUNTS names the fields of dram_totals"

    def _column(self, name: str) -> np.ndarray:
        return self.sums[:, COUNTS.index(name)]

    @property
    def mean_latency(self) -> float:
        """Cycles of a read, 0 before the first."""
        return float(self._column("read_latency").sum() / max(1, self._column("reads").sum()))

    def figures(self) -> dict[str, np.ndarray]:
        """Of every instance: shares of all requests, and the mean latency of its reads."""
        served = np.maximum(1, self._column("reads") + self._column("writes"))
        return {
            "row_hits": self._column("hits") / served,
            "closed_rows": self._column("closed") / served,
            "bank_conflicts": self._column("conflicts") / served,
            "read_latency": self._column("read_latency") / np.maximum(1, self._column("reads")),
        }

    def as_dict(self) -> dict[str, Any]:
        """Sums over all instances; a bucket [from, below, reads] of the histogram is an octave of cycles."""
        sums = self.sums.sum(axis=0)
        found = {name: int(value) for name, value in zip(COUNTS, sums, strict=False)}
        found["worst_read"] = int(self._column("worst_read").max())
        counts = sums[len(COUNTS) :].tolist()
        rows = [[2**i if i else 0, 2 ** (i + 1), reads] for i, reads in enumerate(counts)]
        last = max((i for i, reads in enumerate(counts) if reads), default=-1)
        first = next((i for i, reads in enumerate(counts) if reads), 0)
        return {**found, "mean_read": self.mean_latency, "latency": rows[first : last + 1]}


CHANNEL_BYTES = ffi.sizeof("dram_channel")


class Channels:
    """Memory of all channels of a problem, and of what is asked of them."""

    def __init__(self, problem: Dram) -> None:
        self._traffic = traffic = problem.traffic
        self._tapes = tapes = Tapes(problem.seeds)
        self._replay = traffic if isinstance(traffic, TraceTraffic) else None
        n, epochs, requests = problem.n, problem.horizon + 1, traffic.requests
        room = tapes.make_room(epochs * (requests * REQUEST.itemsize + 32) + CHANNEL_BYTES)
        #: Whether tapes hold whole episodes: none depends on the one before or on a trace, and there is room.
        self.whole = room and self._replay is None and not problem.continuing
        if not self.whole:
            tapes.episodes = epochs = 1
        #: Counts of the last epoch of every instance, in the order of `dram_totals`.
        self.last = np.zeros((n, TOTALS), dtype=np.int64)
        self._c = np.empty(n)
        self._channels = np.zeros((n, CHANNEL_BYTES), dtype=np.uint8)
        self._asked = tapes.array(epochs, requests, kind=REQUEST)
        self._seen = tapes.array(epochs, 4)
        self._warm = tapes.array(CHANNEL_BYTES, kind=np.uint8)
        #: `latent` of a tape: locality, load and write share, each in [0,1].
        self.traffic = ffi.new("dram_traffic[]", len(tapes.firsts))
        world = self.world = ffi.new("dram_world *")
        world.timing, world.policy = problem.timing.as_c()[0], problem.neutral[0]
        world.n, world.d_s, world.d_a, world.horizon = n, problem.d_s, problem.d_a, problem.horizon
        world.requests, world.streams = requests, traffic.streams_n
        world.vary_load, world.vary_writes = traffic.varies
        world.walk, world.worst = problem.params["walk"], problem.worst
        world.gap_stay, world.gap_move = problem.params["g1"], problem.params["g2"]
        world.c, world.tape = pointer("double", self._c), pointer("int32_t", tapes.of)
        world.channel, world.warm = (pointer("dram_channel", each) for each in (self._channels, self._warm))
        world.last, world.sum = (pointer("dram_totals", each) for each in (self.last, problem.counted.sums))
        world.episodes, world.epochs = tapes.episodes, epochs
        world.asked, world.seen = pointer("dram_request", self._asked), pointer("double", self._seen)
        world.traffic = self.traffic

    @property
    def most_at_once(self) -> int:
        return self._tapes.episodes

    def offer(self) -> CompiledProblem:
        return CompiledProblem.of("dram_step", self.world, self, numbers=4)

    def start(self, drawn: np.ndarray) -> np.ndarray:
        """The first epoch of the next episode; start states (n, d_s)."""
        for tape, first in enumerate(self._tapes.firsts):
            if self._replay is None:
                row = np.ascontiguousarray(drawn[first])
                lib.dram_world_start(self.world, tape, 0, pointer("double", row))
            else:
                self._replay.start(tape, drawn[first], self._asked[tape, 0, 0])
                lib.dram_world_take(self.world, tape, 1)
        return self._count(self._seen[self._tapes.of, :1, :1])[0]

    def next(self, h: int, c: np.ndarray, noise: np.ndarray) -> None:
        """The epoch of step h at the locations c."""
        self._c[:] = c
        epoch = (h + 1) % self.world.epochs
        numbers = np.ascontiguousarray(noise)
        for tape, first in enumerate(self._tapes.firsts):
            if self._replay is None:
                lib.dram_world_next(self.world, tape, 0, h, first, pointer("double", numbers))
            else:
                self._replay.next(tape, self._asked[tape, 0, 0])
                lib.dram_world_take(self.world, tape, 0)
        self._count(self._seen[self._tapes.of, :1, epoch : epoch + 1])

    def fill(self, c: np.ndarray, drawn: np.ndarray, noise: np.ndarray) -> np.ndarray:
        """All epochs of these episodes at the locations c; their start states (m, n, d_s)."""
        self._c[:] = c
        numbers: list[Any] = [np.ascontiguousarray(each) for each in (drawn, noise)]
        pointers = [pointer("double", each) for each in numbers]
        for tape, first in enumerate(self._tapes.firsts):
            lib.dram_world_fill(self.world, tape, first, len(drawn), *pointers)
        return self._count(self._seen[self._tapes.of, : len(drawn)])

    def gaps(self, locality: float, load: float) -> tuple[float, float]:
        """Mean cycles until a stream returns to its row and until it asks for another, as far as is known."""
        found = ffi.new("double[2]")
        lib.dram_world_gaps(self.world, locality, load, found)
        return found[0], found[1]

    def _count(self, seen: np.ndarray) -> np.ndarray:
        """Count epochs (n, m, epochs, 4) that were drawn; the first states (m, n, d_s) of their episodes."""
        self._traffic.count(seen[..., 3])
        return np.ascontiguousarray(seen[:, :, 0, : self.world.d_s].swapaxes(0, 1))


SIZES = ("1x1", "2x1", "3x2")
#: What info() tells of the last epoch; all but the latency are counts.
MEASURED = (
    "latency", "reads", "writes", "hits", "closed", "conflicts", "reopened", "worst_read", "refreshes",
)  # fmt: skip
#: Worst mean latency that still counts, in cycles, where load and refresh come on top of a conflict.
LOADED_WORST = 120.0


class Dram(ProblemInC, LocatedProblem):
    """N channels, each with its own traffic; see the module for state, action and reward."""

    horizon = 5
    #: What the controller sees next depends on the requests alone, so looking ahead cannot pay.
    action_moves_state = False
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
            "mean latency in cycles of reward 0: of a conflict in size 1x1, 120 with more load and in CPU traces",
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

    def report(self) -> Report:
        """Adds the latency histogram, row hits and bank conflicts of all epochs."""
        counted = self.counted
        return Report(figures=counted.figures(), statistics=counted.as_dict(), notes=self._notes())

    def _notes(self) -> list[str]:
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
            raw["timeout_cycles"] = np.rint(timeout_of(raw["action"][:, 0]))
        return raw

    def _measured(self) -> dict[str, np.ndarray]:
        counts = dict(zip(COUNTS, self.channels.last.T.astype(float), strict=False))
        reads, latency = counts["reads"], np.full(self.n, float(self.timing.hit))
        np.divide(counts["read_latency"], reads, out=latency, where=reads > 0)
        return {name: counts.get(name, latency) for name in MEASURED}

    # ---- rules of real controllers ----------------------------------------------------------------------

    def rules(self) -> dict[str, Policy]:
        """FCFS schedules in order of arrival; all others are FR-FCFS with a rule for the timeout."""
        policies = super().rules()
        policies.pop("stay", None)
        policies["fcfs"] = self._fcfs
        named = {"open": np.inf, "closed": 0.0, "timeout-50": 50.0, "timeout-100": 100.0, "timeout-200": 200.0}
        for label, timeout in named.items():
            policies[label] = self._fixed(timeout)
        policies["adaptive"] = AdaptiveTimeout(self)
        policies["t-star"] = self._t_star
        policies["best-static"] = BestStatic(self)
        return policies

    def with_timeout(self, a0: np.ndarray) -> np.ndarray:
        """Actions (n, d_a) with this page timeout and the usual drain of 16 writes."""
        actions = np.full((self.n, self.d_a), 15.0 / 31.0)
        actions[:, 0] = a0
        return actions

    def _fixed(self, timeout: float) -> Policy:
        a0 = action_of(timeout)
        return lambda h, states: self.with_timeout(a0)

    def _fcfs(self, h: int, states: np.ndarray) -> np.ndarray:
        self.in_order_next = True
        return self.with_timeout(action_of(np.inf))

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
