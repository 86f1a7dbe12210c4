"""The controller on a target as an agent: every call goes there, and the C core here checks what comes back.

The C core plays along on this computer, word for word the same. So the first difference is found and named,
and a target that lost its memory is given the block as it was before the call that it did not answer.
"""

from __future__ import annotations

import hashlib
import time
import zlib
from array import array
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from adamb.budgets.errors import AdambError, BudgetExceeded
from adamb.firmware_model import _spec
from adamb.firmware_model.host import binding
from adamb.host_sim.agent import Shape
from adamb.host_sim.agents.core import CoreAgent, _fractions
from adamb.tools.device.loop.difference import Call, first_difference
from adamb.tools.device.loop.link import Hello, Link, LinkCounts, LinkLost, TargetRefused
from adamb.tools.device.loop.targets import Target, find_targets

if TYPE_CHECKING:
    from adamb.host_sim.problem import Problem

CHECKS = 200
"""How often in a run the whole block is compared; actions are compared at every step."""


def on_targets(
    problem: Problem, *, core: str, budget_bytes: int | None, keep: bool = False, **options: Any
) -> TargetsAgent:
    """The agent of `--core` for these targets; nothing is opened before the first step."""
    return TargetsAgent(
        problem.shape, targets=find_targets(core, keep=keep), budget_bytes=budget_bytes, **options
    )


class TargetsAgent(CoreAgent):
    """Learners that take turns on one target or several."""

    def __init__(self, shape: Shape, *, targets: list[Target], budget_bytes: Any = None, **options: Any):
        super().__init__(shape, budget_bytes=budget_bytes, **options)
        self.targets, self.lanes = targets, len(targets)
        self._given = options
        self._connections: dict[int, Connection] = {}
        self._players: dict[int, PlayerOnTarget] = {}

    def alone(self, i: int, lane: int) -> PlayerOnTarget:
        if lane not in self._connections:
            self._connections[lane] = Connection(self.targets[lane], self.words)
        elif self.targets[lane].fresh:
            self._connections[lane].reopen()
        shape = Shape(self.d_s, self.d_a, self.horizon, self.seeds[i : i + 1], self.episodes)
        player = PlayerOnTarget(
            shape, connection=self._connections[lane], budget_bytes=self.budget_bytes, **self._given
        )
        player.name, player.core = self.name, self.core
        player._keep_in(self.blocks[i : i + 1])  # so that what looks at this agent sees its learners
        self._players[i] = player
        return player

    def release(self) -> None:
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()

    def on_target(self) -> dict[str, Any] | None:
        players = [self._players[i] for i in sorted(self._players)]
        if not players:
            return None
        return summary(players)


class Connection:
    """A session with a target that outlives the target's absence."""

    def __init__(self, target: Target, words: int) -> None:
        self.target, self.words = target, words
        self.counts = LinkCounts()
        self._open()

    def _open(self) -> None:
        self.transport = self.target.open(self.words)
        self.link = Link(self.transport, self.target.patience, self.counts)
        try:
            self.hello: Hello = self.link.hello()
        except AdambError:
            self.close()
            raise

    def reopen(self) -> None:
        """A target that has just been started."""
        self.close()
        self._open()

    @property
    def unit(self) -> str:
        """What calls are counted in; empty where nothing counts."""
        return self.hello.unit if self.spent is None else "instructions"

    @property
    def spent(self) -> int | None:
        """What the emulator counted for the last call; None where the target has a clock of its own."""
        return getattr(self.transport, "spent", None)

    def start(self, config: bytes) -> None:
        """A fresh controller on the target."""
        code = self.link.init(config, self.words)
        if code == _spec.ERR_MEMORY:
            free = self.hello.free_bytes
            raise BudgetExceeded(2 * self.words, free, f"a block of {2 * self.words} bytes on {self.name}")
        if code:
            raise TargetRefused(f"{self.name} refused the configuration (code {code})")

    @property
    def name(self) -> str:
        return self.target.name

    def come_back(self, config: bytes, block: bytes) -> None:
        """Open the target again, for as long as it is worth waiting, and give it its block."""
        end = time.monotonic() + self.target.patience.return_seconds
        while True:
            try:
                with suppress(AdambError):
                    self.transport.close()
                self._open()
                self.start(config)
                self.link.write_block(block)
                self.counts.returns += 1
                return
            except AdambError:
                if time.monotonic() >= end:
                    raise
                time.sleep(min(1.0, self.target.patience.reply_seconds))

    def close(self) -> None:
        self.target.close(self.transport, self.link)


