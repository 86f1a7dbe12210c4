"""The controller on a target as an agent: every call goes there, and the C core here checks what comes back.

The C core plays along on this computer, word for word the same. So the first difference is found and named:
the calls since the last equal block are played again one by one, and the whole block is compared after each.
A target that lost its memory is given the block as it was before the call that it did not answer.
"""

from __future__ import annotations

import hashlib
import time
import zlib
from array import array
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from adamb.firmware_model import _spec
from adamb.firmware_model.host import binding
from adamb.firmware_model.host.errors import AdambError, BudgetExceeded, InputError
from adamb.host_sim.agents import SequentialAgent, Shape
from adamb.host_sim.agents.core import CoreAgent, _fractions
from adamb.tools.device.loop import transports
from adamb.tools.device.loop.link import Hello, Link, LinkCounts, LinkLost, TargetRefused, Timeouts, Transport
from adamb.tools.device.stream import Diverged
from adamb.tools.inspect.word_names import word_name

if TYPE_CHECKING:
    from adamb.host_sim.problem import Problem

CORTEX = ("cortex-m0", "cortex-m3")
NAMES = (*CORTEX, "micropython", "micropython:unix", "board:PORT")


class Target(Protocol):
    """A place where a controller runs. It is opened once for a run, and again where it went away."""

    name: str
    timeouts: Timeouts
    fresh: bool
    """True if each seed gets a target that has just been started."""

    def open(self, words: int) -> Transport:
        """Start what is needed there for a block of so many words; the way to it."""
        ...

    def close(self, transport: Transport, link: Link | None) -> None:
        """Leave the place as it was."""
        ...


@dataclass
class LocalTarget:
    """A target that this computer emulates or runs, and that ends with its transport."""

    name: str
    open: Callable[[int], Transport]
    timeouts: Timeouts
    fresh: bool

    def close(self, transport: Transport, link: Link | None) -> None:
        transport.close()


def _emulated(cpu: str) -> Target:
    """An emulated Cortex-M, the link over its memory."""
    timeouts = Timeouts(0.0, tries=1, return_seconds=0.0)
    return LocalTarget(cpu, lambda words: transports.MemoryTransport(cpu, words), timeouts, fresh=False)


def _micropython(name: str, start: Callable[[], Transport]) -> Target:
    """A MicroPython process, the link over its standard streams.

    Fresh, because in the WebAssembly build no memory comes back while a program runs.
    """
    return LocalTarget(name, lambda words: start(), Timeouts(30.0, tries=2, return_seconds=0.0), fresh=True)


def find_targets(text: str, *, keep: bool = False) -> list[Target]:
    """The targets of `cortex-m0` or `board:A,board:B`; a mistake is an InputError."""
    names = [name.strip() for name in text.split(",")]
    ports = [transports.one_name(name.removeprefix("board:")) for name in names if name.startswith("board:")]
    for name in names:
        if name.startswith("board:") and ports.count(transports.one_name(name.removeprefix("board:"))) > 1:
            raise InputError("core", text, f"{name} is there twice; one board plays one seed at a time")
    if keep and not all(name.startswith("board:") for name in names):
        raise InputError("keep", keep, f"is for board:PORT, and the core is {text}")
    return [_find(text, name, keep) for name in names]


def _find(text: str, name: str, keep: bool) -> Target:
    if name in CORTEX:
        return _emulated(name)
    if name == "micropython":
        return _micropython(name, transports.micropython_in_node)
    if name.startswith("micropython:"):
        program = transports.find_program(text, name.removeprefix("micropython:"))
        return _micropython(name, lambda: transports.micropython_program(program))
    if name.startswith("board:") and len(name) > len("board:"):
        from adamb.tools.device.loop.board import BoardTarget

        return BoardTarget(name, name.removeprefix("board:"), keep)
    raise InputError("core", text, f"{name!r} is no target; one of {', '.join(NAMES)}")


@dataclass(frozen=True)
class Call:
    """One call of the core, as it is sent."""

    op: str
    episode: int
    h: int = 0
    state: tuple[int, ...] = ()
    reward: int = 0

    def on(self, link: Link) -> tuple[int, int, tuple[int, ...]]:
        """Execute it on a target: the code, what it took, and the action."""
        if self.op == "act":
            return link.act(self.h, self.state)
        if self.op == "observe":
            return *link.observe(self.h, self.reward, self.state), ()
        return *link.end_episode(), ()

    def here(self, controller: Any, action: array) -> tuple[int, ...]:
        """Execute it on the C core of this computer."""
        if self.op == "act":
            controller.act(self.h, self.state, action)
            return tuple(action)
        if self.op == "observe":
            controller.observe(self.h, self.reward, self.state)
        else:
            controller.end_episode()
        return ()


