"""The partition of any learner as boxes with a Q, for pictures of one state and one action dimension.

AdaMB's partition is read from its block. A rival is watched from outside while one of it plays: the Q of a
ball or cell only changes when it is played, and a ball divides when its count reaches its threshold, so what
was played last tells the whole partition. (Grids with a model renew a state's other actions as well; the
picture shows each cell as it was when last played.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from adamb.budgets.errors import InputError
from adamb.host_sim.agents import Agent
from adamb.host_sim.block_view import BlockView
from adamb.host_sim.runner import simulate


@dataclass(frozen=True)
class Box:
    """A ball or cell: its lower corner, its side, its Q, and whether it was ever played."""

    state: float
    action: float
    side: float
    q: float
    visited: bool


def play_and_view(problem: Any, make: Callable[[], Agent]) -> Callable[[int], list[Box]]:
    """Let one learner play all episodes; the answer gives the boxes of a step."""
    if (problem.d_s, problem.d_a, problem.n) != (1, 1, 1):
        raise InputError("dims", f"{problem.d_s}+{problem.d_a}", "a partition is drawn for 1+1 and one seed")
    agent = make()
    blocks = getattr(agent, "blocks", None)
    if blocks is not None:
        simulate(problem, agent)
        return lambda h: _block_boxes(BlockView(blocks[0]), h)
    watcher = Watcher(agent)
    simulate(problem, watcher)
    return watcher.boxes


def _block_boxes(view: BlockView, h: int) -> list[Box]:
    found = []
    for ball in view.balls(h):
        (state, action), side = view.box(ball)
        found.append(Box(state, action, side, view.q(ball, h), ball.visited))
    return found


class Watcher(Agent):
    """Stands between a problem and one rival, and writes down what is played."""

    def __init__(self, agent: Any) -> None:
        super().__init__(
            d_s=agent.d_s, d_a=agent.d_a, horizon=agent.horizon, seeds=agent.seeds, episodes=agent.episodes
        )
        if not hasattr(agent, "played"):
            raise InputError("agent", agent.name, "has no partition to draw")
        self.agent, self.name = agent, agent.name
        self.gamma, self.phi = agent.options.get("gamma"), agent.options.get("phi")
        self.seen: list[dict[tuple[int, int, int], tuple[float, int]]] = [{} for _ in range(agent.horizon)]
        self._at: list[tuple[float, float]] = [(0.0, 0.0)] * agent.horizon

    def act(self, h: int, states: np.ndarray) -> np.ndarray:
        actions = self.agent.act(h, states)
        self._at[h] = float(states[0, 0]), float(actions[0, 0])
        return actions

    def observe(self, h: int, rewards: np.ndarray, next_states: np.ndarray) -> None:
        self.agent.observe(h, rewards, next_states)
        q, n, *rest = self.agent.played(0, h)
        level = int(rest[0]) if self.gamma else 0
        cells = 1 << level if self.gamma else self.agent.size
        state, action = (min(int(at * cells), cells - 1) for at in self._at[h])
        self.seen[h][level, state, action] = q, n

    def end_episode(self) -> None:
        self.agent.end_episode()

    def stats(self) -> dict[str, np.ndarray]:
        return self.agent.stats()

    def boxes(self, h: int) -> list[Box]:
        return self._balls(h) if self.gamma else self._cells(h)

    def _cells(self, h: int) -> list[Box]:
        size, most = self.agent.size, float(self.horizon - h)
        seen = self.seen[h]
        return [
            Box(i / size, j / size, 1 / size, seen.get((0, i, j), (most, 0))[0], (0, i, j) in seen)
            for i in range(size)
            for j in range(size)
        ]

    def _balls(self, h: int) -> list[Box]:
        """From the root down: a ball that reached its threshold has four children with its Q."""
        found, stack = [], [((0, 0, 0), float(self.horizon - h))]
        while stack:
            key, inherited = stack.pop()
            level, state, action = key
            q, n = self.seen[h].get(key, (inherited, 0))
            if n and n >= self.phi * 2.0 ** (self.gamma * level):
                below = [(level + 1, 2 * state + i, 2 * action + j) for i in (0, 1) for j in (0, 1)]
                stack += [(child, q) for child in below]
            else:
                side = 0.5**level
                found.append(Box(state * side, action * side, side, q, key in self.seen[h]))
        return found