class PlayerOnTarget(CoreAgent):
    """One learner on a target."""

    def __init__(self, shape: Shape, *, connection: Connection, **options: Any) -> None:
        super().__init__(shape, **options)
        self.connection = connection
        made = binding.c_config(self.config.with_seed(self.seeds[0]))
        self._config = bytes(binding.ffi.buffer(made))
        self.costs = {name: array("I") for name in ("act", "observe", "end_episode")}
        self.checked = 0
        self._failed = False
        self._episode = 0
        self._every = max(1, self.episodes // CHECKS)
        self._calls: list[Call] = []
        connection.start(self._config)
        self._good = self._here()

    def _here(self) -> bytes:
        """The block as it should be."""
        return self.blocks[0].astype("<u2").tobytes()

    def _on_target(self, call: Call) -> tuple[int, ...]:
        """Execute a call there; the action, where there is one."""
        self._calls.append(call)
        while True:
            try:
                code, spent, action = call.on(self.connection.link)
                break
            except LinkLost as lost:
                self._come_back(lost)
        if code:
            self._failed = True
            place = f"episode {call.episode}, step {call.h}, seed {self.seeds[0]}"
            raise AdambError(f"{self.connection.name} refused {call.op} in {place} (code {code})")
        counted = self.connection.spent
        self.costs[call.op].append(spent if counted is None else counted)
        return action

    def _come_back(self, lost: LinkLost) -> None:
        try:
            self.connection.come_back(self._config, self._here())
        except AdambError as error:
            self._failed = True
            raise LinkLost(f"{self.connection.name}: {lost}, and has not come back ({error})") from error

    def act(self, h: int, states: np.ndarray) -> np.ndarray:
        call = Call("act", self._episode + 1, h, tuple(_fractions(states)[0].tolist()))
        action = self._on_target(call)
        wanted = super().act(h, states)
        if [word / 65536 for word in action] != wanted[0].tolist():
            self._failed = True
            raise self._difference()
        return wanted

    def observe(self, h: int, rewards: np.ndarray, next_states: np.ndarray) -> None:
        reward = int(_fractions(np.asarray(rewards) + 0.5 / 65536)[0])
        state = tuple(_fractions(next_states)[0].tolist())
        self._on_target(Call("observe", self._episode + 1, h, state, reward))
        super().observe(h, rewards, next_states)

    def end_episode(self) -> None:
        self._on_target(Call("end_episode", self._episode + 1, self.horizon - 1))
        super().end_episode()
        self._episode += 1
        if self._episode % self._every == 0:
            self._check()

    def _check(self) -> None:
        """Compare the whole blocks by their CRC."""
        here = self._here()
        while True:
            try:
                same = self.connection.link.crc() == zlib.crc32(here)
                break
            except LinkLost as lost:
                self._come_back(lost)
        if not same:
            self._failed = True
            raise self._difference()
        self.checked += 1
        self._good = here
        self._calls.clear()

    def _difference(self) -> AdambError:
        title = f"{self.connection.name}, seed {self.seeds[0]}"
        return first_difference(self.connection.link, self._good, self._here(), self._calls, title)

    def digest(self) -> str | None:
        """Of the block as the target holds it; None where it can no longer be asked."""
        if self._failed:
            return None
        try:
            there = self.connection.link.read_block(self.words)
        except LinkLost as lost:
            self._failed = True
            raise LinkLost(f"{self.connection.name}: {lost} while its block was read at the end") from lost
        if there != self._here():
            self._failed = True
            raise self._difference()
        return hashlib.sha256(there).hexdigest()[:16]

    def on_target(self) -> dict[str, Any]:
        return summary([self])


def summary(players: list[PlayerOnTarget]) -> dict[str, Any]:
    """What was measured, over all learners."""
    connections = {id(each.connection): each.connection for each in players}.values()
    counts = [vars(each.counts) for each in connections]
    first = next(iter(connections))
    costs: dict[str, Any] = {}
    for name in ("act", "observe", "end_episode"):
        values = np.concatenate([np.asarray(each.costs[name]) for each in players])
        if values.size and first.unit:
            costs[name] = {
                "calls": int(values.size),
                "mean": float(values.mean()),
                "p99": float(np.percentile(values, 99)),
                "most": int(values.max()),
            }
    return {
        "names": [each.name for each in connections],
        "software": first.hello.name,
        "unit": first.unit,
        **costs,
        "blocks_compared": sum(each.checked for each in players),
        "link": {name: sum(each[name] for each in counts) for name in counts[0]},
    }