def _first_word(theirs: bytes, ours: bytes) -> str | None:
    """The first word in which the blocks differ, with its meaning and both values."""
    there, block = array("H", theirs), array("H", ours)
    at = next((i for i in range(len(block)) if there[i] != block[i]), None)
    if at is None:
        return None
    return f"word {at} ({word_name(block, at)}) is {there[at]} there, {block[at]} in the C core"


def first_difference(link: Link, good: bytes, now: bytes, calls: list[Call], title: str) -> Diverged:
    """The first call after the block `good` that leaves another word on the target, in one line.

    Where the same calls agree when they are played again, the first word of the target's block, as it is
    before that, which is not as in `now`, the block of the C core.
    """
    found = _first_word(link.read_block(len(now) // 2), now)
    block = array("H", good)
    controller = binding.Controller(block)
    action = array("H", [0] * (good[2 * _spec.H_DIMS] >> 4))
    link.write_block(good)
    for call in calls:
        code, _, played = call.on(link)
        expected = call.here(controller, action)
        place = f"{title}: episode {call.episode}, step {call.h}, {call.op}"
        if code:
            return Diverged(f"{place}: the target refused it (code {code}), the C core did not")
        if link.crc() != zlib.crc32(block):
            word = _first_word(link.read_block(len(block)), block.tobytes())
            return Diverged(f"{place}: {word or 'its block differed, and no longer does'}")
        if played != expected:
            return Diverged(f"{place}: action {list(played)} there, {list(expected)} in the C core")
    again = "played again from the last equal block, the same calls agree"
    return Diverged(f"{title}: {found or 'an action differed'}; {again}: is its memory sound?")


CHECKS = 200
"""Comparisons of the whole block in a run; actions are compared at every step."""


def on_targets(
    problem: Problem, *, core: str, budget_bytes: int | None, keep: bool = False, **options: Any
) -> TargetsAgent:
    """The agent of `--core` for these targets; nothing is opened before the first step."""
    return TargetsAgent(problem.shape, targets=find_targets(core, keep=keep), budget_bytes=budget_bytes, **options)


class TargetsAgent(CoreAgent, SequentialAgent):
    """Learners that run one after another on one target or several."""

    def __init__(self, shape: Shape, *, targets: list[Target], budget_bytes: Any = None, **options: Any):
        super().__init__(shape, budget_bytes=budget_bytes, **options)
        self.targets, self.devices = targets, len(targets)
        self._given = options
        self._connections: dict[int, Connection] = {}
        self._players: dict[int, PlayerOnTarget] = {}

    def for_seed(self, i: int, device: int) -> PlayerOnTarget:
        if device not in self._connections:
            self._connections[device] = Connection(self.targets[device], self.words)
        elif self.targets[device].fresh:
            self._connections[device].reopen()
        shape = Shape(self.d_s, self.d_a, self.horizon, self.seeds[i : i + 1], self.episodes)
        player = PlayerOnTarget(
            shape, connection=self._connections[device], budget_bytes=self.budget_bytes, **self._given
        )
        player.name, player.core = self.name, self.core
        player._keep_in(self.blocks[i : i + 1])  # so that what looks at this agent sees its learners
        self._players[i] = player
        return player

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()

    def measured(self) -> dict[str, Any] | None:
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
        self.link = Link(self.transport, self.target.timeouts, self.counts)
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
        """The unit of the calls' costs; empty where nothing counts."""
        return self.hello.unit if self.spent is None else "instructions"

    @property
    def spent(self) -> int | None:
        """The emulator's count for the last call; None where the target has a clock of its own."""
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

    def reconnect(self, config: bytes, block: bytes) -> None:
        """Open the target again, for as long as it is worth waiting, and give it its block."""
        end = time.monotonic() + self.target.timeouts.return_seconds
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
                time.sleep(min(1.0, self.target.timeouts.reply_seconds))

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
                self._reconnect(lost)
        if code:
            self._failed = True
            place = f"episode {call.episode}, step {call.h}, seed {self.seeds[0]}"
            raise AdambError(f"{self.connection.name} refused {call.op} in {place} (code {code})")
        counted = self.connection.spent
        self.costs[call.op].append(spent if counted is None else counted)
        return action

    def _reconnect(self, lost: LinkLost) -> None:
        try:
            self.connection.reconnect(self._config, self._here())
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
                self._reconnect(lost)
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

    def measured(self) -> dict[str, Any]:
        return summary([self])


def summary(players: list[PlayerOnTarget]) -> dict[str, Any]:
    """The measurements over all learners."""
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
